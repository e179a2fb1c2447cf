/** The whole way with the clients of the forges, over HTTP: found, planned, told, merged there, rolled out here. */
import { expect } from 'chai';
import { sealForgeToken } from '../../../controller/delivery/bindings/forge/forge-secrets.ts';
import { NO_PROXIES } from '../../../controller/platform/net/proxies.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { createForges, type Forges } from '../../../reconcilers/forges/index.ts';
import { localGuard } from '../../support/fixtures/local-targets.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { PullRequestScene } from '../../support/scenes/pull-request-scene.ts';
import type { BoundEnvironment } from '../../support/scenes/reconcile.ts';
import { type ForgeServer, SERVERS } from '../../support/servers/forges/index.ts';

for (const Server of SERVERS)
  describe(`pull requests on ${Server.name}`, () => {
    let scene: PullRequestScene;
    let env: BoundEnvironment;
    let server: ForgeServer;
    let forges: Forges;
    before(async () => {
      server = await new Server().listen();
      scene = await PullRequestScene.open();
      env = await scene.environment();
      const { keyring } = scene.scene.services;
      forges = createForges({
        ...{ keyring, guard: localGuard(), log: createLogger('silent'), proxies: NO_PROXIES },
        limits: { retryMs: 5 },
        now: () => scene.clock.now(),
      });
      scene.forges = forges;
      await scene
        .db('git_bindings')
        .where({ id: env.bindingId })
        .update({
          ...{ forge: server.name, forge_url: server.url, forge_project: server.project },
          sealed_forge_token: sealForgeToken(keyring, env.bindingId, server.token),
        });
      await env.apply({ web: idleManifest('web') });
    });
    after(async () => {
      await forges.close();
      await scene.close();
      await server.stop();
    });

    const statuses = (sha: string) => server.statuses.filter((one) => one.sha === sha);

    it('are found, planned and told, and brought up to date by the same comment', async () => {
      const headSha = scene.branch(env, 'feature-1', { web: idleManifest('web', 'x') });
      server.add({ headSha });
      await scene.look(env);
      expect(await scene.pull(env, 1)).to.include({
        forge: server.name,
        author: 'ann',
        state: 'open',
        headSha,
      });
      expect(await scene.said(env)).to.equal('success: 1 changed');
      expect(statuses(headSha)).to.have.length(1);
      expect(statuses(headSha)[0]).to.include({ context: 'headgate/env-1', description: '1 changed' });
      expect(server.commentsOf(1)).to.have.length(1);
      server.find(1).headSha = scene.branch(env, 'feature-1', { more: idleManifest('more') });
      await scene.look(env);
      expect(server.commentsOf(1)).to.have.length(1);
      expect(server.commentsOf(1)[0]?.body).to.include('`more`');
      await scene.restart();
      const asked = server.asked.filter(({ method }) => method !== 'GET').length;
      await scene.look(env);
      expect(server.asked.filter(({ method }) => method !== 'GET')).to.have.length(asked);
    });

    it('that are merged there while nobody looks are found, and their commit is followed', async () => {
      await scene.restart();
      env.repository.git('update-ref', 'refs/heads/main', server.find(1).headSha);
      server.merge(1, 'merge');
      await env.pass();
      await scene.look(env);
      expect(await scene.pull(env, 1)).to.include({ state: 'merged' });
      const sha = env.repository.git('rev-parse', 'main');
      expect(statuses(sha).at(-1)?.description).to.equal('rolled out: 2 manifests');
    });

    it('wait where the forge was asked too often, as long as it says', async () => {
      const headSha = scene.branch(env, 'feature-2', { web: idleManifest('web', 'y') });
      server.add({ headSha });
      server.fault = () => ({ status: 429, headers: { 'retry-after': '600' }, text: 'slow down' });
      await scene.look(env);
      const { forgeError } = await env.binding();
      expect(forgeError?.message).to.be.a('string').and.not.include(server.token);
      server.fault = () => null;
      const asked = server.asked.length;
      scene.clock.advance(300_000);
      await scene.look(env, 'webhook');
      expect(server.asked).to.have.length(asked);
      scene.clock.advance(360_000);
      await scene.look(env);
      expect(statuses(headSha)).to.have.length(1);
      expect((await env.binding()).forgeError).to.equal(null);
    });
  });
