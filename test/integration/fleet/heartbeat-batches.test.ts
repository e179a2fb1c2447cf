/** What a fleet costs the database and the other controllers: statements and signals a batch, and not a node. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { SignalOf } from '../../../controller/platform/runtime/bus.ts';
import { createBus } from '../../../controller/platform/runtime/bus.ts';
import { untilWaiting } from '../../support/harness/lock-waiters.ts';
import { QUIET, usePlatform } from '../../support/harness/platform.ts';
import { until } from '../../support/harness/until.ts';
import {
  type EnrolledNode,
  type FleetParts,
  insertEnvironment,
  insertNodes,
  startFleetParts,
  statementsOf,
} from '../../support/scenes/fleet-parts.ts';

const NODES = 400;

describe('the heartbeats of a fleet', function () {
  this.timeout(30_000);
  const platform = usePlatform();
  let environmentId: string;
  let nodes: EnrolledNode[];
  /** Two controllers on one database. */
  let here: FleetParts;
  let there: FleetParts;

  before(async () => {
    environmentId = await insertEnvironment(platform);
    nodes = await insertNodes(platform, environmentId, NODES);
    here = await startFleetParts(platform);
    there = await startFleetParts(platform);
    await here.directory.warm();
    await there.directory.warm();
  });
  after(async () => {
    await here?.stop();
    await there?.stop();
  });

  const known = async (parts: FleetParts, { token }: EnrolledNode) => {
    const node = await parts.directory.authenticate(token);
    if (!node) throw new Error('the node is not known');
    return node;
  };
  const beat = async (node: EnrolledNode, labels: Record<string, string>) =>
    here.heartbeats.ingest(await known(here, node), {
      ...{ pipelines: [], hostMetrics: {}, agentVersion: '1', engineVersion: '1', labels },
    });
  /** Everything is taken in before the timer of a flush can run, and so is one batch. */
  const beatAll = async (labels: Record<string, string>) => {
    await here.configs.knownPipelines(environmentId);
    await Promise.all(nodes.map((node) => beat(node, labels)));
    await here.heartbeats.flush();
  };

  it('notify in one statement however many nodes have new labels, and read no node again', async () => {
    await beatAll({ zone: 'a' });
    const before = here.directory.sizes();
    const statements = await statementsOf(platform, () => beatAll({ zone: 'b' }));
    const count = (text: string) => statements.filter((sql) => sql.includes(text)).length;
    expect(count('pg_notify')).to.equal(1);
    expect(count('UPDATE nodes')).to.equal(1);
    expect(count('INSERT INTO node_reports')).to.equal(1);
    expect(here.directory.sizes()).to.deep.equal(before);
    const reads = await statementsOf(platform, async () => {
      for (const node of nodes) expect((await known(here, node)).agentLabels).to.deep.equal({ zone: 'b' });
    });
    expect(reads).to.deep.equal([]);
  });

  it('have another controller read all nodes with new labels again in a few statements', async () => {
    const reads: string[] = [];
    const note = ({ sql }: { sql: string }) => {
      if (sql.includes('n.id = ANY')) reads.push(sql);
    };
    platform.db.on('query', note);
    try {
      await beatAll({ zone: 'c' });
      await until(
        async () => {
          const all = await Promise.all(nodes.map((node) => known(there, node)));
          return all.every(({ agentLabels }) => agentLabels.zone === 'c');
        },
        { what: 'the other controller to know the labels' },
      );
    } finally {
      platform.db.removeListener('query', note);
    }
    // Those of the first signals, and those that came while these were read: how many is up to the machine, but not one a node.
    expect(reads.length).to.be.within(1, NODES / 20);
  });

  it('have the revision that their nodes were told of', async () => {
    const [node] = nodes as [EnrolledNode];
    for (const zone of ['d', 'e', 'f']) await beat(node, { zone });
    const told = await here.configs.revisionFor(await known(here, node));
    await here.heartbeats.flush();
    await until(async () => (await known(there, node)).agentLabels.zone === 'f', { what: 'the labels' });
    expect(await there.configs.revisionFor(await known(there, node))).to.equal(told);
  });

  it('bring their labels to other controllers where the batch failed and a newer one waits', async () => {
    const [node] = nodes as [EnrolledNode];
    await known(there, node);
    const holder = await platform.db.transaction();
    try {
      await holder.raw('LOCK TABLE node_reports IN ACCESS EXCLUSIVE MODE');
      await beat(node, { zone: 'lost' });
      const failing = here.heartbeats.flush();
      await untilWaiting(platform.db);
      await beat(node, { zone: 'lost' });
      await platform.db.raw(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE wait_event_type = 'Lock' AND datname = current_database()`,
      );
      await failing;
    } finally {
      await holder.rollback();
    }
    await here.heartbeats.flush();
    expect(here.directory.sizes().unstoredLabels).to.equal(0);
    await until(async () => (await known(there, node)).agentLabels.zone === 'lost', { what: 'the labels' });
    expect((await known(there, node)).revision).to.equal((await known(here, node)).revision);
  });

  it('reach every other controller once, and pages of this one at once', async () => {
    const outside = createBus({ url: platform.url, log: QUIET });
    const heard: SignalOf<'node'>[] = [];
    outside.on('node', (signal) => heard.push(signal));
    const own: string[] = [];
    const off = [here.bus.on('node', () => own.push('node')), here.bus.on('ui', () => own.push('ui'))];
    await outside.start();
    try {
      await beatAll({ zone: 'g' });
      expect(own).to.deep.equal(['ui']);
      await until(() => heard.length >= NODES, { what: 'all nodes to be signalled' });
      await outside.publish(platform.db, { type: 'ui', environmentId, topics: ['fleet'] });
      // Signals come in the order of their commits: an echo would have come before this one.
      await until(() => own.length > 1, { what: 'the signal of another' });
      expect(own).to.deep.equal(['ui', 'ui']);
      expect(new Set(heard.map(({ nodeId }) => nodeId))).to.deep.equal(
        new Set(nodes.map(({ nodeId }) => nodeId)),
      );
      expect(heard).to.have.length(NODES);
    } finally {
      for (const end of off) end();
      await outside.stop();
    }
  });

  it('are stored about once a second where some hundred a second come, though never many at once', async () => {
    // From here on the controller knows that many come.
    await beatAll({ zone: 'g' });
    const startedAt = performance.now();
    const elapsedMs = () => performance.now() - startedAt;
    let sent = 0;
    const statements = await statementsOf(platform, async () => {
      while (elapsedMs() < 2_000) {
        // 400 a second, also where a busy machine wakes it late.
        for (const due = elapsedMs() * 0.4; sent < due; sent += 1)
          await beat(nodes[sent % NODES]!, { zone: 'g' });
        await sleep(20);
      }
    });
    const batches = statements.filter((sql) => /(UPDATE|INSERT INTO) node_presence/.test(sql)).length;
    expect(sent).to.be.above(200);
    // One a second, and a few more for the moments at which it begins and ends.
    expect(batches).to.be.within(1, 3 + elapsedMs() / 1_000);
    await here.heartbeats.flush();
  });

  it('are read from the database again where another controller says so', async () => {
    const [node] = nodes as [EnrolledNode];
    expect((await known(here, node)).maintenance).to.equal(false);
    await platform.db('nodes').where({ id: node.nodeId }).update({ maintenance: true });
    await there.bus.publish(platform.db, { type: 'node', nodeId: node.nodeId, environmentId });
    await until(async () => (await known(here, node)).maintenance, { what: 'the other controller’s change' });
  });

  it('are late where the signals of a batch hang while newer ones wait', async () => {
    const behind: boolean[] = [];
    const parts = await startFleetParts(platform, {
      onCaughtUp: () => behind.push(parts.heartbeats.isBehind()),
    });
    const [node] = nodes as [EnrolledNode];
    const report = { pipelines: [], hostMetrics: {}, agentVersion: '1', engineVersion: '1', labels: {} };
    const ingest = async () => parts.heartbeats.ingest(await known(parts, node), report);
    const publishing = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const { publish } = parts.bus;
    const { now } = performance;
    try {
      parts.bus.publish = async () => {
        publishing.resolve();
        await released.promise;
      };
      await ingest();
      const flushed = parts.heartbeats.flush();
      await publishing.promise;
      await ingest();
      expect(parts.heartbeats.isBehind()).to.equal(false);
      performance.now = () => now.call(performance) + 20_000;
      expect(parts.heartbeats.isBehind()).to.equal(true);
      released.resolve();
      await flushed;
      expect(parts.heartbeats.sizes().waiting).to.equal(1);
      expect(parts.heartbeats.isBehind()).to.equal(false);
      expect(behind).to.deep.equal([true]);
    } finally {
      performance.now = now;
      released.resolve();
      parts.bus.publish = publish;
      await parts.stop();
    }
  });
});
