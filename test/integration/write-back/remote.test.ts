import { expect } from 'chai';
import { git } from '../../support/clients/fast-import.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { makeTestEnvironments, refusal, type TestEnvironments } from '../../support/scenes/places.ts';
import { GitServer } from '../../support/servers/git-server.ts';

const FOLDER = 'environments/staging';
const RULE = (threshold: number, name = 'errors') =>
  `apiVersion: headgate/v1\nkind: AlertRule\nmetadata: { name: ${name} } # here\nspec: { metric: cpu_usage, condition: gt, threshold: ${threshold} }\n`;
const ORDERS = (interval: number, description: string) => `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: orders }
spec:
  description: ${description}
  sources:
    app: { type: demo_logs, format: json, interval: ${interval} }
  sinks:
    out: { type: console, inputs: [app], encoding: { codec: json } }
`;
const TOKEN = 'glpat-canary%+1';

interface Became {
  committed: { sha: string };
  proposed: { branch: string; number: number };
}

describe('changes by hand where the repository is on a git server', function () {
  this.timeout(60_000);
  let server: GitServer;
  let test: TestController;
  let places: TestEnvironments;
  let gitdir: string;
  let id: string;

  before(async () => {
    server = await GitServer.start({ user: { name: 'bot', password: TOKEN } });
    gitdir = server.create();
    for (let n = 0; n < 5; n += 1)
      server.commit({ files: { [`${FOLDER}/alerts/errors.yaml`]: RULE(n) }, message: `before ${n}` });
    server.commit({ files: { [`${FOLDER}/alerts/errors.yaml`]: RULE(10) } });
    test = await startTestController();
    places = await makeTestEnvironments(test);
    const { admin, environmentId } = places;
    await admin.mutate('gitSync.configure', {
      environmentId,
      mode: 'sync',
      repositoryUrl: server.url(),
      path: FOLDER,
      credentials: { type: 'basic', username: 'bot', password: TOKEN },
    });
    await until(async () => (await test.db('alert_rules')).length === 1, {
      what: 'the rule was made',
      everyMs: 50,
    });
    id = (await test.db('alert_rules').first('id')).id;
  });
  after(async () => {
    await test?.stop();
    await server?.stop();
  });

  const policy = (uiEdits: string) => test.db('git_bindings').update({ policy: JSON.stringify({ uiEdits }) });
  const threshold = async () => (await test.db('alert_rules').where({ id }).first('threshold')).threshold;

  it('are pushed there on top of what others pushed, and applied from there', async () => {
    await policy('commit');
    // Nobody has fetched this yet.
    const theirs = server.commit({ files: { 'README.md': 'theirs\n' }, message: 'theirs' });
    const { committed } = await places.editor.mutate<Became>('alert.updateRule', { id, threshold: 11 });
    expect(git(gitdir, 'rev-parse', 'main', 'main~1').split('\n')).to.deep.equal([committed.sha, theirs]);
    expect(git(gitdir, 'cat-file', 'blob', `main:${FOLDER}/alerts/errors.yaml`)).to.equal(RULE(11).trim());
    await until(async () => (await threshold()) === 11, { what: 'it was applied', everyMs: 50 });
    expect(git(gitdir, 'fsck', '--strict')).to.equal('');
  });

  it('are proposed on a branch there', async () => {
    await policy('propose');
    const first = await places.editor.mutate<Became>('alert.updateRule', { id, threshold: 12 });
    const second = await places.editor.mutate<Became>('alert.updateRule', { id, enabled: false });
    expect(second.proposed).to.deep.equal(first.proposed);
    expect(
      git(gitdir, 'cat-file', 'blob', `${first.proposed.branch}:${FOLDER}/alerts/errors.yaml`),
    ).to.contain('threshold: 12, enabled: false }');
    expect(await threshold()).to.equal(11);
    // A reviewer's commit on the branch stays below the next edit.
    const { branch } = first.proposed;
    const theirs = server.commit({ branch, files: { 'notes.md': 'theirs\n' }, message: 'a review' });
    const more = await places.editor.mutate<Became>('alert.updateRule', { id, threshold: 15 });
    expect(more.proposed).to.deep.equal(first.proposed);
    expect(git(gitdir, 'rev-parse', `${branch}~1`)).to.equal(theirs);
    git(gitdir, 'update-ref', '-d', `refs/heads/${first.proposed.branch}`);
    const third = await places.editor.mutate<Became>('alert.updateRule', { id, threshold: 13 });
    expect(third.proposed.number).to.equal(2);
    const list = await places.viewer.query<{ number: number; state: string }[]>('pullRequest.list', {
      environmentId: places.environmentId,
    });
    expect(list.map(({ number, state }) => `${number} ${state}`)).to.deep.equal(['2 open', '1 closed']);
  });

  it('are examined again where the row has another head than the branch, though nothing was pushed', async () => {
    const { admin, environmentId } = places;
    const open = () => test.db('pull_requests').where({ state: 'open' }).first();
    const { id: pullId, branch, head_sha: pushed } = await open();
    const tip = git(gitdir, 'rev-parse', `refs/heads/${branch}`);
    expect(pushed).to.equal(tip);
    const passes = async () => {
      const { last_pass_at: before } = await test.db('git_bindings').first('last_pass_at');
      await admin.mutate('gitSync.syncNow', { environmentId });
      await until(async () => (await test.db('git_bindings').first('last_pass_at')).last_pass_at > before, {
        what: 'a pass',
        everyMs: 50,
      });
    };
    await passes();
    await passes();
    // By a writer that was slower than the push of somebody else.
    await test
      .db('pull_requests')
      .where({ id: pullId })
      .update({ head_sha: git(gitdir, 'rev-parse', `${tip}~1`) });
    await passes();
    expect((await open()).head_sha).to.equal(tip);
  });

  it('leave no branch there where the pull request cannot be opened', async () => {
    await policy('propose');
    const branches = () => git(gitdir, 'for-each-ref', '--format=%(refname)').split('\n');
    const before = branches();
    await test.db('pull_requests').where({ state: 'open' }).update({ state: 'closed' });
    await test.db.raw('ALTER TABLE pull_requests ADD CONSTRAINT none CHECK (false) NOT VALID');
    try {
      const answer = await refusal(places.editor, 'mutation', 'alert.updateRule', { id, threshold: 16 });
      expect(answer).to.match(/^INTERNAL_SERVER_ERROR/);
    } finally {
      await test.db.raw('ALTER TABLE pull_requests DROP CONSTRAINT none');
    }
    expect(branches()).to.deep.equal(before);
  });

  it('are refused in words where the server does not let us write, and no word is the password', async () => {
    await policy('commit');
    git(gitdir, 'config', 'http.receivepack', 'false');
    const told = await refusal(places.editor, 'mutation', 'alert.updateRule', { id, threshold: 14 });
    expect(told).to.match(/^PRECONDITION_FAILED: Nothing was written to git: /);
    git(gitdir, 'config', 'http.receivepack', 'true');
    server.mischief = () => ({ status: 503 });
    expect(await refusal(places.editor, 'mutation', 'alert.updateRule', { id, threshold: 14 })).to.match(
      /^SERVICE_UNAVAILABLE: Nothing was written to git: /,
    );
    server.mischief = () => null;
    for (const text of [told, test.log()]) expect(text).not.to.contain(TOKEN);
    expect(await threshold()).to.equal(11);
  });

  it('are proposed after a rollback once the server answers again', async () => {
    const { admin, editor, viewer, environmentId } = places;
    const path = `${FOLDER}/pipelines/orders.yaml`;
    const pipeline = () => test.db('pipelines').where({ name: 'orders' }).first('id', 'spec_hash');
    const versions = () => test.db('pipeline_versions').orderBy('version').pluck('id');
    for (const [count, description] of ['first', 'second'].entries()) {
      server.commit({ files: { [path]: ORDERS(count + 1, description) }, message: description });
      await admin.mutate('gitSync.syncNow', { environmentId });
      await until(async () => (await versions()).length === count + 1, { what: description, everyMs: 50 });
    }
    const { id: pipelineId } = await pipeline();
    const recorded = () => test.db('git_manifests').where({ object_id: pipelineId }).first('applied_hash');
    await until(async () => (await recorded())?.applied_hash === (await pipeline()).spec_hash, {
      what: 'the pass has recorded it',
      everyMs: 50,
    });
    const open = async () =>
      (await viewer.query<{ title: string; state: string }[]>('pullRequest.list', { environmentId })).filter(
        ({ title, state }) => title === 'Roll back the pipeline orders' && state === 'open',
      );
    const job = () =>
      test
        .db('graphile_worker.jobs')
        .where({ key: `propose-rollback:${pipelineId}` })
        .first('last_error');
    server.mischief = () => ({ status: 503 });
    await editor.mutate('pipeline.rollback', { pipelineId, targetVersionId: (await versions())[0] });
    await until(async () => (await job())?.last_error !== null, { what: 'the first try', everyMs: 50 });
    server.mischief = () => null;
    expect((await job())?.last_error).to.match(/Nothing was written to git/);
    await until(async () => (await open()).length === 1, { what: 'the pull request', everyMs: 100 });
  });
});
