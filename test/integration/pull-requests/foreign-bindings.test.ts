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

describe('pull requests of a repository that others have bound', function () {
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
    await until(async () => (await test.db('pipelines')).length === 1, {
      what: 'it was applied',
      everyMs: 50,
    });
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

  it('are not there for who binds an environment to its address without its password', async () => {
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
    await until(async () => (await list()).length === 1, { what: 'it was read again', everyMs: 50 });
  });

  it('are merged by who may push where they have been read, whoever else has bound the address', async () => {
    const { environmentId } = places;
    const status = () => mallory.query<GitSyncStatus>('gitSync.status', { environmentId: places.foreignId });
    await until(async () => (await status()).lastError !== null, {
      what: 'the other binding was refused',
      everyMs: 50,
    });
    const of = { environmentId, number };
    const { merge } = await places.editor.query<PullRequest>('pullRequest.get', of);
    expect(merge.refusal).to.equal(null);
    expect(
      await refusal(places.editor, 'mutation', 'pullRequest.merge', { ...of, headSha, method: 'merge' }),
    ).to.equal('OK');
  });

  it('are merged by who is let in there, whoever else has only read it, where anybody may read', async () => {
    const open = await GitServer.start();
    try {
      const gitdir = open.create();
      open.commit({ files: { [`${FOLDER}/pipelines/web.yaml`]: idleManifest('web') } });
      git(gitdir, 'update-ref', 'refs/heads/topic', 'refs/heads/main');
      const { siblingId: environmentId, otherTeamId: teamId } = places;
      const { id: foreignId } = await places.root.mutate<{ id: string }>('environment.create', {
        ...{ teamId, name: 'beside' },
      });
      const repositoryUrl = open.url();
      await places.admin.mutate('gitSync.configure', {
        ...{ environmentId, mode: 'sync', repositoryUrl, path: FOLDER },
        credentials: { type: 'basic', username: 'git', password: 'pass-of-ours' },
      });
      const applied = () => test.db('pipelines').where({ environment_id: environmentId });
      await until(async () => (await applied()).length === 1, { what: 'it was applied', everyMs: 50 });
      const headSha = open.commit({
        branch: 'topic',
        files: { [`${FOLDER}/pipelines/more.yaml`]: idleManifest('more') },
      });
      const { number } = await places.editor.mutate<{ number: number }>('pullRequest.open', {
        ...{ environmentId, branch: 'topic', title: 'Ours' },
      });
      await mallory.mutate('gitSync.configure', {
        ...{ environmentId: foreignId, mode: 'observe', repositoryUrl, path: 'nowhere' },
      });
      const theirs = () => test.db('git_bindings').where({ environment_id: foreignId }).first();
      await until(async () => (await theirs()).read_at !== null, { what: 'they have read it', everyMs: 50 });
      const get = () => places.editor.query<PullRequest>('pullRequest.get', { environmentId, number });
      expect((await get()).merge.refusal).to.equal(null);
      const besideOf = async (of: string) => {
        const { id } = await test.db('git_bindings').where({ environment_id: of }).first('id');
        return new Set(await environmentsBeside(test.db, id));
      };
      expect(await besideOf(environmentId)).to.deep.equal(new Set([environmentId]));
      expect(await besideOf(foreignId)).to.deep.equal(new Set([environmentId, foreignId]));

      const merge = { environmentId, number, headSha, method: 'merge' };
      expect(await refusal(places.editor, 'mutation', 'pullRequest.merge', merge)).to.equal('OK');
    } finally {
      await open.stop();
    }
  });
});
