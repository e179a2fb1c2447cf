/** Who only knows the address of a repository learns nothing of its pull requests. */
import { expect } from 'chai';
import { startTestController, type TestController } from '../../support/controller.ts';
import { git } from '../../support/fast-import.ts';
import { GitServer } from '../../support/git-server.ts';
import { makeUser, type Person, signIn } from '../../support/person.ts';
import { idleManifest } from '../../support/pipelines.ts';
import { makePlaces, type Places, refusal } from '../../support/places.ts';
import { until } from '../../support/until.ts';

const FOLDER = 'environments/staging';

describe('pull requests of a repository that needs a password', function () {
  this.timeout(60_000);
  let server: GitServer;
  let test: TestController;
  let places: Places;
  let stranger: Person;
  let number: number;
  let headSha: string;

  before(async () => {
    server = await GitServer.start({ user: { name: 'git', password: 'pass-of-ours' } });
    const gitdir = server.create();
    server.commit({ files: { [`${FOLDER}/pipelines/web.yaml`]: idleManifest('web') } });
    test = await startTestController();
    places = await makePlaces(test);
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
    stranger = await signIn(test.url, 'mallory@example.org');
    // Bound to what is theirs before: what was read of that counts nothing.
    await places.root.mutate('gitSync.configure', { environmentId: places.foreignId, mode: 'observe' });
    await test
      .db('git_bindings')
      .where({ environment_id: places.foreignId })
      .update({ head_commit: JSON.stringify({ sha: headSha }) });
    await stranger.mutate('gitSync.configure', {
      ...{ environmentId: places.foreignId, mode: 'sync', repositoryUrl: server.url(), path: FOLDER },
    });
  });
  after(async () => {
    await test?.stop();
    await server?.stop();
  });

  it('are not there for who binds an environment to its address without it', async () => {
    const environmentId = places.foreignId;
    expect(await stranger.query('pullRequest.list', { environmentId })).to.deep.equal([]);
    const of = { environmentId, number };
    for (const name of ['pullRequest.get', 'pullRequest.diff', 'pullRequest.plan'])
      expect(await refusal(stranger, 'query', name, of), name).to.match(/^NOT_FOUND/);
    for (const [name, more] of [
      ['pullRequest.comment', { body: 'x' }],
      ['pullRequest.edit', { title: 'x' }],
      ['pullRequest.review', { verdict: 'approve', headSha }],
      ['pullRequest.close', {}],
    ] as const)
      expect(await refusal(stranger, 'mutation', name, { ...of, ...more }), name).to.match(/^NOT_FOUND/);
    const open = { environmentId, branch: 'topic', title: 'x' };
    expect(await refusal(stranger, 'mutation', 'pullRequest.open', open)).not.to.equal('OK');
  });
});
