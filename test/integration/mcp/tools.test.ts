/** `/mcp` with the client of the SDK: what is listed, read and refused, and what becomes of changes and proposals. */
import { expect } from 'chai';
import { commit } from '../../support/clients/fast-import.ts';
import { agentToken, connectAgent } from '../../support/clients/mcp-client.ts';
import { draftPipeline, makeKey } from '../../support/clients/rest.ts';
import { drawPipeline } from '../../support/fixtures/graphs.ts';
import { NO_FIGURES } from '../../support/fixtures/recommendations.ts';
import { useController } from '../../support/harness/controller.ts';
import { use } from '../../support/harness/use.ts';
import { bindToGit } from '../../support/scenes/git-binding.ts';
import { useTestEnvironments } from '../../support/scenes/places.ts';
import type { TestUser } from '../../support/users/person.ts';

const FILES = {
  'pipelines/orders.yaml': `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: orders }
spec:
  description: As they come
  sources: { app: { type: demo_logs, format: json } }
  sinks: { out: { type: blackhole, inputs: [app] } }
`,
};

interface Pipelines {
  items: { id: string; name: string; updatedAt: string }[];
}
interface BecameProposal {
  proposed: { number: number; url: string };
}
const AT_ONCE =
  /take effect at once: git does not describe what it changes\. This token only proposes changes/;

describe('the tools for agents', () => {
  const test = useController();
  const places = useTestEnvironments(test);
  const place = use(() => bindToGit(test, places, FILES));
  const agents = use(async () => {
    const connect = async (...[person, scopes, options]: [typeof places.viewer, string[]?, object?]) =>
      connectAgent(test.url, await agentToken(person, scopes), options);
    return {
      connect,
      viewer: await connect(places.viewer),
      editor: await connect(places.editor),
      writer: await connect(places.editor, ['mcp.write']),
    };
  });
  const draft = use(async () => ({ id: await draftPipeline(places.editor, places.siblingId, 'by hand') }));

  it('are a list that a context has room for, with the schemas of the operations', async () => {
    const { tools } = await agents.editor.client.listTools();
    expect(tools.length).to.be.within(40, 60);
    const list = tools.find(({ name }) => name === 'pipeline_list');
    expect(list?.annotations).to.include({ readOnlyHint: true });
    expect(list?.inputSchema).to.deep.include({ required: ['environmentId'], additionalProperties: false });
    expect(list?.outputSchema?.properties).to.have.keys('items');
    const update = tools.find(({ name }) => name === 'pipeline_update');
    expect(update?.annotations).to.include({ readOnlyHint: false });
    expect(update?.description).to.match(/becomes a pull request.*Needs the role EDITOR/);
  });

  it('are chosen by the address, and are those that the caller may use', async () => {
    const costs = await agents.connect(places.editor, ['mcp'], { tools: 'costs,audit' });
    expect(await costs.names())
      .to.include.members(['analytics_cost_by_team', 'audit_list'])
      .and.not.include('pipeline_list');
    expect(await agents.viewer.names())
      .to.include('pipeline_list')
      .and.not.include('pipeline_update');
    expect(await agents.editor.names())
      .to.include('pipeline_update')
      .and.not.include('pipeline_create');
    expect(await agents.writer.names()).to.include('pipeline_create');
  });

  it('answer as the operations do, in the form of their schemas', async () => {
    const { environmentId } = place;
    const { items } = await agents.viewer.call<Pipelines>('pipeline_list', { environmentId });
    expect(items.map(({ name }) => name)).to.deep.equal(['orders']);
    expect(items[0]?.updatedAt).to.match(/^\d{4}-.*Z$/);
    const one = await agents.viewer.call('pipeline_get', { id: items[0]?.id });
    expect(one).to.include({ name: 'orders', managedBy: 'git' });
    expect(await agents.viewer.call('user_me')).to.include({ email: 'viewer@example.org' });
  });

  it('serve clients of the protocol before 2026 too', async () => {
    const old = await agents.connect(places.viewer, ['mcp'], { isLegacy: true });
    expect(old.client.getServerVersion()?.name).to.equal('headgate');
    expect(old.client.getInstructions()).to.include('team_list');
    expect(await old.names()).to.deep.equal(await agents.viewer.names());
    const { items } = await old.call<Pipelines>('pipeline_list', { environmentId: place.environmentId });
    expect(items).to.have.length(1);
  });

  it('know no other team, and say what is wrong with an input', async () => {
    expect(await agents.editor.failure('pipeline_list', { environmentId: places.foreignId })).to.match(
      /not.*team|no access|not found/i,
    );
    expect(await agents.editor.failure('pipeline_get', { id: 'of nobody' })).to.equal('Pipeline not found');
    expect(await agents.editor.failure('pipeline_list', { environmentID: place.environmentId })).to.include(
      'environmentID',
    );
    const unknown = await agents.editor.client
      .callTool({ name: 'admin_list_users', arguments: {} })
      .catch((error: Error) => error);
    expect(String(unknown)).to.include('Tool admin_list_users not found');
  });

  it('make a proposal of a change of what git describes, under every policy, with a trace in the audit log', async () => {
    const id = await place.idOf('pipelines', 'orders');
    const before = place.head();
    for (const uiEdits of ['refuse', 'commit']) {
      await place.policy({ uiEdits });
      const { proposed } = await agents.editor.call<BecameProposal>('pipeline_update', {
        id,
        description: `under ${uiEdits}`,
      });
      expect(proposed.number).to.equal(1);
      expect(proposed.url).to.match(/\/pr\/1$|1$/);
    }
    expect(place.head()).to.equal(before);
    const row = await test
      .db('audit_log')
      .where({ action: 'gitSync.proposed', entity_id: id })
      .first('user_email', 'metadata');
    expect(row.user_email).to.equal('editor@example.org');
    expect(row.metadata).to.deep.include({
      operation: 'pipeline.update',
      via: { transport: 'mcp', token: 'agent' },
    });
  });

  it('refuse a change that would take effect at once, and leave nothing of it', async () => {
    const refusal = await agents.editor.failure('pipeline_update', { id: draft.id, description: 'changed' });
    expect(refusal).to.match(/take effect at once: git does not describe.*only proposes changes/);
    expect((await test.db('pipelines').where({ id: draft.id }).first('description')).description).to.equal(
      null,
    );
    expect(
      await agents.editor.failure('pipeline_create', { environmentId: places.siblingId, name: 'new' }),
    ).to.include('only proposes changes');
  });

  it('change at once for a token that may, and by the policy where git describes it', async () => {
    await agents.writer.call('pipeline_update', { id: draft.id, description: 'changed' });
    expect((await test.db('pipelines').where({ id: draft.id }).first('description')).description).to.equal(
      'changed',
    );
    await place.policy({ uiEdits: 'refuse' });
    const id = await place.idOf('pipelines', 'orders');
    expect(await agents.writer.failure('pipeline_update', { id, description: 'x' })).to.include(
      'is described in git',
    );
  });

  it('take keys of service accounts, with their permissions and in their environment, for reading and proposing', async () => {
    const { key } = await makeKey(places.admin, place.environmentId, ['pipelines.read', 'pipelines.edit']);
    const program = await connectAgent(test.url, key, { tools: 'all' });
    const names = await program.names();
    expect(names)
      .to.include.members(['pipeline_list', 'pipeline_update'])
      .and.not.include.members(['fleet_list', 'pipeline_create']);
    expect(await program.call('pipeline_list', { environmentId: place.environmentId })).to.have.property(
      'items',
    );
    expect(await program.failure('pipeline_list', { environmentId: places.siblingId })).to.include(
      'valid only for another environment',
    );
    expect(await program.failure('fleet_list', { environmentId: place.environmentId })).to.include(
      'nodes.read',
    );
  });

  it('cut an answer that is too large, and say how to ask for less', async () => {
    const wide = await agents.connect(places.viewer, ['mcp'], { tools: 'pipelines' });
    await test.db('vrl_snippets').insert(
      Array.from({ length: 60 }, (_, n) => ({
        ...{ id: `wide-${n}`, team_id: places.teamId, name: `wide ${n}`, category: 'Custom' },
        ...{ description: '', code: '# x\n'.repeat(1_000) },
      })),
    );
    const { content, structuredContent } = await wide.client.callTool({
      name: 'vrl_snippet_list',
      arguments: { teamId: places.teamId },
    });
    expect(JSON.stringify(structuredContent).length).to.be.within(50_000, 102_400);
    expect(content[1])
      .to.have.property('text')
      .that.match(
        /^Cut at 100 KB: items has \d+ entries, of which the first \d+ are here\. Ask about one object/,
      );
  });

  describe('what agents propose', function () {
    this.timeout(90_000);
    const agents = use(async () => {
      const connect = async (person: TestUser, scope: string, name: string) =>
        connectAgent(test.url, await agentToken(person, [scope], name), { tools: 'all' });
      return {
        proposer: await connect(places.editor, 'mcp', 'proposer'),
        writer: await connect(places.editor, 'mcp.write', 'writer'),
      };
    });
    const drawn = use(() => drawPipeline(places.editor, places.siblingId, undefined, 'payments'));

    const audited = (action: string) =>
      test
        .db('audit_log')
        .where({ action })
        .orderBy('created_at')
        .select('user_email', 'entity_id', 'metadata');
    const via = (token: string) => ({ via: { transport: 'mcp', token } });
    const pulls = () =>
      test
        .db('pull_requests')
        .orderBy('number')
        .select('number', 'title', 'body', 'author', 'state', 'branch', 'base');
    const named = (environmentId: string, name: string) =>
      test.db('pipelines').where({ environment_id: environmentId, name, tombstoned_at: null }).first('id');

    describe('as a promotion', () => {
      const into = (targetEnvironmentId: string) => ({ pipelineId: drawn.id, targetEnvironmentId });

      it('becomes a pull request where git describes the target, and changes nothing there', async () => {
        const before = place.head();
        const promotion = await agents.proposer.call('promotion_initiate', into(place.environmentId));
        expect(promotion).to.include({ status: 'AWAITING_PR_MERGE', updated: false });
        const [pull] = (await pulls()).slice(-1);
        expect(promotion.pullRequest).to.include({ number: pull?.number });
        expect(pull).to.include({ state: 'open', base: 'main', author: 'editor' });
        expect(place.head()).to.equal(before);
        expect(await named(place.environmentId, 'payments')).to.equal(undefined);
        const [row] = await audited('promotion.initiated');
        expect(row).to.include({ user_email: places.editor.email, entity_id: promotion.requestId });
        expect(row?.metadata).to.deep.include({ ...via('proposer'), status: 'AWAITING_PR_MERGE' });
      });

      it('is rolled back where it would be deployed at once, and is deployed for a token that may', async () => {
        const target = into(places.environmentId);
        const known = await test.db('promotions').select('id');
        expect(await agents.proposer.failure('promotion_initiate', target)).to.match(AT_ONCE);
        expect(await test.db('promotions').select('id')).to.deep.equal(known);
        expect(await named(places.environmentId, 'payments')).to.equal(undefined);
        expect(await agents.writer.call('promotion_initiate', target)).to.include({ status: 'DEPLOYED' });
        const made = await named(places.environmentId, 'payments');
        expect(made?.id).to.be.a('string');
        const row = (await audited('promotion.initiated')).at(-1);
        expect(row?.user_email).to.equal(places.editor.email);
        expect(row?.metadata).to.deep.include({ ...via('writer'), status: 'DEPLOYED' });
      });

      it('waits for an approval where the target asks for one, which no agent gives', async () => {
        const { id } = await places.admin.mutate<{ id: string }>('environment.create', {
          ...{ teamId: places.teamId, name: 'guarded' },
        });
        await test.db('environments').where({ id }).update({ require_approval: true });
        const { requestId, status } = await agents.proposer.call('promotion_initiate', into(id));
        expect(status).to.equal('PENDING');
        const approve = await agents.writer.client
          .callTool({ name: 'promotion_approve', arguments: { requestId } })
          .catch((error: Error) => error);
        expect(String(approve)).to.include('Tool promotion_approve not found');
        expect(await named(id, 'payments')).to.equal(undefined);
      });
    });

    describe('as a recommendation', () => {
      const recommend = async (environmentId: string, pipelineId: string, id: string) => {
        await test.db('cost_recommendations').insert({
          ...{ id, environment_id: environmentId, pipeline_id: pipelineId, type: 'LOW_REDUCTION' },
          figures: JSON.stringify(NO_FIGURES),
          change: JSON.stringify({
            ...{ action: 'insertTransform', sink: 'out', componentKey: 'keep_some', componentType: 'sample' },
            config: { rate: 10 },
          }),
        });
        return { environmentId, id };
      };
      const stored = (id: string) =>
        test.db('cost_recommendations').where({ id }).first('status', 'pull_request_id');

      it('becomes a pull request where git describes the pipeline, also where edits by hand are refused', async () => {
        await place.policy({ uiEdits: 'refuse' });
        const before = place.head();
        const id = await place.idOf('pipelines', 'orders');
        const which = await recommend(place.environmentId, id, 'in-git');
        const { proposed } = await agents.proposer.call<{ proposed: { number: number; branch: string } }>(
          'cost_recommendation_apply',
          which,
        );
        const pull = (await pulls()).find(({ number }) => number === proposed.number);
        expect(pull).to.include({ state: 'open', branch: proposed.branch, author: 'editor' });
        expect(place.head()).to.equal(before);
        expect(place.read('pipelines/orders.yaml', proposed.branch)).to.include('keep_some');
        expect(await stored('in-git')).to.include({ status: 'PENDING' });
        const [row] = await audited('costRecommendation.proposed');
        expect(row).to.include({ user_email: places.editor.email, entity_id: 'in-git' });
        expect(row?.metadata).to.deep.include({ ...via('proposer'), number: proposed.number });
        expect(await agents.writer.failure('cost_recommendation_apply', which)).to.include(
          `Pull request #${proposed.number} has this change already`,
        );
      });

      it('is rolled back where the pipeline is no manifest, and is a version for a token that may', async () => {
        const which = await recommend(places.siblingId, drawn.id, 'by-hand');
        const versions = () => test.db('pipeline_versions').where({ pipeline_id: drawn.id }).select('id');
        const before = await versions();
        expect(await agents.proposer.failure('cost_recommendation_apply', which)).to.match(AT_ONCE);
        expect(await versions()).to.deep.equal(before);
        expect(await stored('by-hand')).to.include({ status: 'PENDING' });
        await agents.writer.call('cost_recommendation_apply', which);
        expect(await versions()).to.have.length(before.length + 1);
        expect(await stored('by-hand')).to.include({ status: 'APPLIED' });
        const [row] = await audited('costRecommendation.applied');
        expect(row).to.include({ user_email: places.editor.email, entity_id: 'by-hand' });
        expect(row?.metadata).to.deep.include(via('writer'));
      });
    });

    describe('as a branch', () => {
      const branch = (name: string) =>
        commit(place.gitdir, {
          ...{ branch: name, from: 'refs/heads/main', message: 'A topic' },
          files: { [`${place.folder}/notes.md`]: `${name}\n` },
        });
      const open = (name: string, environmentId = place.environmentId) => ({
        ...{ environmentId, branch: name, title: `About ${name}`, body: 'Why' },
      });

      it('is a pull request in the name of its owner, once', async () => {
        branch('topic');
        const { number } = await agents.proposer.call('pull_request_open', open('topic'));
        const pull = (await pulls()).find((one) => one.number === number);
        expect(pull).to.include({
          ...{
            title: 'About topic',
            body: 'Why',
            author: 'editor',
            state: 'open',
            branch: 'topic',
            base: 'main',
          },
        });
        const [row] = await audited('pullRequest.opened');
        expect(row?.user_email).to.equal(places.editor.email);
        expect(row?.metadata).to.deep.include(via('proposer'));
        expect(await agents.writer.failure('pull_request_open', open('topic'))).to.equal(
          `#${number} asks for "topic" already; go on there`,
        );
        // What decides about it stays with people; what goes on with it needs a token that may write.
        const which = { environmentId: place.environmentId, number };
        expect(await agents.proposer.failure('pull_request_comment', { ...which, body: 'Done' })).to.include(
          'takes effect at once',
        );
        await agents.writer.call('pull_request_comment', { ...which, body: 'Done' });
        const comments = await test.db('pull_request_comments').select('author', 'body');
        expect(comments.filter(({ body }) => body === 'Done')).to.deep.equal([
          { author: 'editor', body: 'Done' },
        ]);
      });

      it('is refused with what to do where there is nothing to ask for', async () => {
        branch('another');
        expect(await agents.proposer.failure('pull_request_open', open('main'))).to.include(
          'push a commit to another branch first',
        );
        expect(await agents.proposer.failure('pull_request_open', open('of nobody'))).to.match(/of nobody/);
        expect(
          await agents.proposer.failure('pull_request_open', open('another', places.siblingId)),
        ).to.include('not bound to git; configure it first');
        expect(
          (await pulls()).filter((one) => one.branch !== 'topic').map((one) => one.branch),
        ).to.not.include('another');
      });
    });
  });
});
