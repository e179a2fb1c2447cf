/** What alert rules make of what nodes report: on a real database, by a clock that the test moves. */
import { expect } from 'chai';
import type { Knex } from 'knex';
import { createSnapshots } from '../../../controller/fleet/status/index.ts';
import { createCounterWindows, evaluateAlerts } from '../../../controller/insight/alerts/index.ts';
import { type AlertNotice, enqueueNotices } from '../../../controller/insight/notifications/index.ts';
import type { Context, Services } from '../../../controller/platform/operation/context.ts';
import { newId } from '../../../controller/platform/operation/ids.ts';
import { type ManualClock, manualClock } from '../../../reconcilers/loops/clock.ts';
import type { PipelineReport } from '../../../schemas/agent/protocol.ts';
import { QUIET, usePlatform } from '../../support/harness/platform.ts';
import {
  type EnrolledNode,
  type FleetParts,
  insertEnvironment,
  insertNodes,
  startFleetParts,
} from '../../support/scenes/fleet-parts.ts';

const START = Date.parse('2026-11-23T09:00:00Z');
const EVERY_MS = 15_000;

describe('evaluations of alert rules', function () {
  this.timeout(60_000);
  const platform = usePlatform();
  let environmentId: string;
  let pipelineIds: string[];
  let clock: ManualClock;
  let parts: FleetParts;
  let nodes: EnrolledNode[];
  let controller: Controller;
  let sent: AlertNotice[];

  interface Controller {
    listeningSince: number;
    windows: ReturnType<typeof createCounterWindows>;
    statuses: ReturnType<typeof createSnapshots>;
  }
  /** A controller that begins to lead: what it holds in memory is empty. */
  const startController = (listeningSince = 0): Controller => ({
    ...{ listeningSince, windows: createCounterWindows() },
    statuses: createSnapshots({ bus: parts.bus, clock }),
  });
  const restart = () => {
    controller.statuses.stop();
    controller = startController(clock.now());
  };

  beforeEach(async () => {
    clock = manualClock(START);
    parts = await startFleetParts(platform, { clock });
    environmentId = await insertEnvironment(platform);
    pipelineIds = [newId(), newId()];
    for (const id of pipelineIds) await insertDeployed(platform.db, environmentId, id);
    nodes = await insertNodes(platform, environmentId, 3);
    controller = startController();
    sent = [];
  });
  afterEach(async () => {
    controller.statuses.stop();
    await parts.stop();
  });

  interface Reported {
    host?: Record<string, number>;
    pipeline?: Partial<PipelineReport>;
  }
  const report = async ({ token }: EnrolledNode, { host = {}, pipeline = {} }: Reported = {}) => {
    const node = await parts.directory.authenticate(token);
    if (!node) throw new Error('the node is not known');
    await parts.heartbeats.ingest(node, {
      ...{ hostMetrics: host, agentVersion: '1', engineVersion: 'vector 0.57.0', labels: { rack: 'r7' } },
      pipelines: pipelineIds.map((pipelineId) => ({
        ...{ pipelineId, version: 1, status: 'RUNNING' as const, pid: 7, ...pipeline },
      })),
    });
  };
  const evaluate = async (more: Partial<Context> = {}) => {
    await parts.heartbeats.flush();
    const { windows, statuses, listeningSince } = controller;
    const services = {
      bus: parts.bus,
      statuses,
      listeningSince: () => listeningSince,
    } as unknown as Services;
    const ctx: Context = {
      ...{ db: platform.db, clock, log: QUIET, services, actor: { type: 'system', name: 'alerts' } },
      ...{ signal: AbortSignal.timeout(60_000), requestId: 'alerts', ipAddress: null },
      ...more,
    };
    statuses.drop();
    return evaluateAlerts(ctx, environmentId, {
      windows,
      notify: async (inside, notices) => {
        sent.push(...notices);
        await enqueueNotices(inside, notices);
      },
    });
  };
  /** Evaluates every 15 s; `each` reports before each evaluation. */
  const follow = async (seconds: number, each: (second: number) => Promise<void> = async () => {}) => {
    for (let second = 0; second < seconds; second += EVERY_MS / 1_000) {
      clock.advance(EVERY_MS);
      await each(second);
      await evaluate();
    }
  };
  const reportAll = async (of?: Reported) => {
    for (const node of nodes) await report(node, of);
  };

  const rule = async (more: object = {}): Promise<string> => {
    const id = newId();
    await platform.db('alert_rules').insert({
      ...{ id, environment_id: environmentId, name: `rule ${id}`, metric: 'cpu_usage', condition: 'gt' },
      ...{ threshold: 90, duration_seconds: 60, ...more },
    });
    return id;
  };
  const events = (ruleId?: string) =>
    platform
      .db('alert_events')
      .where({ environment_id: environmentId, ...(ruleId ? { rule_id: ruleId } : {}) })
      .orderBy('subject');
  const timeline = async (eventId: string) =>
    (await platform.db('alert_event_changes').where({ event_id: eventId }).orderBy('id')).map(
      ({ kind, note }) => (note === null ? kind : `${kind}: ${note}`),
    );
  const notices = () => sent.map(({ status, node, pipeline }) => `${status} ${node?.id ?? pipeline?.id}`);

  it('need nothing while an environment has no rules', async () => {
    expect(await evaluate()).to.equal(false);
    await rule({ enabled: false });
    expect(await evaluate()).to.equal(false);
    await rule();
    expect(await evaluate()).to.equal(true);
  });

  it('open an event for each busy node, once its processor has been busy for the duration', async () => {
    const id = await rule();
    const [first, second] = nodes as [EnrolledNode, EnrolledNode];
    const each = async () => {
      await report(first, { host: { memoryUsedBytes: 1, memoryTotalBytes: 1 } });
      await report(second, {});
    };
    await rule({ metric: 'memory_usage', threshold: 99, duration_seconds: 30 });
    await follow(30, each);
    expect(await events()).to.deep.equal([]);
    await follow(15, each);
    const [event, ...others] = await events();
    expect(others).to.deep.equal([]);
    expect(event).to.include({
      node_id: first.nodeId,
      pipeline_id: null,
      status: 'firing',
      value: 100,
      peak: 100,
    });
    expect(event?.message).to.equal(`Memory usage of ${first.nodeId} is 100 % (above 99 % for 30 s)`);
    expect(event?.fired_at.getTime()).to.equal(clock.now());
    expect(await timeline(event?.id ?? '')).to.deep.equal(['fired']);
    await follow(60, each);
    expect(await events()).to.have.length(1);
    expect(await events(id)).to.deep.equal([]);
    expect(notices()).to.deep.equal([`firing ${first.nodeId}`]);
    expect(sent[0]?.node?.labels).to.deep.equal({ rack: 'r7' });
  });

  it('read processor and disk usage from what the host reports', async () => {
    const cpu = await rule({ duration_seconds: 0, threshold: 50 });
    const disk = await rule({ duration_seconds: 0, metric: 'disk_usage', threshold: 79 });
    const started = clock.now() / 1_000;
    await follow(30, async () => {
      const total = clock.now() / 1_000;
      const host = {
        cpuSecondsTotal: total,
        cpuSecondsIdle: started + (total - started) * 0.25,
        fsUsedBytes: 8,
        fsTotalBytes: 10,
      };
      await report(nodes[0]!, { host });
    });
    expect((await events(cpu)).map(({ value }) => Math.round(value ?? 0))).to.deep.equal([75]);
    expect((await events(disk)).map(({ value }) => value)).to.deep.equal([80]);
  });

  it('resolve an event when the condition has not held for 30 seconds, and send both', async () => {
    const id = await rule({ metric: 'memory_usage', duration_seconds: 0 });
    const usage = (used: number) =>
      report(nodes[0]!, { host: { memoryUsedBytes: used, memoryTotalBytes: 100 } });
    await follow(15, () => usage(95));
    await follow(15, () => usage(99));
    await follow(45, () => usage(10));
    const [event] = await events();
    expect(event).to.include({ status: 'resolved', value: 10, peak: 99, resolved_reason: null });
    expect(await timeline(event?.id ?? '')).to.deep.equal(['fired', 'resolved']);
    expect(notices()).to.deep.equal([`firing ${nodes[0]?.nodeId}`, `resolved ${nodes[0]?.nodeId}`]);
    expect(await platform.db('alert_states').where({ rule_id: id })).to.deep.equal([]);
  });

  it('open the same event again where it fires soon after, and another one later', async () => {
    await rule({ metric: 'memory_usage', duration_seconds: 0 });
    const usage = (used: number) =>
      report(nodes[0]!, { host: { memoryUsedBytes: used, memoryTotalBytes: 100 } });
    await follow(15, () => usage(95));
    await follow(45, () => usage(10));
    await follow(15, () => usage(95));
    const [event] = await events();
    expect(event).to.include({ status: 'firing', times: 2, resolved_at: null });
    expect(await timeline(event?.id ?? '')).to.deep.equal(['fired', 'resolved', 'fired_again']);
    // It takes a minute now.
    await follow(60, () => usage(10));
    expect((await events())[0]?.status).to.equal('firing');
    await follow(15, () => usage(10));
    expect((await events())[0]?.status).to.equal('resolved');
    clock.advance(31 * 60_000);
    await follow(15, () => usage(95));
    expect((await events()).map(({ status, times }) => `${status} ${times}`).sort()).to.deep.equal([
      'firing 1',
      'resolved 2',
    ]);
  });

  it('call a silent node unreachable, and resolve what else was firing there for want of data', async () => {
    const silent = await rule({
      metric: 'node_unreachable',
      condition: 'eq',
      threshold: 1,
      duration_seconds: 0,
    });
    const memory = await rule({ metric: 'memory_usage', duration_seconds: 0 });
    await follow(15, () => reportAll({ host: { memoryUsedBytes: 99, memoryTotalBytes: 100 } }));
    expect(await events(memory)).to.have.length(3);
    const rest = nodes.slice(1);
    await follow(90, async () => {
      for (const node of rest) await report(node, { host: { memoryUsedBytes: 99, memoryTotalBytes: 100 } });
    });
    const [event, ...others] = await events(silent);
    expect(others).to.deep.equal([]);
    expect(event).to.include({
      node_id: nodes[0]?.nodeId,
      status: 'firing',
      message: `${nodes[0]?.nodeId} is unreachable`,
    });
    const resolved = (await events(memory)).filter(({ status }) => status === 'resolved');
    expect(resolved.map((one) => [one.node_id, one.resolved_reason])).to.deep.equal([
      [nodes[0]?.nodeId, 'no data'],
    ]);
  });

  it('sum the errors of a pipeline over its nodes, and need a minute for a rate', async () => {
    const id = await rule({ metric: 'error_rate', threshold: 29, duration_seconds: 0 });
    await follow(75, (second) => reportAll({ pipeline: { errorsTotal: 10 * second } }));
    const found = await events(id);
    expect(found.map(({ pipeline_id }) => pipeline_id).sort()).to.deep.equal([...pipelineIds].sort());
    expect(found.map(({ value, node_id }) => [value, node_id])).to.deep.equal([
      [30, null],
      [30, null],
    ]);
    expect(found[0]?.message).to.match(/ reports 30 errors\/s \(above 29\/s\)$/);
  });

  it('count an engine that is started again and again as crashed, on the node where it crashes', async () => {
    const id = await rule({
      ...{ metric: 'pipeline_crashed', condition: 'eq', threshold: 1, duration_seconds: 60 },
      pipeline_id: pipelineIds[0],
    });
    const [sick, ...well] = nodes as [EnrolledNode, ...EnrolledNode[]];
    await follow(150, async (second) => {
      await report(sick, { pipeline: { restarts: second / 15, pid: second } });
      for (const node of well) await report(node);
    });
    const found = await events(id);
    expect(found).to.have.length(1);
    expect(found[0]).to.include({ node_id: sick.nodeId, pipeline_id: pipelineIds[0], status: 'firing' });
  });

  it('lose nothing in a restart: neither how long a condition has held, nor an open event', async () => {
    const memory = await rule({ metric: 'memory_usage', duration_seconds: 60 });
    const errors = await rule({ metric: 'error_rate', threshold: 1, duration_seconds: 0 });
    const silent = await rule({
      metric: 'node_unreachable',
      condition: 'eq',
      threshold: 1,
      duration_seconds: 0,
    });
    let total = 0;
    const each = async () => {
      total += 1_000;
      for (const node of nodes.slice(1))
        await report(node, {
          host: { memoryUsedBytes: 99, memoryTotalBytes: 100 },
          pipeline: { errorsTotal: total },
        });
    };
    await report(nodes[0]!);
    await follow(45, each);
    restart();
    await follow(30, each);
    // 60 seconds after the first of them, although half of it was seen by another controller.
    expect(await events(memory)).to.have.length(2);
    await follow(60, each);
    expect(await events(errors)).to.have.length(2);
    expect((await events(silent)).map(({ status }) => status)).to.deep.equal(['firing']);
    const before = await events();
    restart();
    await follow(30, each);
    restart();
    await follow(90, each);
    expect((await events()).map(({ id, status, times }) => [id, status, times])).to.deep.equal(
      before.map(({ id, status, times }) => [id, status, times]),
    );
  });

  it('go on with a pipeline that crashes once in a while, in a controller that has not seen it start', async () => {
    const id = await rule({
      ...{ metric: 'pipeline_crashed', condition: 'eq', threshold: 1, duration_seconds: 0 },
      pipeline_id: pipelineIds[0],
    });
    const [sick, ...well] = nodes as [EnrolledNode, ...EnrolledNode[]];
    const each = async (last = Number.POSITIVE_INFINITY) => {
      const restarts = Math.min(Math.floor((clock.now() - START) / 45_000), last);
      await report(sick, { pipeline: { restarts, pid: restarts + 1 } });
      for (const node of well) await report(node);
    };
    const state = async () => (await events(id)).map(({ status, times }) => [status, times]);
    await follow(90, () => each());
    expect(await state()).to.deep.equal([['firing', 1]]);
    clock.advance(5_000);
    restart();
    await each();
    await evaluate();
    await follow(150, () => each());
    expect(await state()).to.deep.equal([['firing', 1]]);
    await follow(120, () => each(5));
    expect(await state()).to.deep.equal([['resolved', 1]]);
  });

  it('take no sum of rates that lacks a node, in a controller that begins to lead', async () => {
    const id = await rule({ metric: 'error_rate', threshold: 29, duration_seconds: 0 });
    const [late, ...often] = nodes as [EnrolledNode, ...EnrolledNode[]];
    const reported = () => ({ pipeline: { errorsTotal: (clock.now() - START) / 100 } });
    await follow(75, () => reportAll(reported()));
    const before = await events(id);
    expect(before.map(({ status }) => status)).to.deep.equal(['firing', 'firing']);
    restart();
    await evaluate();
    sent = [];
    await follow(150, async (second) => {
      for (const node of often) await report(node, reported());
      // Its other heartbeats move only the time when it was heard.
      if (second % 60 === 45) await report(late, reported());
      await platform.db('node_presence').update({ heard_at: new Date(clock.now()) });
    });
    expect(notices()).to.deep.equal([]);
    expect((await events(id)).map(({ status }) => status)).to.deep.equal(['firing', 'firing']);
  });

  it('find nothing in reports from before an outage, in which a condition may have ended', async () => {
    const memory = await rule({ metric: 'memory_usage' });
    const crashed = await rule({ metric: 'pipeline_crashed', condition: 'eq', threshold: 1 });
    const bad: Reported = {
      host: { memoryUsedBytes: 99, memoryTotalBytes: 100 },
      pipeline: { status: 'CRASHED' },
    };
    await follow(15, () => reportAll(bad));
    clock.advance(120_000);
    restart();
    await evaluate();
    expect(await events()).to.deep.equal([]);
    expect(await platform.db('alert_states').where({ rule_id: memory })).to.have.length(3);
    const [first, ...well] = nodes as [EnrolledNode, ...EnrolledNode[]];
    await follow(30, async () => {
      await report(first, bad);
      for (const node of well) await report(node, { host: { memoryUsedBytes: 1, memoryTotalBytes: 100 } });
    });
    // On that node the condition holds still, and has since before.
    expect((await events(memory)).map(({ node_id }) => node_id)).to.deep.equal([first.nodeId]);
    expect((await events(crashed)).map(({ node_id }) => node_id)).to.deep.equal([first.nodeId, first.nodeId]);
  });

  it('read no usage of the host that is older than the heartbeats of a large fleet', async () => {
    await rule({ metric: 'memory_usage' });
    await follow(15, () => reportAll({ host: { memoryUsedBytes: 99, memoryTotalBytes: 100 } }));
    clock.advance(120_000);
    restart();
    // The first heartbeats after a start move only the time when a node was heard.
    await platform.db('node_presence').update({ heard_at: new Date(clock.now()) });
    await evaluate();
    expect(await events()).to.deep.equal([]);
    await follow(15, () => reportAll({ host: { memoryUsedBytes: 1, memoryTotalBytes: 100 } }));
    expect(await events()).to.deep.equal([]);
  });

  it('send nothing of what is muted, and send it once it is muted no more', async () => {
    await rule({ metric: 'memory_usage', duration_seconds: 0 });
    const [first, second] = nodes as [EnrolledNode, EnrolledNode];
    await platform.db('nodes').where({ id: first.nodeId }).update({ maintenance: true });
    const silence = newId();
    await platform.db('alert_silences').insert({
      ...{ id: silence, environment_id: environmentId, name: silence, reason: 'disks are replaced' },
      matchers: JSON.stringify({ rack: 'r*', node: second.nodeId }),
      ...{ starts_at: new Date(START), ends_at: new Date(START + 60_000) },
    });
    const full = { host: { memoryUsedBytes: 99, memoryTotalBytes: 100 } };
    await follow(45, () => reportAll(full));
    expect(notices()).to.deep.equal([`firing ${nodes[2]?.nodeId}`]);
    const muted = new Map((await events()).map(({ node_id, muted_by }) => [node_id, muted_by]));
    expect([muted.get(first.nodeId), muted.get(second.nodeId)]).to.deep.equal(['maintenance', silence]);
    sent = [];
    await follow(30, () => reportAll(full));
    expect(notices()).to.deep.equal([`firing ${second.nodeId}`]);
    await platform.db('nodes').where({ id: first.nodeId }).update({ maintenance: false });
    sent = [];
    await follow(15, () => reportAll(full));
    expect(notices()).to.deep.equal([`firing ${first.nodeId}`]);
    const event = (await events()).find(({ node_id }) => node_id === first.nodeId);
    expect(await timeline(event?.id ?? '')).to.deep.equal([
      'fired',
      'muted: the node is in maintenance',
      'unmuted',
    ]);
  });

  it('send no end of what was never sent, and the end of what was sent before it was muted', async () => {
    await rule({ metric: 'memory_usage', duration_seconds: 0 });
    const [first, second] = nodes as [EnrolledNode, EnrolledNode];
    const usage = async (used: number) => {
      for (const node of [first, second])
        await report(node, { host: { memoryUsedBytes: used, memoryTotalBytes: 100 } });
    };
    await platform.db('nodes').where({ id: first.nodeId }).update({ maintenance: true });
    await follow(15, () => usage(99));
    await platform.db('nodes').where({ id: second.nodeId }).update({ maintenance: true });
    await follow(60, () => usage(10));
    expect(notices()).to.deep.equal([`firing ${second.nodeId}`, `resolved ${second.nodeId}`]);
  });

  it('send the end with the names of environment and team with which the beginning was sent', async () => {
    await rule({ metric: 'memory_usage', duration_seconds: 0 });
    const used = (memoryUsedBytes: number) => reportAll({ host: { memoryUsedBytes, memoryTotalBytes: 100 } });
    await follow(15, () => used(99));
    const [began] = sent;
    await platform.db('environments').where({ id: environmentId }).update({ name: 'renamed' });
    await platform.db('teams').where({ id: began?.team.id }).update({ name: 'renamed too' });
    await follow(60, () => used(1));
    const ends = sent.filter(({ status }) => status === 'resolved');
    expect(ends).to.have.length(3);
    for (const { environment, team } of ends)
      expect({ environment, team }).to.deep.equal({ environment: began?.environment, team: began?.team });
    const open = platform.db('notification_open_events').where({ environment_id: environmentId });
    expect(await open).to.deep.equal([]);
  });

  it('resolve the events of rules that are deleted or disabled, and of nodes that are gone', async () => {
    const full = { host: { memoryUsedBytes: 99, memoryTotalBytes: 100 } };
    const [deleted, disabled, other] = [
      await rule({ metric: 'memory_usage', duration_seconds: 0 }),
      await rule({ metric: 'memory_usage', duration_seconds: 0 }),
      await rule({ metric: 'memory_usage', duration_seconds: 0 }),
    ];
    await follow(15, () => reportAll(full));
    expect(await events()).to.have.length(9);
    await platform.db('alert_rules').where({ id: deleted }).delete();
    await platform.db('alert_rules').where({ id: disabled }).update({ enabled: false });
    await platform.db('nodes').where({ id: nodes[0]?.nodeId }).update({ archived_at: new Date() });
    await follow(15, () => Promise.all(nodes.slice(1).map((node) => report(node, full))).then(() => {}));
    const reasons = async (ruleId: string) => [
      ...new Set((await events(ruleId)).map(({ status, resolved_reason }) => `${status} ${resolved_reason}`)),
    ];
    expect(await reasons(deleted)).to.deep.equal(['resolved its rule was deleted']);
    expect(await reasons(disabled)).to.deep.equal(['resolved its rule was disabled']);
    expect((await reasons(other)).sort()).to.deep.equal([
      'firing null',
      'resolved it is not watched any more',
    ]);
    await platform.db('alert_rules').where({ id: other }).delete();
    expect(await evaluate()).to.equal(true);
    expect(await evaluate()).to.equal(false);
  });

  it('note how many series a rule has, how many report a value, wait and fire', async () => {
    const none = await rule({ metric: 'disk_usage' });
    const some = await rule({ metric: 'memory_usage', duration_seconds: 60 });
    await follow(15, () => reportAll({ host: { memoryUsedBytes: 99, memoryTotalBytes: 100 } }));
    const counts = async (ruleId: string) => {
      const row = await platform.db('alert_rule_evaluations').where({ rule_id: ruleId }).first();
      return row && [row.series, row.with_value, row.pending, row.firing];
    };
    expect(await counts(none)).to.deep.equal([3, 0, 0, 0]);
    expect(await counts(some)).to.deep.equal([3, 3, 3, 0]);
    await follow(60, () => reportAll({ host: { memoryUsedBytes: 99, memoryTotalBytes: 100 } }));
    expect(await counts(some)).to.deep.equal([3, 3, 0, 3]);
  });

  it('write nothing in a controller that has lost its lease', async () => {
    await rule({ metric: 'memory_usage', duration_seconds: 0 });
    await reportAll({ host: { memoryUsedBytes: 99, memoryTotalBytes: 100 } });
    const outcome = evaluate({ fence: () => Promise.reject(new Error('another controller leads')) });
    expect(await outcome.catch((error: Error) => error.message)).to.equal('another controller leads');
    expect(await events()).to.deep.equal([]);
    expect(sent).to.deep.equal([]);
  });
});

async function insertDeployed(db: Knex, environmentId: string, id: string): Promise<void> {
  const version = newId();
  await db.transaction(async (tx) => {
    await tx('pipelines').insert({
      ...{
        id,
        uid: id,
        environment_id: environmentId,
        name: id,
        is_draft: false,
        deployed_at: new Date(START),
      },
      ...{ latest_version_id: version, deployed_version_id: version },
    });
    await tx('pipeline_versions').insert({
      ...{
        id: version,
        pipeline_id: id,
        version: 1,
        config_yaml: 'sources: {}',
        log_level: 'info',
        source: 'ui',
      },
      ...{ graph_nodes: '[]', graph_edges: '[]', global_config: '{}' },
    });
  });
}
