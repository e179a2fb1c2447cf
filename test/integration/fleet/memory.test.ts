/** What a controller holds in memory of nodes: nothing of those that are gone, however many there were. */
import { expect } from 'chai';
import { mintToken } from '../../../controller/platform/crypto/tokens.ts';
import { useEachPlatform } from '../../support/harness/platform.ts';
import { until } from '../../support/harness/until.ts';
import {
  type EnrolledNode,
  type FleetParts,
  insertEnvironment,
  insertNodes,
  startFleetParts,
  statementsOf,
} from '../../support/scenes/fleet-parts.ts';

/** Signals about so many are told in several messages. */
const NODES = 2_000;

describe('the memory of a controller', function () {
  this.timeout(60_000);
  const platform = useEachPlatform();
  let parts: FleetParts;

  beforeEach(async () => {
    parts = await startFleetParts(platform);
  });
  afterEach(async () => {
    await parts?.stop();
  });

  const sizes = () => ({
    ...parts.directory.sizes(),
    ...parts.heartbeats.sizes(),
    ...parts.logs.sizes(),
    environments: parts.configs.sizes().environments,
  });
  const EMPTY = {
    ...{ nodes: 0, unstoredLabels: 0, unknownTokens: 0, waiting: 0, lastReports: 0 },
    ...{ waitingRequests: 0, deliveringNodes: 0, budgets: 0, environments: 0 },
  };

  /** The node polls, delivers a line and sends a heartbeat. */
  async function visit({ token }: EnrolledNode, pipelineId: string): Promise<void> {
    const node = await parts.directory.authenticate(token);
    if (!node) throw new Error('the node is not known');
    expect((await parts.configs.forNode(node)).body).to.include('pipelines');
    await parts.logs.deliver(node, [{ pipelineId, lines: ['a line'] }], new AbortController().signal);
    await parts.heartbeats.ingest(node, {
      ...{
        pipelines: [{ pipelineId, version: 1, status: 'RUNNING' }],
        hostMetrics: {},
        labels: { of: token },
      },
      ...{ agentVersion: '1', engineVersion: '1' },
    });
  }

  /** Enrolls nodes and has each of them do what leaves something behind. */
  async function fill(environmentId: string, count: number): Promise<EnrolledNode[]> {
    const pipelineId = `p${environmentId}`;
    await platform.db('pipelines').insert({ id: pipelineId, environment_id: environmentId, name: 'one' });
    const nodes = await insertNodes(platform, environmentId, count);
    await parts.directory.warm();
    const tick = setInterval(() => parts.clock.advance(10), 1);
    try {
      for (let first = 0; first < count; first += 1_000)
        await Promise.all(nodes.slice(first, first + 1_000).map((node) => visit(node, pipelineId)));
      await parts.heartbeats.flush();
    } finally {
      clearInterval(tick);
    }
    return nodes;
  }

  it('holds nothing of thousands of nodes that were deleted, and reads few statements to learn it', async () => {
    const environmentId = await insertEnvironment(platform);
    const nodes = await fill(environmentId, NODES);
    expect(sizes()).to.include({ nodes: NODES, lastReports: NODES, budgets: NODES, environments: 1 });
    await platform.db('nodes').where({ environment_id: environmentId }).delete();
    const statements = await statementsOf(platform, async () => {
      await parts.bus.publish(
        platform.db,
        nodes.map(({ nodeId }) => ({ type: 'node', nodeId, environmentId })),
      );
      await until(() => sizes().lastReports === 0, { what: () => JSON.stringify(sizes()) });
    });
    expect(statements.length).to.be.below(5);
    await parts.bus.publish(platform.db, { type: 'environment', environmentId });
    // What a node may still deliver comes back within the hour.
    parts.clock.advance(3_600_000);
    await fill(await insertEnvironment(platform), 1);
    expect(sizes()).to.deep.equal({
      ...{ ...EMPTY, nodes: 1, lastReports: 1, budgets: 1, deliveringNodes: 1, environments: 1 },
    });
  });

  it('holds nothing of the nodes of an environment that was deleted', async () => {
    const environmentId = await insertEnvironment(platform);
    const [late] = await fill(environmentId, 200);
    const node = await parts.directory.authenticate(late?.token ?? '');
    await platform.db('environments').where({ id: environmentId }).delete();
    await parts.bus.publish(platform.db, { type: 'environment', environmentId });
    parts.clock.advance(3_600_000);
    expect(sizes()).to.deep.equal({ ...EMPTY, budgets: 200 });
    // A request that was under way when it was deleted leaves nothing behind.
    const failed = await parts.configs.forNode(node!).then(
      () => null,
      (error: Error) => error,
    );
    expect(failed?.message).to.be.a('string');
    expect(sizes().environments).to.equal(0);
  });

  it('holds nothing of nodes whose signals were lost, once all are read again', async () => {
    const environmentId = await insertEnvironment(platform);
    await fill(environmentId, 200);
    await platform.db('nodes').where({ environment_id: environmentId }).delete();
    await parts.directory.warm();
    expect(sizes()).to.include({ nodes: 0, lastReports: 0 });
  });

  it('holds no more than 10,000 unknown tokens, for seconds, and asks for each once', async () => {
    const unknown = mintToken('hgn').token;
    const readsOf = async (work: () => Promise<unknown>) =>
      (await statementsOf(platform, work)).filter((sql) => sql.includes('FROM nodes n'));
    const reads = await readsOf(async () => {
      for (let n = 0; n < 50; n += 1) expect(await parts.directory.authenticate(unknown)).to.equal(null);
    });
    expect(reads).to.have.length(1);
    const many = await readsOf(() =>
      Promise.all(Array.from({ length: 12_000 }, () => parts.directory.authenticate(mintToken('hgn').token))),
    );
    expect(many.length).to.be.below(5);
    expect(sizes().unknownTokens).to.equal(10_000);
    parts.clock.advance(5_000);
    expect(sizes().unknownTokens).to.equal(0);
  });

  it('forgets at once that a token was not known when another controller enrolls its node', async () => {
    const environmentId = await insertEnvironment(platform);
    const there = await startFleetParts(platform);
    try {
      await platform.db.transaction(async (tx) => {
        const [node] = (await insertNodes({ ...platform, db: tx }, environmentId, 1)) as [EnrolledNode];
        expect(await parts.directory.authenticate(node.token)).to.equal(null);
        await there.bus.publish(tx, { type: 'node', nodeId: node.nodeId, environmentId });
        return node;
      });
      // The clock stands still: it is the signal that ends it, and not the time.
      await until(() => parts.directory.sizes().nodes === 1, { what: 'the new node to be read' });
      expect(parts.directory.sizes().unknownTokens).to.equal(0);
    } finally {
      await there.stop();
    }
  });
});
