/** Who is behind a node token, where the connection that would tell of a change hangs. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import { expect } from 'chai';
import Koa from 'koa';
import { healthRoutes } from '../../../api/http/health.ts';
import { connect } from '../../../controller/database/connect.ts';
import { POOL_LIMITS } from '../../../controller/database/pools.ts';
import { createNodeDirectory, type NodeDirectory } from '../../../controller/fleet/index.ts';
import { createBus, PROBE_TIMES } from '../../../controller/platform/runtime/bus.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import { enrollNode, type TestNode } from '../../support/agents/agent-client.ts';
import { send } from '../../support/clients/http.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { QUIET, usePlatform } from '../../support/harness/platform.ts';
import { type TestDatabase, testDatabase } from '../../support/harness/postgres.ts';
import { until } from '../../support/harness/until.ts';
import { insertEnvironment, insertNodes, startFleetParts } from '../../support/scenes/fleet-parts.ts';
import { enrollmentToken } from '../../support/scenes/places.ts';
import { testEnvironment } from '../../support/scenes/two-teams.ts';
import { startTcpProxy, type TcpProxy } from '../../support/servers/tcp-proxy.ts';
import type { TestUser } from '../../support/users/person.ts';

describe('a node that is revoked while a bus hangs', function () {
  this.timeout(60_000);
  this.slow(10_000);
  let database: TestDatabase;
  let proxy: TcpProxy;
  let test: TestController;
  let root: TestUser;
  let token: string;
  let node: TestNode;

  before(async () => {
    database = await testDatabase();
    proxy = await startTcpProxy(database.url);
    test = await startTestController({ databaseUrl: proxy.url });
    root = await test.root();
    const { environmentId } = await testEnvironment(root);
    token = await enrollmentToken(root, environmentId);
  });
  beforeEach(async () => {
    node = await enrollNode(test.url, token);
    expect((await node.config()).status).to.equal(200);
  });
  afterEach(() => proxy.heal());
  after(async () => {
    await test?.stop();
    await proxy?.close();
    await database?.drop();
  });

  const revoke = () => root.mutate('fleet.revokeNode', { id: node.nodeId });
  const revokedIn = async (directory: NodeDirectory) =>
    (await directory.authenticate(node.nodeToken))?.revoked;

  it('is refused at once by the controller that revoked it', async () => {
    proxy.hang('headgate-bus');
    await revoke();
    const answer = await node.config();
    expect(answer.status).to.equal(401);
    expect(answer.json()).to.include({ code: 'NODE_REVOKED' });
  });

  it('is refused at once by the controller that deleted it', async () => {
    proxy.hang('headgate-bus');
    await root.mutate('fleet.delete', { id: node.nodeId });
    expect((await node.config()).status).to.equal(401);
  });

  it('is refused by another controller once its bus is connected again, which is not ready until then', async () => {
    const clock = manualClock();
    const other = await startTcpProxy(database.url);
    const bus = createBus({ url: other.url, log: QUIET, clock });
    await bus.start();
    const directory = createNodeDirectory({ db: test.db, bus, clock });
    const { server, ready } = await readiness(test, () => bus.connected());
    try {
      await directory.warm();
      expect(await revokedIn(directory)).to.equal(false);
      other.hang();
      await revoke();
      expect(await revokedIn(directory), 'nobody has told it').to.equal(false);
      clock.advance(PROBE_TIMES.everyMs);
      clock.advance(PROBE_TIMES.deadlineMs);
      await until(async () => (await ready()).status === 503, { what: 'it not to be ready' });
      expect((await ready()).json<{ checks: object }>().checks).to.include({ database: true, bus: false });
      other.heal();
      await until(async () => (await revokedIn(directory)) === true, {
        what: 'it to be refused',
        timeoutMs: 20_000,
      });
      expect((await ready()).status).to.equal(200);
    } finally {
      server.close();
      directory.stop();
      other.heal();
      await bus.stop();
      await other.close();
    }
  });

  it('is refused by a controller whose connections hang in the middle of reading, once they can be opened again', async () => {
    const clock = manualClock();
    const deaf = createBus({ url: database.url, log: QUIET, clock });
    const frozen = await startTcpProxy(database.url);
    const db = connect(frozen.url, { ...POOL_LIMITS.essential, poolSize: 4, silenceMs: 300 });
    const directory = createNodeDirectory({ db, bus: deaf, clock });
    try {
      await directory.warm();
      frozen.hang();
      clock.advance(60_000);
      await until(() => db.client.pool.numUsed() === 1, { what: 'all nodes to be compared' });
      await revoke();
      expect(await revokedIn(directory)).to.equal(false);
      await until(() => db.client.pool.numUsed() === 0, { what: 'the connection to be given up' });
      frozen.heal();
      await until(
        async () => {
          clock.advance(60_000);
          return (await revokedIn(directory)) === true;
        },
        { what: 'it to be refused' },
      );
    } finally {
      directory.stop();
      await db.destroy();
      await frozen.close();
    }
  });

  it('is asked for without a limit while it is read again', async () => {
    const bus = createBus({ url: database.url, log: QUIET });
    const directory = createNodeDirectory({ db: test.db, bus });
    try {
      await directory.warm();
      let asked: Promise<unknown> | undefined;
      bus.on('node', () => {
        asked = directory.authenticate(node.nodeToken, () => {
          throw new Error('too many unknown tokens');
        });
      });
      await bus.publish(test.db, { type: 'node', nodeId: node.nodeId, environmentId: node.environmentId });
      expect(await asked).to.include({ nodeId: node.nodeId, revoked: false });
    } finally {
      directory.stop();
    }
  });

  it('is told as gone where it cannot be read again, since it may be deleted', async () => {
    const bus = createBus({ url: database.url, log: QUIET });
    const db = connect(database.url);
    const directory = createNodeDirectory({ db, bus });
    const gone: string[] = [];
    directory.onDeleted((nodeId) => gone.push(nodeId));
    try {
      await directory.warm();
      await db.destroy();
      await bus.publish(test.db, { type: 'node', nodeId: node.nodeId, environmentId: node.environmentId });
      await until(() => gone.includes(node.nodeId), { what: 'it to be gone' });
    } finally {
      directory.stop();
    }
  });

  it('is refused within a minute by a controller that no signal reaches', async () => {
    const clock = manualClock();
    const deaf = createBus({ url: database.url, log: QUIET, clock });
    const directory = createNodeDirectory({ db: test.db, bus: deaf, clock });
    const enrolled = await enrollNode(test.url, token);
    try {
      await directory.warm();
      await revoke();
      expect(await revokedIn(directory)).to.equal(false);
      clock.advance(60_000);
      await until(async () => (await revokedIn(directory)) === true, { what: 'it to be refused' });
      expect((await directory.authenticate(enrolled.nodeToken))?.revoked).to.equal(false);
    } finally {
      directory.stop();
    }
  });
});

describe('a node that is archived where no signal tells of it', () => {
  const platform = usePlatform();

  it('is known as archived within a minute, so that its next call brings it back', async () => {
    const parts = await startFleetParts(platform);
    try {
      const [node] = await insertNodes(platform, await insertEnvironment(platform), 1);
      const archived = async () => (await parts.directory.authenticate(node?.token ?? ''))?.archived;
      await parts.directory.warm();
      expect(await archived()).to.equal(false);
      await platform.db('nodes').update({ archived_at: new Date() });
      parts.clock.advance(60_000);
      await until(async () => (await archived()) === true, { what: 'it to be archived' });
      await platform.db('nodes').update({ archived_at: null });
      parts.clock.advance(60_000);
      await until(async () => (await archived()) === false, { what: 'it to be back' });
    } finally {
      await parts.stop();
    }
  });
});

describe('labels that a node reports while it is read again', () => {
  const platform = usePlatform();

  it('are served at once, under a revision that is newer than both', async () => {
    const parts = await startFleetParts(platform);
    try {
      const environmentId = await insertEnvironment(platform);
      const [node] = await insertNodes(platform, environmentId, 1);
      const { nodeId, token } = node ?? expect.fail('no node');
      await parts.directory.warm();
      const before = await parts.directory.authenticate(token);
      if (!before) return expect.fail('the node is not known');
      await platform.db('nodes').where({ id: nodeId }).increment('config_revision', 1);
      await parts.bus.publish(platform.db, { type: 'node', nodeId, environmentId });
      let again = before;
      await until(
        async () => {
          again = (await parts.directory.authenticate(token)) ?? before;
          return again !== before;
        },
        { what: 'the node to be read again' },
      );
      const { revision } = again;
      parts.directory.setAgentLabels(before, { rack: 'r9' });
      parts.directory.releaseAgentLabels(nodeId, { rack: 'r9' });
      const now = await parts.directory.authenticate(token);
      expect(now?.agentLabels).to.deep.equal({ rack: 'r9' });
      expect(now?.revision).to.equal(revision + 1);
    } finally {
      await parts.stop();
    }
  });
});

/** `/api/health/ready` of a controller that hears what it is told to hear. */
async function readiness({ controller, db }: TestController, hearsOthers: () => boolean) {
  const { log } = controller.systemContext('test');
  const lease = { epoch: () => null } as Parameters<typeof healthRoutes>[1]['lease'];
  const router = new Router();
  healthRoutes(router, { db, lease, diskFull: () => false, hearsOthers });
  const app = new Koa();
  app.on('error', (err) => log.error({ err }, 'a test of health'));
  const server = app.use(router.routes()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, ready: () => send(`http://127.0.0.1:${port}/api/health/ready`) };
}
