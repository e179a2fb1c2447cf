// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as manifests and configs write them
/** Promotions into environments that git describes: a branch, a pull request, and what becomes of them. */
import { expect } from 'chai';
import type { Static } from 'typebox';
import { promotionTransitions } from '../../../controller/delivery/promotions/index.ts';
import type {
  InitiatedPromotion,
  Promotion,
  PromotionDiffs,
  PromotionPreflight,
} from '../../../schemas/api/delivery/promotions.ts';
import type { Pipeline } from '../../../schemas/api/pipelines/pipelines.ts';
import { Clone } from '../../support/clients/clone.ts';
import { git } from '../../support/clients/fast-import.ts';
import { component, drawPipeline, edge, soundGraph } from '../../support/fixtures/graphs.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { bindToGit, type GitBindingScene } from '../../support/scenes/git-binding.ts';
import { makeTestEnvironments, refusal, type TestEnvironments } from '../../support/scenes/places.ts';

type Initiated = Static<typeof InitiatedPromotion>;

/** As people write them. */
const manifest = (
  name: string,
  { program = '.step = 1', more = '', uri = 'https://staging.example.org' } = {},
) => `# Owned by the platform team
apiVersion: headgate/v1
kind: Pipeline
metadata:
  name:   ${name}   # two blanks too many
spec:
  description: "As it comes" # why
  nodeSelector: { role: edge }
  values: { host: here }
  sources:
    lines: { type: demo_logs, format: json }
  transforms:
    mark:
      type: remap
      inputs: [ lines ]
      source: |
        # first
        ${program}
  sinks:
    # where it goes
    out: { type: http, inputs: [mark], uri: "${uri}", encoding: { codec: json } }
${more}`;

describe('a promotion into an environment that git describes', function () {
  // Each waits for several passes of several loops.
  this.timeout(120_000);

  let test: TestController;
  let places: TestEnvironments;
  let target: GitBindingScene;
  let source: GitBindingScene;
  let clone: Clone;
  let made = 0;
  let name: string;

  before(async function () {
    this.timeout(120_000);
    test = await startTestController();
    places = await makeTestEnvironments(test);
    target = await bindToGit(test, places, { 'pipelines/.keep': '' });
    source = await bindToGit(test, places, { 'pipelines/.keep': '' });
    clone = await Clone.of(target.gitdir);
  });
  after(async () => {
    await clone?.remove();
    await test?.stop();
  });
  beforeEach(() => {
    made += 1;
    name = `orders ${made}`;
  });
  // Each that is open would be planned again with every later push.
  afterEach(async () => {
    const open = await test.db('promotions').where({ status: 'AWAITING_PR_MERGE' }).pluck('id');
    for (const requestId of open) await places.editor.mutate('promotion.cancel', { requestId });
  });

  const draw = (graph: Parameters<typeof drawPipeline>[2] = soundGraph()) =>
    drawPipeline(places.editor, places.environmentId, graph, name);
  const initiate = (pipelineId: string, more: object = {}, to = target) =>
    places.editor.mutate<Initiated>('promotion.initiate', {
      pipelineId,
      targetEnvironmentId: to.environmentId,
      ...more,
    });
  const get = (requestId: string) => places.editor.query<Promotion>('promotion.get', { requestId });
  const becomes = async (requestId: string, status: Promotion['status']): Promise<Promotion> => {
    let seen: Promotion | undefined;
    await until(
      async () => {
        seen = await get(requestId);
        return seen.status === status;
      },
      { what: () => `${requestId} to be ${status}: ${JSON.stringify(seen)}`, everyMs: 50 },
    );
    return seen as Promotion;
  };
  const complains = async (requestId: string, words: RegExp): Promise<void> => {
    let seen: Promotion | undefined;
    await until(
      async () => {
        seen = await get(requestId);
        return words.test(seen.lastError ?? '');
      },
      { what: () => `${requestId} to say ${words}: ${JSON.stringify(seen)}`, everyMs: 50 },
    );
    expect(seen?.status).to.equal('AWAITING_PR_MERGE');
  };
  const pullOf = async (requestId: string) =>
    test
      .db('promotions as o')
      .join('pull_requests as r', 'r.id', 'o.pull_request_id')
      .where('o.id', requestId)
      .first('r.number', 'r.branch', 'r.title', 'r.body', 'r.state', 'r.id', { head: 'r.head_sha' });
  const commits = (branch: string, since = 'main') =>
    git(target.gitdir, 'log', '--format=%s|%an', `${since}..${branch}`).split('\n').filter(Boolean);
  const wake = (environmentId: string) =>
    test.controller
      .systemContext('test')
      .services.bus.publish(test.db, { type: 'wake', loop: 'git', key: environmentId, trigger: 'test' });
  /** Each that follows the branch would be planned with every later push. */
  const turnOff = ({ environmentId }: GitBindingScene) =>
    places.admin.mutate('gitSync.configure', { environmentId, mode: 'off' });
  /** As people do it on the command line, and push. */
  async function byHand(...steps: string[][]): Promise<void> {
    await clone.git('fetch', '--prune', 'origin');
    await clone.git('checkout', '--quiet', '-B', 'main', 'origin/main');
    for (const step of steps) await clone.git(...step);
    await clone.git('push', '--quiet', 'origin', 'main');
    await wake(target.environmentId);
  }
  const mergeByHand = (branch: string) => byHand(['merge', '--no-ff', '--no-edit', `origin/${branch}`]);
  /** A commit on the branch, as a reviewer pushes it. */
  async function onBranch(branch: string, files: Record<string, string>, message = 'As I would have it') {
    await clone.git('fetch', '--prune', 'origin');
    await clone.git('checkout', '--quiet', '-B', 'work', `origin/${branch}`);
    const { writeFile } = await import('node:fs/promises');
    for (const [path, text] of Object.entries(files)) await writeFile(`${await folder()}/${path}`, text);
    await clone.git('commit', '--quiet', '-am', message);
    await clone.git('push', '--quiet', 'origin', `work:${branch}`);
  }
  const branches = () =>
    git(target.gitdir, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n');
  const tipOf = (branch: string) => git(target.gitdir, 'rev-parse', `refs/heads/${branch}`).trim();
  const folder = async () => (await clone.git('rev-parse', '--show-toplevel')).trim();
  const pathOf = (place = target) => `${place.folder}/pipelines/${name.replace(' ', '-')}.yaml`;
  const applied = async (place: GitBindingScene, files: Record<string, string | null>) => {
    await place.apply(files);
    return place.idOf('pipelines', name);
  };

  it('is a branch and a pull request that says what it brings; merged and rolled out, it is deployed', async () => {
    const { id } = await draw(soundGraph('.a = 1'));
    await places.editor.mutate('pipeline.update', {
      id,
      nodeSelector: { role: 'edge' },
      labels: { tier: '1' },
    });
    const answer = await initiate(id);
    expect(answer).to.deep.include({ status: 'AWAITING_PR_MERGE', updated: false, targetPipelineId: null });
    const pull = await pullOf(answer.requestId);
    expect(answer.pullRequest).to.deep.include({ number: pull.number, state: 'open', forge: 'headgate' });
    expect(pull.branch).to.match(/^headgate\/promote\/orders-\d+-[0-9a-z]{8}$/);
    expect(pull.title).to.equal(`Promote ${name} from staging to ${await nameOf(target)}`);
    expect(pull.body)
      .to.contain('A new manifest')
      .and.contain('nodeSelector is copied from the source')
      .and.contain('editor');
    const text = git(target.gitdir, 'show', `${pull.branch}:${pathOf()}`);
    expect(text).to.contain('deployed: true').and.contain('role: edge').and.contain('tier:');
    expect(commits(pull.branch)).to.deep.equal([`${pull.title}|editor`]);
    await mergeByHand(pull.branch);
    const done = await becomes(answer.requestId, 'DEPLOYED');
    expect(done).to.deep.include({ targetVersion: 1, lastError: null, note: null });
    expect(done.targetPipelineId).to.equal(await target.idOf('pipelines', name));
    expect(done.pullRequest?.state).to.equal('merged');
    const audit = await test
      .db('audit_log')
      .where({ entity_id: answer.requestId })
      .orderBy('id')
      .select('action', 'user_email', 'metadata');
    expect(audit.map(({ action, user_email }) => [action, user_email])).to.deep.equal([
      ['promotion.initiated', 'editor@example.org'],
      ['promotion.opened', 'editor@example.org'],
      ['promotion.deployed', null],
    ]);
    expect(audit[0].metadata).to.include({ pipeline: name, from: 'staging', pullRequest: null });
    expect(audit[1].metadata).to.include({ pipeline: name, pullRequest: pull.number });
  });

  const nameOf = async ({ environmentId }: GitBindingScene) =>
    (await test.db('environments').where({ id: environmentId }).first('name')).name;

  it('comes in as well by a squash, a rebase or a cherry-pick on the command line', async () => {
    const ways: ((branch: string) => string[][])[] = [
      (branch) => [
        ['merge', '--squash', `origin/${branch}`],
        ['commit', '--quiet', '-m', 'All in one'],
      ],
      (branch) => [['cherry-pick', `origin/${branch}`]],
    ];
    for (const way of ways) {
      made += 1;
      name = `orders ${made}`;
      const { requestId } = await initiate((await draw()).id);
      const { branch } = await pullOf(requestId);
      target.push({ [`other-${made}.txt`]: 'somebody else was here' });
      await byHand(...way(branch));
      expect(await becomes(requestId, 'DEPLOYED')).to.include({ targetVersion: 1 });
    }
  });

  it('changes the lines that it has to, and no field of the environment', async () => {
    const theirs = manifest(name, { uri: 'https://production.example.org' });
    const id = await applied(source, { [`pipelines/${name}.yaml`]: manifest(name) });
    await applied(target, { [`pipelines/${name}.yaml`]: theirs });
    const first = await initiate(id);
    const before = await pullOf(first.requestId);
    const at = `${target.folder}/pipelines/${name}.yaml`;
    // Nothing was promoted before: nobody knows whose the address is, so the source's goes in.
    expect(changed(before.branch)).to.deep.equal([
      '-    out: { type: http, inputs: [mark], uri: "https://production.example.org", encoding: { codec: json } }',
      '+    out: { type: http, inputs: [mark], uri: "https://staging.example.org", encoding: { codec: json } }',
    ]);
    await onBranch(before.branch, { [at]: theirs.replace('As it comes', 'Here it stays') }, 'Ours stays');
    await mergeByHand(before.branch);
    await becomes(first.requestId, 'DEPLOYED');
    // From now on it is known what each side has changed.
    await applied(source, {
      [`pipelines/${name}.yaml`]: manifest(name, { program: '.step = 2' }).replace(
        'role: edge',
        'role: other',
      ),
    });
    const second = await initiate(id);
    const { branch, body } = await pullOf(second.requestId);
    expect(changed(branch)).to.deep.equal(['-        .step = 1', '+        .step = 2']);
    expect(body).to.contain('/sinks/out/uri').and.contain('/nodeSelector');
    const { targets } = await places.editor.query<PromotionDiffs>('promotion.diffPreview', {
      pipelineId: id,
      targetEnvironmentId: target.environmentId,
    });
    expect(targets[0]).to.deep.include({ diff: '', engineDiff: null, conflicts: [] });
    expect(targets[0]?.kept).to.include.members([
      '/nodeSelector',
      '/values',
      '/sinks/out/uri',
      '/description',
    ]);
    await mergeByHand(branch);
    await becomes(second.requestId, 'DEPLOYED');
    expect(target.read(`pipelines/${name}.yaml`)).to.equal(
      theirs.replace('As it comes', 'Here it stays').replace('.step = 1', '.step = 2').trimEnd(),
    );
  });

  const changed = (branch: string) =>
    git(target.gitdir, 'diff', '--unified=0', `main...${branch}`)
      .split('\n')
      .filter((line) => /^[-+](?![-+])/.test(line));

  it('names what both sides have changed, and the value of the source goes in', async () => {
    const file = `pipelines/${name}.yaml`;
    const id = await applied(source, { [file]: manifest(name) });
    const first = await initiate(id);
    await mergeByHand((await pullOf(first.requestId)).branch);
    await becomes(first.requestId, 'DEPLOYED');
    const path = pathOf().slice(target.folder.length + 1);
    await applied(target, { [path]: target.read(path).replace('.step = 1', '.step = 7') });
    await applied(source, { [file]: manifest(name, { program: '.step = 2' }) });
    const preflight = await places.viewer.query<PromotionPreflight>('promotion.preflight', {
      pipelineId: id,
      targetEnvironmentId: target.environmentId,
    });
    expect(preflight.canProceed).to.equal(true);
    expect(preflight.nameCollision).to.include({ kind: 'updates' });
    expect(preflight.notes.join()).to.contain('Both sides changed /transforms/mark/source');
    const { requestId } = await initiate(id);
    const { branch, body } = await pullOf(requestId);
    expect(body).to.contain('Changed on both sides').and.contain('/transforms/mark/source');
    expect(changed(branch)).to.deep.equal(['-        .step = 7', '+        .step = 2']);
  });

  it('keeps placeholders, and references to files that the target may read; of others the text goes along', async () => {
    const text = manifest(name, { uri: 'https://${value.host}/x' })
      .replace(/source: \|\n.*\n.*\n/, 'source: { $file: ../../../shared/both.vrl }\n')
      .replace(
        '  sinks:',
        '    own: { type: remap, inputs: [mark], source: { $file: ../vrl/own.vrl } }\n  sinks:',
      );
    const id = await applied(source, {
      [`pipelines/${name}.yaml`]: text,
      'vrl/own.vrl': '.own = true\n',
      '/shared/both.vrl': '.both = true\n',
    });
    const { requestId } = await initiate(id);
    const { branch, body } = await pullOf(requestId);
    const written = git(target.gitdir, 'show', `${branch}:${pathOf()}`);
    expect(written)
      .to.contain('https://${value.host}/x')
      .and.contain('$file: ../../../shared/both.vrl')
      .and.contain('.own = true')
      .and.contain('host: here');
    expect(body).to.contain('values is copied from the source');
    await mergeByHand(branch);
    await becomes(requestId, 'DEPLOYED');
  });

  it('is not requested again while it ends: the one that ended stays, and the next request makes another', async () => {
    const { id: pipelineId } = await draw();
    const { requestId } = await initiate(pipelineId);
    const row = () => test.db('promotions').where({ id: requestId }).first();
    const isBlocked = async (pid: number) =>
      (await test.db.raw('SELECT 1 FROM pg_stat_activity WHERE ? = ANY(pg_blocking_pids(pid))', [pid])).rows
        .length > 0;
    const again = await test.db.transaction(async (tx) => {
      await tx('promotions').where({ id: requestId }).forUpdate().first('id');
      const { pid } = (await tx.raw('SELECT pg_backend_pid() AS pid')).rows[0];
      const asked = places.editor.call('mutation', 'promotion.initiate', {
        ...{ pipelineId, targetEnvironmentId: target.environmentId },
      });
      await until(() => isBlocked(pid), { what: 'the request waits for the row', everyMs: 50 });
      const [ended] = await tx('promotions')
        .where({ id: requestId })
        .update({ status: 'DEPLOYED', deployed_at: new Date() })
        .returning('*');
      return { asked, ended };
    });
    const { status, fault } = await again.asked;
    expect(status, fault?.message).to.equal(409);
    expect(fault?.message).to.match(/ended just now; request this one again$/);
    expect(await row()).to.deep.equal(again.ended);
    expect((await initiate(pipelineId)).requestId).not.to.equal(requestId);
  });

  it('is not ended by the outcome of an earlier pull request, once it is requested again with another', async () => {
    const { id: pipelineId } = await draw(soundGraph('.step = nonsense('));
    const { requestId } = await initiate(pipelineId);
    const first = await pullOf(requestId);
    await mergeByHand(first.branch);
    await complains(requestId, /^Merged, but not applied/);
    const { nodes, edges } = soundGraph('.step = 1');
    await places.editor.mutate('pipeline.saveGraph', { pipelineId, nodes, edges });
    expect(await initiate(pipelineId)).to.include({ requestId, updated: true });
    const second = await pullOf(requestId);
    expect(second.branch).not.to.equal(first.branch);
    const row = () =>
      test.db('promotions').where({ id: requestId }).first('status', 'snapshot', 'pull_request_id', 'note');
    const before = await row();
    const outcome = {
      ...{ requestId, environmentId: target.environmentId },
      ...{ pullRequestId: first.id, number: first.number, note: null },
    };
    const ctx = test.controller.systemContext('promotions');
    const ends = [
      () => test.controller.execute(promotionTransitions.ended, ctx, { ...outcome, note: 'closed' }),
      () =>
        test.controller.execute(promotionTransitions.deployed, ctx, {
          ...{ ...outcome, targetPipelineId: pipelineId, targetVersion: 1 },
          ...{ silentNodes: [], silentNodeCount: 0 },
        }),
    ];
    for (const end of ends) {
      const error = await end().catch((reason: unknown) => reason);
      expect(error).to.include({ code: 'NOT_FOUND' });
      expect(await row()).to.deep.equal(before);
    }
    await mergeByHand(second.branch);
    expect((await becomes(requestId, 'DEPLOYED')).pullRequest?.number).to.equal(second.number);
  });

  it('keeps what its branch held where the controller ended before it pushed a later request', async () => {
    const file = `pipelines/${name}.yaml`;
    const id = await applied(source, { [file]: manifest(name) });
    const { requestId } = await initiate(id);
    const { branch } = await pullOf(requestId);
    const snapshot = async () =>
      (await test.db('promotions').where({ id: requestId }).first('snapshot')).snapshot;
    const pushed = await snapshot();
    await applied(source, { [file]: manifest(name, { program: '.step = 2' }) });
    // The row of the later request; its push did not happen.
    const later = JSON.parse(JSON.stringify(pushed).replaceAll('.step = 1', '.step = 2'));
    expect(later).not.to.deep.equal(pushed);
    await test
      .db('promotions')
      .where({ id: requestId })
      .update({ snapshot: JSON.stringify(later), updated_at: new Date() });
    await mergeByHand(branch);
    await becomes(requestId, 'DEPLOYED');
    expect(await snapshot()).to.deep.equal(pushed);
    const next = await pullOf((await initiate(id)).requestId);
    expect(changed(next.branch)).to.deep.equal(['-        .step = 1', '+        .step = 2']);
  });

  it('takes no credential that is written out into git, and names where it stands', async () => {
    const graph = {
      nodes: [
        component('lines', 'demo_logs', 'SOURCE', { format: 'json' }),
        component('out', 'http', 'SINK', {
          uri: 'https://x',
          auth: { strategy: 'bearer', token: 'plain-word' },
        }),
      ],
      edges: [edge('lines', 'out')],
    };
    const { id } = await draw(graph);
    const input = { pipelineId: id, targetEnvironmentId: target.environmentId };
    const said = await refusal(places.editor, 'mutation', 'promotion.initiate', input);
    expect(said).to.match(
      /^PRECONDITION_FAILED: "orders \d+" cannot be promoted into git: `token` holds a plain secret/,
    );
    expect(said).not.to.contain('plain-word');
    expect(await test.db('promotions').where({ pipeline_id: id })).to.deep.equal([]);
    const { canProceed, blockers } = await places.viewer.query<PromotionPreflight>(
      'promotion.preflight',
      input,
    );
    expect([canProceed, blockers.length]).to.deep.equal([false, 1]);
    expect(git(target.gitdir, 'log', '--all', '-S', 'plain-word', '--format=%H')).to.equal('');
  });

  it('goes on with the open pull request when it is asked for again; what reviewers changed stays', async () => {
    const file = `pipelines/${name}.yaml`;
    const id = await applied(source, { [file]: manifest(name) });
    const first = await initiate(id);
    const { branch, number } = await pullOf(first.requestId);
    const written = git(target.gitdir, 'show', `${branch}:${pathOf()}`);
    await onBranch(branch, { [pathOf()]: `${written.replace('codec: json', 'codec: text')}\n` });
    const theirs = git(target.gitdir, 'rev-parse', branch);
    expect(await initiate(id)).to.deep.include({ requestId: first.requestId, updated: true });
    expect(git(target.gitdir, 'rev-parse', branch)).to.equal(theirs);
    await applied(source, { [file]: manifest(name, { program: '.step = 2' }) });
    const again = await initiate(id);
    expect(again).to.deep.include({ requestId: first.requestId, updated: true });
    expect(again.pullRequest?.number).to.equal(number);
    expect(git(target.gitdir, 'rev-parse', `${branch}^`)).to.equal(theirs);
    const now = git(target.gitdir, 'show', `${branch}:${pathOf()}`);
    expect(now).to.contain('codec: text').and.contain('.step = 2');
    await mergeByHand(branch);
    const done = await becomes(first.requestId, 'DEPLOYED');
    const pipeline = await places.editor.query<Pipeline>('pipeline.get', { id: done.targetPipelineId });
    expect(JSON.stringify(pipeline.nodes)).to.contain('"codec":"text"');
  });

  it('is one promotion with one pull request of five that come at once', async () => {
    const { id } = await draw();
    const answers = await Promise.all(Array.from({ length: 5 }, () => initiate(id)));
    expect(new Set(answers.map(({ requestId }) => requestId)).size).to.equal(1);
    expect(new Set(answers.map(({ pullRequest }) => pullRequest?.number)).size).to.equal(1);
    const { branch } = await pullOf(answers[0]?.requestId ?? '');
    expect(commits(branch)).to.have.length(1);
    expect(await test.db('pull_requests').where({ branch })).to.have.length(1);
  });

  it('has nothing to bring where git says so already', async () => {
    const file = `pipelines/${name}.yaml`;
    const id = await applied(source, { [file]: manifest(name) });
    await applied(target, { [file]: manifest(name) });
    expect(
      await refusal(places.editor, 'mutation', 'promotion.initiate', {
        pipelineId: id,
        targetEnvironmentId: target.environmentId,
      }),
    ).to.match(/^PRECONDITION_FAILED: .* is already up to date .*there is nothing to promote/);
    expect(await test.db('promotions').where({ pipeline_id: id })).to.deep.equal([]);
  });

  it('ends where its pull request is closed by cancelling it, and by its asker alone', async () => {
    const { requestId } = await initiate((await draw()).id);
    const { id: pullId } = await pullOf(requestId);
    for (const person of [places.admin, places.root])
      expect(await refusal(person, 'mutation', 'promotion.cancel', { requestId })).to.match(
        /^FORBIDDEN: Only editor/,
      );
    expect(await refusal(places.admin, 'mutation', 'promotion.approve', { requestId })).to.match(
      /^PRECONDITION_FAILED: .* is decided on by its pull request/,
    );
    await places.editor.mutate('promotion.cancel', { requestId });
    expect(await get(requestId)).to.include({ status: 'CANCELLED', decidedBy: 'editor' });
    await until(
      async () => (await test.db('pull_requests').where({ id: pullId }).first()).state === 'closed',
      {
        what: 'its pull request to be closed',
        everyMs: 50,
      },
    );
  });

  it('outlives its source environment: history keeps the name, what is open is closed with a comment', async () => {
    const { id: sourceId } = await places.admin.mutate<{ id: string }>('environment.create', {
      ...{ teamId: places.teamId, name: `source ${made}` },
    });
    const drawThere = () => drawPipeline(places.editor, sourceId, soundGraph(), name);
    const done = await initiate((await drawThere()).id);
    await mergeByHand((await pullOf(done.requestId)).branch);
    await becomes(done.requestId, 'DEPLOYED');
    const first = name;
    name = `${first} open`;
    const open = await initiate((await drawThere()).id);
    await places.admin.mutate('environment.delete', { id: sourceId });
    const history = await places.viewer.query<Promotion[]>('promotion.list', {
      environmentId: target.environmentId,
    });
    const gone = { sourceEnvironmentId: null, sourceEnvironmentName: `source ${made}`, pipelineId: null };
    expect(history.find(({ id }) => id === done.requestId)).to.deep.include({
      ...{ ...gone, status: 'DEPLOYED', pipelineName: first, sourceVersion: null, targetVersion: 1 },
    });
    const cancelled = history.find(({ id }) => id === open.requestId);
    expect(cancelled).to.deep.include({ ...gone, status: 'CANCELLED' });
    expect(cancelled?.note).to.match(/^The source environment "source \d+".* was deleted$/);
    let pull: { state: string; comments: { body: string; author: string }[] } | undefined;
    await until(
      async () => {
        const of = { environmentId: target.environmentId, number: open.pullRequest?.number };
        pull = await places.viewer.query('pullRequest.get', of);
        return pull?.state === 'closed';
      },
      { what: () => `the pull request to be closed: ${JSON.stringify(pull)}`, everyMs: 50 },
    );
    expect(pull?.comments).to.have.length(1);
    expect(pull?.comments[0]?.body).to.contain(`\`source ${made}\``).and.contain('was deleted');
    const audited = (): Promise<string[]> =>
      test.db('audit_log').where({ entity_id: open.requestId }).orderBy('id').pluck('action');
    // Written a moment after the pull request is closed.
    await until(async () => (await audited()).includes('promotion.pullRequestClosed'), {
      what: 'the audit row of the closing',
    });
    expect(await audited()).to.deep.equal([
      'promotion.initiated',
      'promotion.opened',
      'promotion.cancelled',
      'promotion.pullRequestClosed',
    ]);
  });

  it('ends with its pull request where that is closed, is taken up again where it is reopened, and deployed once that is merged, here as well', async () => {
    const { requestId, pullRequest } = await initiate((await draw()).id);
    const which = { environmentId: target.environmentId, number: pullRequest?.number };
    const { branch } = await pullOf(requestId);
    await places.admin.mutate('pullRequest.close', which);
    expect((await becomes(requestId, 'CANCELLED')).note).to.match(/^Pull request #\d+ was closed without/);
    // The branch was deleted with it, and stands again where it stood.
    await until(() => !branches().includes(branch), { what: 'the branch to be deleted', everyMs: 50 });
    await places.admin.mutate('pullRequest.reopen', which);
    expect(branches()).to.include(branch);
    expect(await becomes(requestId, 'AWAITING_PR_MERGE')).to.include({ note: null, decidedAt: null });
    const { head: headSha } = await pullOf(requestId);
    await places.admin.mutate('pullRequest.merge', { ...which, method: 'squash', headSha });
    expect((await becomes(requestId, 'DEPLOYED')).pullRequest?.number).to.equal(pullRequest?.number);
    await until(() => !branches().includes(branch), { what: 'the branch to be deleted again', everyMs: 50 });
  });

  it('leaves its branch where the binding says so, and one with the work of others', async () => {
    const begin = async (word: string) => {
      name = `${word} ${made}`;
      const { requestId, pullRequest } = await initiate((await draw()).id);
      return { requestId, number: pullRequest?.number, branch: (await pullOf(requestId)).branch };
    };
    const close = (number: number | undefined) =>
      places.admin.mutate('pullRequest.close', { environmentId: target.environmentId, number });
    const configure = (deleteBranches: boolean) =>
      places.admin.mutate('gitSync.configure', {
        ...{ environmentId: target.environmentId, mode: 'sync', pullRequests: { deleteBranches } },
      });
    const kept = await begin('kept');
    await configure(false);
    await close(kept.number);
    await becomes(kept.requestId, 'CANCELLED');
    expect(branches()).to.include(kept.branch);
    const worked = await begin('worked');
    await onBranch(worked.branch, { [pathOf()]: manifest(name) });
    await wake(target.environmentId);
    await until(async () => (await pullOf(worked.requestId)).head === tipOf(worked.branch), {
      what: 'the push to be seen',
      everyMs: 50,
    });
    await close(worked.number);
    await becomes(worked.requestId, 'CANCELLED');
    await configure(true);
    await until(() => !branches().includes(kept.branch), { what: 'the first to go', everyMs: 50 });
    expect(branches()).to.include(worked.branch);
  });

  it('tells why what was merged does not run, and is deployed once that is mended', async () => {
    const { requestId } = await initiate((await draw(soundGraph('.step = nonsense('))).id);
    const { branch } = await pullOf(requestId);
    await mergeByHand(branch);
    await complains(requestId, /^Merged, but not applied .*does not compile/);
    const path = pathOf().slice(target.folder.length + 1);
    await target.apply({ [path]: target.read(path).replace('nonsense(', '1') });
    await becomes(requestId, 'DEPLOYED');
  });

  it('tells that the binding is another by now, and can be cancelled all the same', async () => {
    const place = await bindToGit(test, places, { 'pipelines/.keep': '' });
    const { requestId } = await initiate((await draw()).id, {}, place);
    await places.admin.mutate('gitSync.configure', {
      environmentId: place.environmentId,
      mode: 'observe',
      path: place.folder,
    });
    await complains(requestId, /^The binding is now in mode observe/);
    await places.editor.mutate('promotion.cancel', { requestId });
    expect(await get(requestId)).to.include({ status: 'CANCELLED', lastError: null });
    await turnOff(place);
  });

  it('ends where its pull request goes to another branch, or its branch is deleted', async () => {
    const { requestId } = await initiate((await draw()).id);
    const { id } = await pullOf(requestId);
    await test.db('pull_requests').where({ id }).update({ base: 'elsewhere' });
    await test.controller
      .systemContext('test')
      .services.bus.publish(test.db, { type: 'wake', loop: 'promotions', key: requestId, trigger: 'test' });
    expect((await becomes(requestId, 'CANCELLED')).note).to.match(/is now elsewhere, no longer main/);
    made += 1;
    name = `orders ${made}`;
    const deleted = await initiate((await draw()).id);
    git(target.gitdir, 'update-ref', '-d', `refs/heads/${(await pullOf(deleted.requestId)).branch}`);
    await wake(target.environmentId);
    expect((await becomes(deleted.requestId, 'CANCELLED')).pullRequest?.state).to.equal('closed');
  });

  it('is rebuilt where the target has changed the same lines meanwhile: field by field', async () => {
    const file = `pipelines/${name}.yaml`;
    const id = await applied(source, { [file]: manifest(name) });
    const first = await initiate(id);
    await mergeByHand((await pullOf(first.requestId)).branch);
    await becomes(first.requestId, 'DEPLOYED');
    const path = pathOf().slice(target.folder.length + 1);
    await applied(source, { [file]: manifest(name, { program: '.step = 2' }) });
    const { requestId } = await initiate(id);
    const { branch } = await pullOf(requestId);
    const before = git(target.gitdir, 'rev-parse', branch);
    // The lines beside it: lines do not go together, fields do.
    await applied(target, {
      [path]: target
        .read(path)
        .replace(/( +)# first\n/, '$1# ours\n')
        .replace('.step = 1', '.step = 1\n        .more = true')
        .replace('codec: json', 'codec: text'),
    });
    const again = await initiate(id);
    expect(again).to.deep.include({ requestId, updated: true });
    expect(git(target.gitdir, 'merge-base', 'main', branch)).to.equal(target.head());
    expect(git(target.gitdir, 'merge-base', '--is-ancestor', before, branch)).to.equal('');
    const text = git(target.gitdir, 'show', `${branch}:${target.folder}/${path}`);
    expect(text).to.contain('.step = 2').and.contain('codec: text');
    await mergeByHand(branch);
    await becomes(requestId, 'DEPLOYED');
  });

  it('is gone on with where the controller ended between the row, the branch and the pull request', async () => {
    const { id } = await draw();
    const { requestId } = await initiate(id);
    const { branch, id: pullId, head } = await pullOf(requestId);
    const begun = [
      { written: null, pull_request_id: null, gone: true },
      { written: null, pull_request_id: null, gone: false },
    ];
    for (const { gone, ...row } of begun) {
      const long = new Date(Date.now() - 120_000);
      // Together: no pass may find the one without the other.
      await test.db.transaction(async (tx) => {
        await tx('promotions')
          .where({ id: requestId })
          .update({ ...row, updated_at: long });
        await tx('pull_requests').where({ id: pullId }).delete();
      });
      if (gone) git(target.gitdir, 'update-ref', '-d', `refs/heads/${branch}`);
      await test.controller
        .systemContext('test')
        .services.bus.publish(test.db, { type: 'wake', loop: 'promotions', key: requestId, trigger: 'test' });
      await until(async () => (await pullOf(requestId)) !== undefined, {
        what: 'a pull request',
        everyMs: 50,
      });
      const now = await pullOf(requestId);
      expect(now.branch).to.equal(branch);
      expect(commits(branch)).to.have.length(1);
      if (!gone) expect(now.head).not.to.equal(head);
      await test
        .db('pull_requests')
        .where({ id: now.id })
        .update({ id: pullId })
        .catch(() => {});
      await until(async () => (await get(requestId)).pullRequest !== null, {
        what: 'it to be linked',
        everyMs: 50,
      });
    }
    expect((await get(requestId)).status).to.equal('AWAITING_PR_MERGE');
  });

  it('does not take the name of a pipeline that git does not describe there', async () => {
    const place = await bindToGit(test, places, { 'pipelines/.keep': '' });
    const { id } = await draw();
    await drawPipeline(places.editor, place.environmentId, soundGraph(), name);
    expect(
      await refusal(places.editor, 'mutation', 'promotion.initiate', {
        pipelineId: id,
        targetEnvironmentId: place.environmentId,
      }),
    ).to.match(/^CONFLICT: .* that git does not describe there; let git adopt it first/);
    await turnOff(place);
  });

  it('does not write over another pipeline whose name was typed in, though git describes it', async () => {
    await target.apply({ [`pipelines/${name} there.yaml`]: manifest(`${name} there`) });
    const pipelineId = (await draw()).id;
    const input = { pipelineId, targetEnvironmentId: target.environmentId, name: `${name} there` };
    const foretold = await places.editor.query<PromotionPreflight>('promotion.preflight', input);
    expect([foretold.canProceed, foretold.nameCollision?.kind]).to.deep.equal([false, 'taken']);
    expect(await refusal(places.editor, 'mutation', 'promotion.initiate', input)).to.match(
      /^CONFLICT: .* was not promoted from this one; choose another name/,
    );
  });

  it('leaves a file alone that happens to have its name', async () => {
    await target.apply({ [`pipelines/${name.replace(' ', '-')}.yaml`]: manifest(`${name} other`) });
    const { requestId } = await initiate((await draw()).id);
    const { branch } = await pullOf(requestId);
    expect(git(target.gitdir, 'diff', '--name-status', `main...${branch}`)).to.equal(
      `A\t${target.folder}/pipelines/${name.replace(' ', '-')}-2.yaml`,
    );
  });
});
