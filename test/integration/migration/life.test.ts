/** migration.*: from the text of a configuration to a draft or a pull request, with and without an assistant. */
import { expect } from 'chai';
import type { Static } from 'typebox';
import type { Proposed } from '../../../schemas/api/delivery/git-words.ts';
import type {
  GeneratedMigration,
  Migration,
  MigrationSummary,
} from '../../../schemas/api/pipelines/migrations.ts';
import type { Pipeline } from '../../../schemas/api/pipelines/pipelines.ts';
import { WITH_SECRET, WRITTEN_PASSWORD } from '../../support/fixtures/migrations.ts';
import { useController } from '../../support/harness/controller.ts';
import { use } from '../../support/harness/use.ts';
import { refusal } from '../../support/scenes/places.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';
import { ScriptedProvider } from '../../support/servers/scripted-provider.ts';

type Component = Record<string, unknown>;

describe('a migration', function () {
  this.timeout(60_000);
  const test = useController();
  const teams = useTwoTeams(test);
  const provider = use(
    () => ScriptedProvider.start(),
    (one) => one.close(),
  );
  let made = 0;
  let drawnId = '';

  before(async () => {
    const { teamId } = teams.ours;
    drawnId = (await teams.root.mutate<{ id: string }>('environment.create', { teamId, name: 'drawn' })).id;
  });
  beforeEach(async () => {
    provider.reset();
    await test.db('ai_providers').delete();
  });

  const useAssistant = () =>
    teams.admin.mutate('ai.updateProvider', {
      ...{ teamId: teams.ours.teamId, kind: 'openai', model: 'scripted', apiKey: 'sk-of-the-team' },
      baseUrl: provider.openAiUrl,
    });
  const of = (id: string) => ({ id, teamId: teams.ours.teamId });
  const step = (name: string, id: string, more: object = {}) =>
    teams.editor.mutate<Migration>(`migration.${name}`, { ...of(id), ...more });
  const refused = (name: string, id: string, more: object = {}) =>
    refusal(teams.editor, 'mutation', `migration.${name}`, { ...of(id), ...more });
  async function create(originalConfig = WITH_SECRET): Promise<string> {
    const { teamId } = teams.ours;
    const name = `migration ${++made}`;
    const input = { teamId, name, platform: 'FLUENTD', originalConfig };
    return (await teams.editor.mutate<Migration>('migration.create', input)).id;
  }
  async function translated(originalConfig?: string): Promise<string> {
    const id = await create(originalConfig);
    await step('parse', id);
    await step('translate', id);
    return id;
  }
  const update = (id: string, blockId: string, components: readonly Component[]) =>
    step('updateBlockConfig', id, { blockId, config: { components } });
  const blockOf = (migration: Migration, id: string) => {
    const block = migration.blocks.find((one) => one.id === id);
    if (!block) throw new Error(`there is no block ${id}`);
    return block;
  };

  const SOURCE = {
    ...{ componentKey: 'b1', kind: 'SOURCE', componentType: 'fluent', inputs: [] },
    config: { address: '0.0.0.0:24224' },
  };
  const FILTER = {
    ...{ componentKey: 'b2_depth', kind: 'TRANSFORM', componentType: 'remap', inputs: ['b1'] },
    config: { source: '.depth = 3' },
  };
  const SINK = {
    ...{ componentKey: 'b3', kind: 'SINK', componentType: 'elasticsearch', inputs: ['b2_depth'] },
    config: {
      endpoints: ['http://search.example.com:9200'],
      auth: { strategy: 'basic', user: 'fluent', password: `\${SVC_SECRET_SEARCH}` },
    },
  };
  /** Every block by hand. */
  async function written(): Promise<string> {
    const id = await translated();
    await update(id, 'b1', [SOURCE]);
    await update(id, 'b2', [FILTER]);
    await update(id, 'b3', [SINK]);
    return id;
  }

  it('asks for its steps in their order, and says which one is missing', async () => {
    const id = await create();
    expect(await refused('translate', id)).to.match(/PRECONDITION_FAILED: Parse the migration/);
    await step('parse', id);
    expect(await refused('validate', id)).to.match(/PRECONDITION_FAILED: Translate the migration/);
    const target = { environmentId: drawnId, pipelineName: 'too-early' };
    await step('translate', id);
    expect(await refused('generate', id, target)).to.match(/PRECONDITION_FAILED: Validate the migration/);
  });

  it('finds the blocks with their lines', async () => {
    const { blocks, status } = await step('parse', await create());
    expect(status).to.equal('PARSED');
    expect(
      blocks.map(({ id, directive, plugin, line, endLine }) => [id, directive, plugin, line, endLine]),
    ).to.deep.equal([
      ['b1', 'source', 'forward', 1, 4],
      ['b2', 'filter', 'house_made', 6, 9],
      ['b3', 'match', 'elasticsearch', 11, 16],
    ]);
    expect(blocks[1]?.text).to.equal('<filter **>\n  @type house_made\n  depth 3\n</filter>');
  });

  it('leaves a block open that no rule knows, and names it, where the team has no assistant', async () => {
    const migration = await teams.editor.query<Migration>('migration.get', of(await translated()));
    const { translation } = blockOf(migration, 'b2');
    expect(migration.hasAssistant).to.equal(false);
    expect(translation?.status).to.equal('open');
    expect(translation?.notes[0]?.message).to.match(/house_made/);
  });

  it('keeps credentials sealed: VIEWERs see masks, and no audit row has them', async () => {
    const id = await translated();
    await update(id, 'b3', [
      {
        ...SINK,
        inputs: ['b1'],
        config: { ...SINK.config, auth: { ...SINK.config.auth, password: WRITTEN_PASSWORD } },
      },
    ]);
    const seen = async (person: typeof teams.viewer) => {
      const migration = await person.query<Migration>('migration.get', of(id));
      const list = await person.query<MigrationSummary[]>('migration.list', { teamId: teams.ours.teamId });
      return JSON.stringify([migration, list]);
    };
    expect(await seen(teams.viewer)).not.to.include(WRITTEN_PASSWORD);
    expect(await seen(teams.viewer)).to.include('password ••••••');
    expect(await seen(teams.editor)).to.include(WRITTEN_PASSWORD);
    const audited = await test.db('audit_log').where({ entity_id: id });
    expect(audited.length).to.be.above(3);
    expect(JSON.stringify(audited)).not.to.include(WRITTEN_PASSWORD);
    const row = await test
      .db('config_migrations')
      .where({ id })
      .first('sealed_original', 'blocks', 'problems');
    expect(JSON.stringify(row)).not.to.include(WRITTEN_PASSWORD);
  });

  it('is of its team alone', async () => {
    const id = await create();
    const asked = (person: typeof teams.stranger, teamId: string) =>
      refusal(person, 'query', 'migration.get', { id, teamId });
    expect(await asked(teams.stranger, teams.theirs.teamId)).to.match(/^NOT_FOUND/);
    expect(await asked(teams.stranger, teams.ours.teamId)).to.match(/^FORBIDDEN/);
    const target = { environmentId: teams.theirs.environmentId, pipelineName: 'theirs' };
    expect(await refusal(teams.root, 'mutation', 'migration.generate', { ...of(id), ...target })).to.match(
      /^NOT_FOUND: Environment/,
    );
  });

  for (const { reason, components, says } of [
    {
      reason: 'a program that does not compile',
      components: [{ ...FILTER, config: { source: '.a = = 1' } }],
      says: /VRL in "b2_depth" does not compile/,
    },
    {
      reason: 'the key of another block',
      components: [{ ...FILTER, componentKey: 'b1' }],
      says: /key of a component of another block/,
    },
    {
      reason: 'a transform without inputs',
      components: [{ ...FILTER, inputs: [] }],
      says: /lacks its inputs/,
    },
    {
      reason: 'a source with inputs',
      components: [{ ...SOURCE, componentKey: 'b2', inputs: ['b1'] }],
      says: /takes no inputs/,
    },
    {
      reason: 'a type inside of the config',
      components: [{ ...FILTER, config: { type: 'remap' } }],
      says: /contains "type"/,
    },
    {
      reason: 'an input that is no output of a component of the block',
      components: [FILTER, { ...FILTER, componentKey: 'b2_next', inputs: ['b2_depth.errors'] }],
      says: /has no output "errors"/,
    },
  ])
    it(`refuses an edit with ${reason}`, async () => {
      const id = await translated();
      await update(id, 'b1', [SOURCE]);
      expect(await refused('updateBlockConfig', id, { blockId: 'b2', config: { components } })).to.match(
        says,
      );
    });

  it('keeps an edit when all is translated again, and gives it up when its block is', async () => {
    const id = await translated();
    await update(id, 'b2', [FILTER]);
    const kept = blockOf(await step('translate', id), 'b2').translation;
    expect([kept?.origin, kept?.status, kept?.confidence]).to.deep.equal(['user', 'complete', 1]);
    const again = blockOf(await step('retranslateBlock', id, { blockId: 'b2' }), 'b2').translation;
    expect([again?.origin, again?.status]).to.deep.equal(['rules', 'open']);
  });

  it('is validated as a whole: errors stand with their block, secrets are named', async () => {
    const id = await translated();
    await update(id, 'b1', [SOURCE]);
    await update(id, 'b2', [FILTER]);
    await update(id, 'b3', [{ ...SINK, inputs: ['b2_gone'] }]);
    const wrong = await step('validate', id);
    expect(wrong.validation?.valid).to.equal(false);
    expect(blockOf(wrong, 'b3').errors[0]?.message).to.match(/matches no component/);
    expect(blockOf(wrong, 'b2').errors).to.deep.equal([]);
    await update(id, 'b3', [SINK]);
    const right = await step('validate', id);
    expect(right.status).to.equal('VALIDATED');
    expect(right.validation).to.deep.include({ valid: true, secrets: ['SVC_SECRET_SEARCH'], openBlocks: [] });
  });

  it('becomes a draft with a layout from left to right, and names secrets that are missing', async () => {
    const id = await written();
    await step('validate', id);
    const output = await teams.editor.mutate<Static<typeof GeneratedMigration>>('migration.generate', {
      ...{ ...of(id), environmentId: drawnId, pipelineName: 'from-fluentd' },
    });
    if (!('pipelineId' in output)) throw new Error('no draft was made');
    expect(output.missingSecrets).to.deep.equal(['SVC_SECRET_SEARCH']);
    const pipeline = await teams.editor.query<Pipeline>('pipeline.get', { id: output.pipelineId });
    expect(pipeline.isDraft).to.equal(true);
    expect(pipeline.nodes.map(({ componentKey, positionX }) => [componentKey, positionX])).to.deep.equal([
      ['b1', 0],
      ['b2_depth', 280],
      ['b3', 560],
    ]);
    expect(pipeline.edges).to.have.length(2);
    const { status, generated } = await teams.viewer.query<Migration>('migration.get', of(id));
    expect(status).to.equal('GENERATED');
    expect(generated).to.deep.include({ pipelineId: output.pipelineId, pipelineName: 'from-fluentd' });
    const actions = await test.db('audit_log').where({ entity_id: output.pipelineId }).pluck('action');
    expect(actions.sort()).to.deep.equal(['pipeline.created', 'pipeline.graphSaved']);
  });

  it('is not generated with open blocks or errors, unless the user says so', async () => {
    const id = await translated();
    await update(id, 'b1', [SOURCE]);
    await update(id, 'b3', [SINK]);
    await step('validate', id);
    const target = { environmentId: drawnId, pipelineName: 'unfinished' };
    expect(await refused('generate', id, target)).to.match(
      /PRECONDITION_FAILED: Nothing stands for the block b2/,
    );
    await update(id, 'b2', []);
    await step('validate', id);
    expect(await refused('generate', id, target)).to.match(/PRECONDITION_FAILED: The migration is not valid/);
    expect(await refused('generate', id, { ...target, allowOpen: true })).to.equal('OK');
  });

  it('becomes a pull request where git describes the environment', async () => {
    const id = await written();
    await step('validate', id);
    const target = { environmentId: teams.ours.environmentId, pipelineName: 'search' };
    const { proposed } = await teams.editor.mutate<Proposed>('migration.generate', { ...of(id), ...target });
    const pull = { environmentId: target.environmentId, number: proposed.number };
    const { files } = await teams.editor.query<{ files: { path: string; patch?: string }[] }>(
      'pullRequest.diff',
      pull,
    );
    expect(files.map(({ path }) => path)).to.deep.equal(['ours/pipelines/search.yaml']);
    expect(await refused('generate', id, { ...target, pipelineName: 'another' })).to.match(
      /CONFLICT: Pull request #\d+ has/,
    );
    const { generated } = await teams.viewer.query<Migration>('migration.get', of(id));
    expect(generated?.pullRequest).to.include({ number: proposed.number, state: 'open' });
    const taken = await written();
    await step('validate', taken);
    expect(await refused('generate', taken, { ...target, pipelineName: 'orders' })).to.match(/^CONFLICT/);
  });

  describe('with an assistant', () => {
    const ANSWER = {
      components: [{ ...FILTER, componentKey: 'b2_depth' }],
      confidence: 0.95,
      differences: ['It counts otherwise.'],
    };
    const asText = (answer: unknown) => [{ text: JSON.stringify(answer) }];

    it('takes its answer as data for review, and shows it neither credentials nor more than the block', async () => {
      await useAssistant();
      // The first block may be open too; the script answers by what it is asked about.
      provider.fallback = ({ text }) =>
        asText(text.includes('house_made') ? ANSWER : { components: [], confidence: 0, differences: [] });
      const id = await translated();
      const { translation } = blockOf(await teams.editor.query<Migration>('migration.get', of(id)), 'b2');
      expect(translation).to.deep.include({ origin: 'assistant', status: 'partial', confidence: 0.6 });
      expect(translation?.components).to.deep.equal(ANSWER.components);
      expect(translation?.notes.map(({ message }) => message)).to.include('It counts otherwise.');
      expect(provider.requests.map(({ text }) => text).join()).not.to.include(WRITTEN_PASSWORD);
    });

    it('asks once more with what is wrong, and then leaves the block open', async () => {
      const id = await translated();
      await useAssistant();
      const wrong = { ...ANSWER, components: [{ ...FILTER, config: { source: '.a = = 1' } }] };
      provider.script(asText(wrong), asText(ANSWER));
      const mended = blockOf(
        await step('retranslateBlock', id, { blockId: 'b2', by: 'assistant' }),
        'b2',
      ).translation;
      expect(mended?.origin).to.equal('assistant');
      expect(provider.last.text).to.match(/does not compile/);
      provider.script([{ text: 'Sure! Here is your config:' }], asText({ components: 'all of them' }));
      const open = blockOf(
        await step('retranslateBlock', id, { blockId: 'b2', by: 'assistant' }),
        'b2',
      ).translation;
      expect([open?.status, open?.origin]).to.deep.equal(['open', 'rules']);
      expect(open?.notes.at(-1)?.message).to.match(/was not taken: the answer has not the form/);
      expect(provider.requests).to.have.length(4);
    });

    it('goes on by rules where the provider fails', async () => {
      await useAssistant();
      provider.fallback = [{ status: 400, message: 'no such model' }];
      const id = await translated();
      const { translation } = blockOf(await teams.editor.query<Migration>('migration.get', of(id)), 'b2');
      expect(translation?.status).to.equal('open');
      expect(translation?.notes.at(-1)?.message).to.match(/^The assistant was not asked: /);
      expect(await refused('retranslateBlock', id, { blockId: 'b2', by: 'assistant' })).not.to.equal('OK');
    });
  });
});
