/** What is stored of the heartbeats of a large fleet, with several controllers: state at once, presence, measures by the minute. */
import { expect } from 'chai';
import fc from 'fast-check';
import { newId } from '../../../controller/platform/operation/ids.ts';
import { type ManualClock, manualClock } from '../../../reconcilers/loops/clock.ts';
import type { PipelineReport } from '../../../schemas/agent/protocol.ts';
import { usePlatform } from '../../support/harness/platform.ts';
import { until } from '../../support/harness/until.ts';
import {
  type EnrolledNode,
  type FleetParts,
  insertEnvironment,
  insertNodes,
  startFleetParts,
  statementsOf,
} from '../../support/scenes/fleet-parts.ts';

const START = Date.parse('2026-11-23T09:00:00Z');
const NODES = 6;
const PIPELINES = 3;

describe('the heartbeats of a large fleet', function () {
  this.timeout(60_000);
  const platform = usePlatform();
  let environmentId: string;
  let clock: ManualClock;
  let pipelineIds: string[];
  let nodes: EnrolledNode[];
  let here: FleetParts;
  let there: FleetParts;
  const started: FleetParts[] = [];

  const start = async (own = clock) => {
    const parts = await startFleetParts(platform, { clock: own, busyPerSecond: 0, spread: () => 0 });
    started.push(parts);
    return parts;
  };

  before(async () => {
    environmentId = await insertEnvironment(platform);
    pipelineIds = Array.from({ length: PIPELINES }, newId);
    await platform.db('pipelines').insert(
      pipelineIds.map((id) => ({
        ...{ id, uid: id, environment_id: environmentId, name: id },
      })),
    );
  });
  beforeEach(async () => {
    clock = manualClock(START);
    nodes = await insertNodes(platform, environmentId, NODES);
    here = await start();
    there = await start();
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((parts) => parts.stop()));
  });

  interface Reported {
    eventsIn?: number;
    more?: Partial<PipelineReport>;
    labels?: Record<string, string>;
    agentVersion?: string;
    pipelines?: readonly string[];
  }
  const send = async (parts: FleetParts, { token }: EnrolledNode, of: Reported = {}) => {
    const node = await parts.directory.authenticate(token);
    if (!node) throw new Error('the node is not known');
    const { eventsIn = 0, more = {}, labels = {}, agentVersion = '1' } = of;
    return parts.heartbeats.ingest(node, {
      ...{ hostMetrics: { loadAvg1: eventsIn }, agentVersion, engineVersion: 'vector 0.57.0', labels },
      pipelines: (of.pipelines ?? pipelineIds).map((pipelineId) => ({
        ...{ pipelineId, version: 1, status: 'RUNNING' as const, pid: 7, eventsIn, eventsOut: eventsIn },
        ...more,
      })),
    });
  };
  const sendAll = async (parts: FleetParts, of?: Reported) => {
    for (const node of nodes) await send(parts, node, of);
    await parts.heartbeats.flush();
  };
  const heardAt = async ({ nodeId }: EnrolledNode): Promise<number> =>
    (await platform.db('node_presence').where({ node_id: nodeId }).first('heard_at'))?.heard_at.getTime();
  const rows = ({ nodeId }: EnrolledNode, ...columns: string[]) =>
    platform
      .db('node_pipelines')
      .where({ node_id: nodeId })
      .orderBy('pipeline_id')
      .select(...columns);
  /** What is written of reports; the recorder of metrics has its own tables and times. */
  const writes = (statements: readonly string[]) =>
    statements.flatMap(
      (sql) => sql.match(/(?:UPDATE|INSERT INTO|DELETE FROM) (?:node_reports|node_pipelines|nodes)\b/g) ?? [],
    );

  it('move only when their nodes were heard, in one statement a batch, where nothing but counters has moved', async () => {
    await sendAll(here, { eventsIn: 1 });
    clock.advance(5_000);
    const statements = await statementsOf(platform, () => sendAll(here, { eventsIn: 500 }));
    expect(writes(statements)).to.deep.equal([]);
    expect(statements.filter((sql) => sql.includes('node_presence'))).to.have.length(1);
    for (const node of nodes) expect(await heardAt(node)).to.equal(START + 5_000);
    expect(await rows(nodes[0]!, 'events_in')).to.deep.equal(Array(PIPELINES).fill({ events_in: 1 }));
  });

  it('have their counters stored within a minute', async () => {
    await sendAll(here, { eventsIn: 1 });
    for (let second = 5; second <= 60; second += 5) {
      clock.advance(5_000);
      await sendAll(here, { eventsIn: second });
    }
    for (const node of nodes)
      for (const row of await rows(node, 'events_in')) expect(row.events_in).to.be.above(1);
  });

  it('have their counters stored where the clock was set back since', async () => {
    clock.advance(3_600_000);
    await sendAll(here, { eventsIn: 1 });
    clock.advance(-3_600_000);
    await sendAll(here, { eventsIn: 700 });
    expect((await rows(nodes[0]!, 'events_in'))[0]?.events_in).to.equal(700);
  });

  it('have their counters stored at once for a minute where somebody looks, in every controller, of some nodes', async () => {
    const [watched = ''] = pipelineIds;
    const crowd = await insertNodes(platform, environmentId, 60);
    const beatAll = async (eventsIn: number) => {
      for (const [index, node] of crowd.entries())
        await send(index % 2 === 0 ? here : there, node, { eventsIn, pipelines: [watched] });
      for (const parts of [here, there]) await parts.heartbeats.flush();
    };
    const fresh = async (eventsIn: number) =>
      (await platform.db('node_pipelines').where({ pipeline_id: watched, events_in: eventsIn })).length;
    await beatAll(1);
    clock.advance(1_000);
    await beatAll(2);
    expect(await fresh(2)).to.equal(0);
    expect(here.watched.isDue(watched)).to.equal(true);
    expect(here.watched.isDue(watched), 'told of once').to.equal(false);
    await here.bus.publish(platform.db, { type: 'watched', pipelineId: watched, nodes: 50 });
    await until(() => there.watched.follows(watched, 'nobody'), {
      what: 'the other controller to hear of it',
    });
    clock.advance(1_000);
    await beatAll(3);
    expect(await fresh(3)).to.equal(60);
    clock.advance(61_000);
    expect(here.watched.follows(watched, 'nobody')).to.equal(false);
    expect(there.watched.follows(watched, 'nobody')).to.equal(false);
  });

  it('follow no more than 50 nodes of a pipeline', async () => {
    const [watched = ''] = pipelineIds;
    here.watched.isDue(watched);
    const followed = Array.from({ length: 80 }, (_, index) => here.watched.follows(watched, `node-${index}`));
    expect(followed.filter(Boolean)).to.have.length(50);
    expect(here.watched.follows(watched, 'node-3')).to.equal(true);
    expect(here.watched.isDue(watched, 2_000), 'a rollout begins').to.equal(true);
    expect(here.watched.follows(watched, 'node-79')).to.equal(true);
  });

  it('have a changed state stored at once, of that node alone', async () => {
    await sendAll(here);
    clock.advance(5_000);
    const [changed, ...others] = nodes as [EnrolledNode, ...EnrolledNode[]];
    for (const node of others) await send(here, node);
    await send(here, changed, { more: { restarts: 3 } });
    await here.heartbeats.flush();
    expect(await rows(changed, 'restarts')).to.deep.equal(Array(PIPELINES).fill({ restarts: 3 }));
    expect(await rows(changed, 'reported_at')).to.deep.equal(
      Array(PIPELINES).fill({ reported_at: new Date(START + 5_000) }),
    );
    expect(await rows(others[0]!, 'reported_at')).to.deep.equal(
      Array(PIPELINES).fill({ reported_at: new Date(START) }),
    );
  });

  it('tell at once that errors have begun, and that they have ended', async () => {
    const [node] = nodes as [EnrolledNode];
    const rates = async () => (await rows(node, 'rate_errors'))[0]?.rate_errors;
    for (const [errorsTotal, rate] of [
      [0, 0],
      [50, 10],
      [50, 0],
    ] as const) {
      clock.advance(5_000);
      await send(here, node, { more: { errorsTotal } });
      await here.heartbeats.flush();
      expect(await rates()).to.equal(rate);
    }
  });

  it('store each report of a pipeline that starts, crashes, drains or refuses a version', async () => {
    const [node] = nodes as [EnrolledNode];
    for (const more of [
      { status: 'STARTING' as const },
      { status: 'CRASHED' as const },
      { draining: { version: 1, secondsLeft: 9 } },
      { refused: { version: 2, checksum: 'sha256:1', error: 'unknown field' } },
    ]) {
      for (let turn = 0; turn < 2; turn += 1) {
        clock.advance(5_000);
        await send(here, node, { more });
        await here.heartbeats.flush();
      }
      expect((await rows(node, 'reported_at'))[0]?.reported_at, JSON.stringify(more)).to.deep.equal(
        new Date(clock.now()),
      );
    }
  });

  it('cost no more after a controller was started anew, or where nodes change it with each request', async () => {
    await sendAll(here);
    const fresh = await start();
    await fresh.directory.warm();
    await fresh.configs.knownPipelines(environmentId);
    for (const parts of [fresh, there, here, fresh]) {
      clock.advance(1_000);
      const statements = await statementsOf(platform, () => sendAll(parts, { eventsIn: clock.now() }));
      expect(writes(statements)).to.deep.equal([]);
    }
    for (const node of nodes) expect(await heardAt(node)).to.equal(START + 4_000);
  });

  it('store a state that is an old one to this controller, where another has stored a newer one', async () => {
    const [node] = nodes as [EnrolledNode];
    for (const [parts, restarts] of [
      [here, 1],
      [there, 2],
      [here, 1],
    ] as const) {
      clock.advance(5_000);
      await send(parts, node, { more: { restarts } });
      await parts.heartbeats.flush();
      expect(await rows(node, 'restarts')).to.deep.equal(Array(PIPELINES).fill({ restarts }));
    }
  });

  it('do not bring back an older state that a slow controller stores late', async () => {
    const [node] = nodes as [EnrolledNode];
    await send(there, node, { more: { restarts: 1 } });
    await there.heartbeats.flush();
    clock.advance(1_000);
    await send(here, node, { more: { restarts: 2 } });
    clock.advance(1_000);
    await send(there, node, { more: { restarts: 1 } });
    await there.heartbeats.flush();
    await here.heartbeats.flush();
    expect(await rows(node, 'restarts')).to.deep.equal(Array(PIPELINES).fill({ restarts: 1 }));
    expect(await heardAt(node)).to.equal(START + 2_000);
  });

  it('are stored again at once where a clock was ahead, and was set right', async () => {
    const [node] = nodes as [EnrolledNode];
    const ahead = await start(manualClock(START + 3_600_000));
    await send(ahead, node, { more: { restarts: 1 } });
    await ahead.heartbeats.flush();
    for (const restarts of [1, 2]) {
      clock.advance(5_000);
      await send(here, node, { more: { restarts }, pipelines: pipelineIds.slice(0, 2) });
      await here.heartbeats.flush();
      expect(await heardAt(node)).to.equal(clock.now());
      expect(await rows(node, 'restarts')).to.deep.equal(Array(2).fill({ restarts }));
    }
    // The state is the stored one, and only the time was ahead.
    await send(ahead, node, { more: { restarts: 2 }, pipelines: pipelineIds.slice(0, 2) });
    await ahead.heartbeats.flush();
    await send(here, node, { more: { restarts: 2 }, pipelines: pipelineIds.slice(0, 2) });
    await here.heartbeats.flush();
    expect(await heardAt(node)).to.equal(clock.now());
  });

  it('leave nothing of a pipeline that the node no longer has, whoever has stored it', async () => {
    const [node] = nodes as [EnrolledNode];
    await send(here, node, { pipelines: pipelineIds.slice(0, 1) });
    await here.heartbeats.flush();
    clock.advance(1_000);
    await send(there, node);
    await there.heartbeats.flush();
    expect(await rows(node, 'status')).to.have.length(PIPELINES);
    clock.advance(1_000);
    await send(here, node, { pipelines: pipelineIds.slice(0, 1) });
    await here.heartbeats.flush();
    expect(await rows(node, 'pipeline_id')).to.deep.equal([{ pipeline_id: pipelineIds[0] }]);
  });

  it('bring back nothing of a node that was deleted meanwhile', async () => {
    const [node] = nodes as [EnrolledNode];
    await send(here, node);
    await platform.db('nodes').where({ id: node.nodeId }).delete();
    await here.heartbeats.flush();
    expect(await rows(node, 'status')).to.deep.equal([]);
    expect(await heardAt(node)).to.equal(undefined);
  });

  it('leave what the newest heartbeat of each node tells, whichever controllers hear and store in whatever order', async () => {
    const step = fc.record({
      node: fc.nat(NODES - 1),
      place: fc.nat(1),
      restarts: fc.nat(2),
      status: fc.constantFrom('RUNNING' as const, 'STOPPED' as const, 'CRASHED' as const),
      agentVersion: fc.constantFrom('1', '2'),
      zone: fc.constantFrom('a', 'b'),
      pipelines: fc.integer({ min: 0, max: PIPELINES }),
      flush: fc.option(fc.nat(1)),
      ms: fc.constantFrom(1, 5_000, 61_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        const places = [here, there];
        const crowd = await insertNodes(platform, environmentId, NODES);
        const newest = new Map<EnrolledNode, { at: number; expected: object }>();
        for (const {
          node: index,
          place,
          restarts,
          status,
          agentVersion,
          zone,
          pipelines,
          flush,
          ms,
        } of steps) {
          clock.advance(ms);
          const node = crowd[index]!;
          const ids = pipelineIds.slice(0, pipelines);
          await send(places[place]!, node, {
            ...{ agentVersion, labels: { zone }, pipelines: ids, more: { restarts, status } },
          });
          const expected = {
            agentVersion,
            zone,
            rows: ids.length,
            states: [...new Set(ids.map(() => `${status} ${restarts}`))],
          };
          newest.set(node, { at: clock.now(), expected });
          if (flush !== null) await places[flush]!.heartbeats.flush();
        }
        await there.heartbeats.flush();
        await here.heartbeats.flush();
        for (const [node, { at, expected }] of newest) {
          const stored = await rows(node, 'status', 'restarts');
          const report = await platform.db('node_reports').where({ node_id: node.nodeId }).first();
          expect(
            {
              ...{
                agentVersion: report?.agent_version,
                zone: report?.agent_labels.zone,
                rows: stored.length,
              },
              states: [...new Set(stored.map((row) => `${row.status} ${row.restarts}`))],
            },
            node.nodeId,
          ).to.deep.equal(expected);
          expect(await heardAt(node)).to.equal(at);
        }
      }),
      { numRuns: 25 },
    );
  });
});
