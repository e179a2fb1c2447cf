/** Who only knows the address of a repository learns nothing of its pull requests. */
import { expect } from 'chai';
import { environmentsBeside } from '../../../controller/delivery/bindings/index.ts';
import type { GitSyncStatus } from '../../../schemas/api/delivery/git-sync.ts';
import type { PullRequest } from '../../../schemas/api/delivery/pull-requests.ts';
import { git } from '../../support/clients/fast-import.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { makeTestEnvironments, refusal, type TestEnvironments } from '../../support/scenes/places.ts';
import { GitServer } from '../../support/servers/git-server.ts';
import { makeUser, signIn, type TestUser } from '../../support/users/person.ts';

const FOLDER = 'environments/staging';

describe('pull requests of a repository that needs a password', function () {
  this.timeout(60_000);
  let server: GitServer;
  let test: TestController;
  let places: TestEnvironments;
  let mallory: TestUser;
  let number: number;
  let headSha: string;

  before(async () => {
    server = await GitServer.start({ user: { name: 'git', password: 'pass-of-ours' } });
    const gitdir = server.create();
    server.commit({ files: { [`${FOLDER}/pipelines/web.yaml`]: idleManifest('web') } });
    test = await startTestController();
    places = await makeTestEnvironments(test);
    const { environmentId } = places;
    await places.admin.mutate('gitSync.configure', {
      ...{ environmentId, mode: 'sync', repositoryUrl: server.url(), path: FOLDER },
      credentials: { type: 'basic', username: 'git', password: 'pass-of-ours' },
    });
    await until(async () => (await test.db('pipelines')).length === 1, { what: 'it was applied' });
    git(gitdir, 'update-ref', 'refs/heads/topic', 'refs/heads/main');
    headSha = server.commit({
      branch: 'topic',
      files: { [`${FOLDER}/pipelines/more.yaml`]: idleManifest('more') },
    });
    ({ number } = await places.editor.mutate<{ number: number }>('pullRequest.open', {
      ...{ environmentId, branch: 'topic', title: 'Not for everybody' },
    }));
    await makeUser(test.db, { email: 'mallory@example.org', teams: { [places.otherTeamId]: 'ADMIN' } });
    mallory = await signIn(test.url, 'mallory@example.org');
    // Bound to what is theirs before: what was read of that counts nothing.
    await places.root.mutate('gitSync.configure', { environmentId: places.foreignId, mode: 'observe' });
    await test
      .db('git_bindings')
      .where({ environment_id: places.foreignId })
      .update({ head_commit: JSON.stringify({ sha: headSha }) });
    await mallory.mutate('gitSync.configure', {
      ...{ environmentId: places.foreignId, mode: 'sync', repositoryUrl: server.url(), path: FOLDER },
    });
  });
  after(async () => {
    await test?.stop();
    await server?.stop();
  });

  it('are not there for who binds an environment to its address without it', async () => {
    const environmentId = places.foreignId;
    expect(await mallory.query('pullRequest.list', { environmentId })).to.deep.equal([]);
    const of = { environmentId, number };
    for (const name of ['pullRequest.get', 'pullRequest.diff', 'pullRequest.plan'])
      expect(await refusal(mallory, 'query', name, of), name).to.match(/^NOT_FOUND/);
    for (const [name, more] of [
      ['pullRequest.comment', { body: 'x' }],
      ['pullRequest.edit', { title: 'x' }],
      ['pullRequest.review', { verdict: 'approve', headSha }],
      ['pullRequest.close', {}],
    ] as const)
      expect(await refusal(mallory, 'mutation', name, { ...of, ...more }), name).to.match(/^NOT_FOUND/);
    const open = { environmentId, branch: 'topic', title: 'x' };
    expect(await refusal(mallory, 'mutation', 'pullRequest.open', open)).not.to.equal('OK');
  });

  it('are not there for a binding with other credentials, before it has read by them', async () => {
    const { environmentId } = places;
    const list = () => places.admin.query<unknown[]>('pullRequest.list', { environmentId });
    expect(await list()).to.have.length(1);
    await places.admin.mutate('gitSync.configure', {
      ...{ environmentId, mode: 'sync', intervalSeconds: 3_600 },
      credentials: { type: 'basic', username: 'git', password: 'pass-of-nobody' },
    });
    expect(await list()).to.deep.equal([]);
    await places.admin.mutate('gitSync.configure', {
      ...{ environmentId, mode: 'sync' },
      credentials: { type: 'basic', username: 'git', password: 'pass-of-ours' },
    });
    await until(async () => (await list()).length === 1, { what: 'it was read again' });
  });

  it('are merged by who may push where they have been read, whoever else has bound the address', async () => {
    const { environmentId } = places;
    const status = () => mallory.query<GitSyncStatus>('gitSync.status', { environmentId: places.foreignId });
    await until(async () => (await status()).lastError !== null, { what: 'the other binding was refused' });
    const of = { environmentId, number };
    const { merge } = await places.editor.query<PullRequest>('pullRequest.get', of);
    expect(merge.refusal).to.equal(null);
    expect(
      await refusal(places.editor, 'mutation', 'pullRequest.merge', { ...of, headSha, method: 'merge' }),
    ).to.equal('OK');
  });
});

describe('pull requests of a repository that anybody may read', function () {
  this.timeout(60_000);
  let server: GitServer;
  let test: TestController;
  let places: TestEnvironments;

  before(async () => {
    server = await GitServer.start();
    const gitdir = server.create();
    server.commit({ files: { [`${FOLDER}/pipelines/web.yaml`]: idleManifest('web') } });
    git(gitdir, 'update-ref', 'refs/heads/topic', 'refs/heads/main');
    test = await startTestController();
    places = await makeTestEnvironments(test);
  });
  after(async () => {
    await test?.stop();
    await server?.stop();
  });

  it('are merged by who is let in there, whoever else has only read it', async () => {
    const { environmentId, foreignId } = places;
    const repositoryUrl = server.url();
    const own = { environmentId, mode: 'sync', repositoryUrl, path: FOLDER };
    await places.admin.mutate('gitSync.configure', {
      ...own,
      credentials: { type: 'basic', username: 'git', password: 'pass-of-ours' },
    });
    await until(async () => (await test.db('pipelines')).length === 1, { what: 'it was applied' });
    const headSha = server.commit({
      branch: 'topic',
      files: { [`${FOLDER}/pipelines/more.yaml`]: idleManifest('more') },
    });
    const { number } = await places.editor.mutate<{ number: number }>('pullRequest.open', {
      ...{ environmentId, branch: 'topic', title: 'Ours' },
    });
    await makeUser(test.db, { email: 'mallory@example.org', teams: { [places.otherTeamId]: 'ADMIN' } });
    const mallory = await signIn(test.url, 'mallory@example.org');
    await mallory.mutate('gitSync.configure', {
      ...{ environmentId: foreignId, mode: 'observe', repositoryUrl, path: 'nowhere' },
    });
    const theirs = () => test.db('git_bindings').where({ environment_id: foreignId }).first();
    await until(async () => (await theirs()).read_at !== null, { what: 'they have read it' });
    const get = () => places.editor.query<PullRequest>('pullRequest.get', { environmentId, number });
    expect((await get()).merge.refusal).to.equal(null);
    const bindings = await test.db('git_bindings').select('id', 'environment_id');
    const besideOf = async (id: string) => {
      const found = bindings.find((one) => one.environment_id === id);
      return new Set(await environmentsBeside(test.db, found.id));
    };
    expect(await besideOf(environmentId)).to.deep.equal(new Set([environmentId]));
    expect(await besideOf(foreignId)).to.deep.equal(new Set([environmentId, foreignId]));

    const merge = { environmentId, number, headSha, method: 'merge' };
    expect(await refusal(places.editor, 'mutation', 'pullRequest.merge', merge)).to.equal('OK');
  });
});
