/** The whole way with the client of each forge over HTTP: found, planned, reported, merged there, rolled out here. */
import { expect } from 'chai';
import { sealForgeToken } from '../../../controller/delivery/bindings/forge/forge-secrets.ts';
import { NO_PROXIES } from '../../../controller/platform/net/proxies.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { createForges, type Forges } from '../../../reconcilers/forges/index.ts';
import { localGuard } from '../../support/fixtures/local-targets.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import type { BoundEnvironment } from '../../support/scenes/bound-environment.ts';
import { PullRequestScene } from '../../support/scenes/pull-request-scene.ts';
import { SERVERS } from '../../support/servers/forges/index.ts';

describe('pull requests over HTTP', () => {
  let scene: PullRequestScene;
  let env: BoundEnvironment;
  let forges: Forges;
  before(async () => {
    scene = await PullRequestScene.open();
    forges = createForges({
      ...{ keyring: scene.scene.services.keyring, guard: localGuard(), log: createLogger('silent') },
      ...{ proxies: NO_PROXIES, limits: { retryMs: 5 }, now: () => scene.clock.now() },
    });
    scene.forges = forges;
  });
  beforeEach(async () => {
    env = await scene.environment();
    await env.apply({ web: idleManifest('web') });
  });
  afterEach(() => scene.clear());
  after(async () => {
    await forges.close();
    await scene.close();
  });

  for (const Server of SERVERS)
    it(`on ${Server.name} are planned and reported in one comment, and followed after a merge`, async () => {
      const server = await new Server().listen();
      const sealedToken = sealForgeToken(scene.scene.services.keyring, env.bindingId, server.token);
      await scene
        .db('git_bindings')
        .where({ id: env.bindingId })
        .update({
          ...{ forge: server.name, forge_url: server.url, forge_project: server.project },
          sealed_forge_token: sealedToken,
        });
      const statuses = (sha: string) => server.statuses.filter((one) => one.sha === sha);
      try {
        const headSha = scene.branch(env, 'feature-1', { web: idleManifest('web', 'x') });
        server.add({ headSha });
        await scene.pass(env);
        expect(await scene.pull(env, 1)).to.include({
          ...{ forge: server.name, author: 'ann', state: 'open', headSha },
        });
        expect(await scene.summary(env)).to.equal('success: 1 changed');
        expect(statuses(headSha)).to.have.length(1);
        expect(statuses(headSha)[0]).to.include({
          context: `headgate/${env.name}`,
          description: '1 changed',
        });
        expect(server.commentsOf(1)).to.have.length(1);

        env.repository.git('update-ref', 'refs/heads/main', server.find(1).headSha);
        server.merge(1, 'merge');
        await env.pass();
        await scene.pass(env);
        expect(await scene.pull(env, 1)).to.include({ state: 'merged' });
        expect(statuses(env.repository.git('rev-parse', 'main')).at(-1)?.description).to.equal(
          'rolled out: 1 manifest',
        );
      } finally {
        await server.stop();
      }
    });
});
