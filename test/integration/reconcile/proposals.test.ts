import { expect } from 'chai';
import { insertPullRequest, listPullRequests } from '../../../controller/pull-requests/index.ts';
import { idleManifest } from '../../support/pipelines.ts';
import { type BoundEnvironment, ReconcileScene } from '../../support/reconcile.ts';

describe('proposals that a pass looks at', () => {
  let scene: ReconcileScene;
  let env: BoundEnvironment;
  before(async () => {
    scene = await ReconcileScene.open();
  });
  beforeEach(async () => {
    env = await scene.environment();
    await env.apply({ web: idleManifest('web') });
  });
  after(() => scene.close());

  /** One commit on top of what is applied, on a branch of its own. */
  async function propose(branch: string): Promise<string> {
    const { repository } = env;
    const main = repository.git('rev-parse', 'main');
    const headSha = env.commit({ web: idleManifest('web', branch) });
    repository.git('update-ref', `refs/heads/${branch}`, headSha);
    repository.git('update-ref', 'refs/heads/main', main);
    await insertPullRequest(scene.db, {
      ...{ bindingId: env.bindingId, repository: 'embedded', title: branch, body: '', base: 'main' },
      ...{ branch, headSha, subject: {}, author: 'Ada', authorId: null },
    });
    return headSha;
  }
  const states = async () =>
    Object.fromEntries(
      (await listPullRequests(scene.db, { repository: 'embedded', forge: 'headgate', base: 'main' })).map(
        ({ branch, state }) => [branch, state],
      ),
    );

  it('are merged once their branch is in the one that is applied, also where that went on', async () => {
    const head = await propose('first');
    await propose('second');
    await env.pass();
    expect(await states()).to.deep.equal({ first: 'open', second: 'open' });
    env.repository.git('update-ref', 'refs/heads/main', head);
    await env.apply({ more: idleManifest('more') });
    expect(await states()).to.deep.equal({ first: 'merged', second: 'open' });
  });

  it('are merged, too, where the branch was deleted then, and closed where it was not merged', async () => {
    const head = await propose('first');
    await propose('second');
    env.repository.git('update-ref', 'refs/heads/main', head);
    for (const branch of ['first', 'second']) env.repository.git('update-ref', '-d', `refs/heads/${branch}`);
    await env.pass();
    expect(await states()).to.deep.equal({ first: 'merged', second: 'closed' });
  });

  it('are closed though nothing else has changed since the pass before', async () => {
    await propose('first');
    await env.pass();
    await env.pass();
    env.repository.git('update-ref', '-d', 'refs/heads/first');
    expect((await env.pass()).outcome).to.equal('unchanged');
    expect(await states()).to.deep.equal({ first: 'closed' });
  });

  it('stay open in the copy of a remote, which need not hold their branch', async () => {
    await propose('first');
    env.repository.git('update-ref', '-d', 'refs/heads/first');
    await env.pass({ remote: { fetch: async () => undefined, distrust: () => undefined } });
    expect(await states()).to.deep.equal({ first: 'open' });
  });
});
