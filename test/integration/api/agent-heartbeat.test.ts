/** POST /api/agent/heartbeat: what a node tells is soon to be seen; what is wrong with it harms nothing else. */
import { expect } from 'chai';
import type { FleetNode } from '../../../schemas/api/fleet/fleet.ts';
import { enrollNode, heartbeat, type TestNode } from '../../support/agents/agent-client.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { manifest, useTwoTeams } from '../../support/scenes/two-teams.ts';

interface Reply {
  ok: boolean;
  configRevision: number;
  rejected?: { pipelineId: string; reason: string }[];
  warnings?: { pipelineId: string; reason: string }[];
}
type Seen = Omit<FleetNode, 'lastHeartbeatAt'> & { lastHeartbeatAt: string | null };

describe('a heartbeat', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  let node: TestNode;
  let pipelineId: string;
  /** Another pipeline of the same environment. */
  let other = '';
  let nodes = 0;

  async function idOf(name: string): Promise<string> {
    const list = await teams.root.query<{ id: string; name: string }[]>('pipeline.list', {
      environmentId: teams.ours.environmentId,
    });
    return list.find((one) => one.name === name)?.id ?? '';
  }

  before(async function () {
    this.timeout(30_000);
    pipelineId = teams.ours.pipelineId;
    await teams.git.commit({ 'ours/invoices.yaml': manifest('invoices') });
    const { stderr } = await teams.git.push();
    await until(async () => (await idOf('invoices')) !== '', { what: `invoices to be applied: ${stderr}` });
    other = await idOf('invoices');
  });
  beforeEach(async () => {
    const { token } = await teams.root.mutate<{ token: string }>('environment.generateEnrollmentToken', {
      environmentId: teams.ours.environmentId,
    });
    node = await enrollNode(test.url, token, { hostname: `beats-${++nodes}` });
  });

  const entry = (more: Record<string, unknown> = {}) => ({
    pipelineId,
    version: 1,
    status: 'RUNNING',
    pid: 42,
    uptimeSeconds: 12,
    eventsIn: 100,
    eventsOut: 90,
    bytesIn: 1_000,
    bytesOut: 900,
    errorsTotal: 1,
    ...more,
  });
  const beat = async (more: Record<string, unknown> = {}): Promise<Reply> => {
    const answer = await node.heartbeat(heartbeat(more));
    expect(answer.status, answer.text).to.equal(200);
    return answer.json<Reply>();
  };
  const see = () => teams.root.query<Seen>('fleet.get', { id: node.nodeId });
  /** fleet.get once it shows what is waited for, which must be within moments. */
  const seen = async (what: string, holds: (node: Seen) => boolean): Promise<Seen> => {
    await until(async () => holds(await see()), { what });
    return see();
  };
  const onNode = (view: Seen) => view.pipelines.find((one) => one.pipelineId === pipelineId);

  it('is answered with the revision that the config has', async () => {
    const reply = await beat();
    expect(reply).to.deep.equal({ ok: true, configRevision: reply.configRevision, mayOmitEmpty: true });
    expect((await node.config()).json().configRevision).to.equal(reply.configRevision);
  });

  it('shows in fleet.get within moments', async () => {
    expect((await see()).status).to.equal('UNKNOWN');
    const since = Date.now();
    await beat({
      labels: { zone: 'a' },
      runningAs: 'svc',
      pipelines: [entry()],
    });
    const view = await seen('the heartbeat', (one) => one.status === 'HEALTHY');
    expect(view).to.deep.include({
      statusReason: '',
      agentVersion: '0.6.0',
      engineVersion: 'vector 0.57.0',
      deploymentMode: 'STANDALONE',
      labels: { zone: 'a' },
      agentLabels: { zone: 'a' },
      uiLabels: {},
      runningAs: 'svc',
      pipelinesRunning: 1,
      hostMetrics: { memoryTotalBytes: 8e9, memoryUsedBytes: 4e9, cpuSecondsTotal: 100, loadAvg1: 0.5 },
      agentHealth: { pollErrorsTotal: 0, pushConnected: true, pipelinesRunning: 0, uptimeSeconds: 5 },
    });
    expect(Date.parse(view.lastHeartbeatAt ?? '')).to.be.within(since, Date.now());
    expect(onNode(view)).to.include({
      status: 'RUNNING',
      version: 1,
      pid: 42,
      eventsIn: 100,
      errorsTotal: 1,
    });
  });

  it('shows a crash, and what a node no longer reports is gone', async () => {
    const crash = { status: 'CRASHED', restarts: 2, lastError: 'exit code 78' };
    await beat({ pipelines: [entry({ ...crash, metricsPort: 8_690, apiPort: 8_691 })] });
    const crashed = await seen('the crash', (one) => one.status === 'DEGRADED');
    expect(crashed.statusReason).to.include('orders');
    expect(onNode(crashed)).to.include({ ...crash, metricsPort: 8_690, apiPort: 8_691 });
    await beat({ pipelines: [] });
    await seen('the pipeline to be pending again', (one) => onNode(one)?.status === 'PENDING');
  });

  it('shows what is drained, what was lost, warnings and what does not run', async () => {
    const remarks = {
      degraded: 'Source "in": OpenTelemetry source gRPC server failed: TCP bind failed',
      warnings: ['Source "in.metrics" has no consumers'],
      draining: { version: 1, secondsLeft: 12, undeliveredEvents: 7 },
    };
    const lastDrain = {
      version: 1,
      endedAt: '2026-01-01T00:00:00.000Z',
      lostEvents: 5_000,
      keptEvents: 6,
      sinks: [{ componentId: 'out', lostEvents: 5_000, keptEvents: 6 }],
    };
    await beat({ pipelines: [entry({ ...remarks, lastDrain })] });
    const view = await seen('the remarks', (one) => onNode(one)?.degraded != null);
    expect(onNode(view)).to.deep.include({ ...remarks, lastDrain });
    expect((await node.config()).status).to.equal(200);
    // An agent that was started again knows of no drain; the one that is stored stays, and the rest is over.
    await beat({ pipelines: [entry({ degraded: null, draining: null, lastDrain: null })] });
    const later = await seen('the end of the remarks', (one) => onNode(one)?.degraded === null);
    expect(onNode(later)).to.deep.include({ degraded: null, warnings: [], draining: null, lastDrain });
  });

  it('leaves out remarks that do not fit, and stores the rest', async () => {
    const reply = await beat({
      pipelines: [
        entry({ degraded: 'x'.repeat(5_000), warnings: [7], draining: 'yes', lastDrain: { version: 'x' } }),
      ],
    });
    expect(reply.rejected).to.equal(undefined);
    expect(reply.warnings?.map(({ reason }) => reason.split(' ')[0])).to.deep.equal([
      'degraded',
      'warnings',
      'draining',
      'lastDrain',
    ]);
    await seen('the pipeline', (one) => onNode(one)?.status === 'RUNNING');
  });

  it('of a degraded engine holds the gate at running and makes the manifest unhealthy', async () => {
    await beat({ pipelines: [entry({ degraded: 'Source "in": it is deaf' })] });
    interface Shown {
      gate: { point: string; state: string; reason: string }[];
      git: { conditions: { type: string; status: string; reason: string }[] };
    }
    const get = () => teams.root.query<Shown>('pipeline.get', { id: pipelineId });
    const running = async () => (await get()).gate.find(({ point }) => point === 'running');
    await until(async () => (await running())?.reason.includes('it is deaf') === true, {
      what: 'the gate says so',
    });
    expect(await running()).to.include({ state: 'held' });
    expect((await get()).git.conditions.find(({ type }) => type === 'Healthy')).to.include({
      status: 'False',
      reason: 'Degraded',
    });
  });

  it('takes fields that it does not know, from a newer agent', async () => {
    await beat({ novelty: { a: 1 }, pipelines: [entry({ novelty: true })] });
    await seen('the pipeline', (one) => onNode(one)?.status === 'RUNNING');
  });

  describe('with bad entries', () => {
    const million = Array(1_000_000).fill(7);
    /** What is said of each: the field, and where it is told what is wrong with that. */
    const BAD: [says: string, bad: () => unknown][] = [
      ['status must be one of RUNNING', () => entry({ pipelineId: other, status: 'DANCING' })],
      ['eventsIn', () => entry({ pipelineId: other, eventsIn: -1 })],
      ['eventsIn', () => entry({ pipelineId: other, eventsIn: 2 ** 64 })],
      ['eventsIn', () => entry({ pipelineId: other, eventsIn: '7' })],
      ['pid', () => entry({ pipelineId: other, pid: 2 ** 40 })],
      ['restarts', () => entry({ pipelineId: other, restarts: 2 ** 40 })],
      ['pipelineId is required', () => entry({ pipelineId: undefined })],
      ['pipelineId', () => entry({ pipelineId: '../../etc' })],
      ['pipelineId', () => entry({ pipelineId: 'a\0b', recentLogs: ['a line of nobody'] })],
      ['pipelineId must be a string', () => entry({ pipelineId: { toString: 1 } })],
      ['lastError', () => entry({ pipelineId: other, lastError: 'x'.repeat(5_000) })],
      ['recentLogs', () => entry({ pipelineId: other, recentLogs: million })],
      ['componentMetrics', () => entry({ pipelineId: other, componentMetrics: million })],
      ['recentLogs', () => entry({ pipelineId: other, recentLogs: 'text' })],
      ['must be an object', () => null],
      ['must be an object', () => 'pipeline'],
      ['pipelineId', () => entry({ pipelineId: 'nothing-of-ours' })],
      ['pipelineId', () => entry({ pipelineId: teams.theirs.pipelineId, recentLogs: ['a line of nobody'] })],
      ['reported twice', () => entry({ version: 9 })],
    ];

    it('refuses those alone, each with its reason', async () => {
      const good = entry({ recentLogs: ['a line of ours'] });
      const { rejected = [] } = await beat({ pipelines: [good, ...BAD.map(([, bad]) => bad())] });
      expect(rejected).to.have.length(BAD.length);
      for (const [index, [says]] of BAD.entries()) expect(rejected[index]?.reason).to.include(says);
      const view = await seen('the good entry', (one) => onNode(one)?.status === 'RUNNING');
      expect(onNode(view)?.version).to.equal(1);
      const lines = () => test.db('log_lines').where({ node_id: node.nodeId }).select('pipeline_id', 'line');
      await until(async () => (await lines()).length > 0, { what: 'the line of the good entry' });
      expect(await lines()).to.deep.equal([{ pipeline_id: pipelineId, line: 'a line of ours' }]);
      expect(await test.db('node_pipelines').where({ node_id: node.nodeId })).to.have.length(1);
    });

    it('changed nothing at the other environment', async () => {
      const { pipelines } = await teams.root.query<Seen>('fleet.get', { id: teams.theirs.node.nodeId });
      expect(pipelines[0]).to.include({ status: 'RUNNING', pid: 7 });
    });
  });

  const metric = (componentId: string) => ({
    componentId,
    componentKind: 'source',
    receivedEvents: 1,
    sentEvents: 1,
    receivedBytes: 1,
  });
  it('is stored whatever Postgres cannot keep of its texts and names', async () => {
    const { rejected } = await beat({
      labels: JSON.parse('{"a\\u0000": "b\\u0000", "__proto__": "x"}'),
      ...{ agentVersion: '1\0', engineVersion: 'v\ud800', agentHealth: { 'a\0b': 1, 'c\ud800': true } },
      hostMetrics: { 'a\0b': 1, loadAvg1: 2 },
      pipelines: [
        entry({
          ...{ recentLogs: ['a\0b', 'a\ud800b'], lastError: 'a\0b', componentMetrics: [metric('a\0b')] },
        }),
      ],
    });
    expect(rejected).to.equal(undefined);
    await seen('it', (one) => one.lastHeartbeatAt !== null && onNode(one)?.status === 'RUNNING');
  });

  describe('of an agent that somebody else wrote', () => {
    const components = async () =>
      (await test.db('node_pipelines').where({ node_id: node.nodeId }).first('components'))?.components as
        | { id: string; in: number }[]
        | undefined;

    it('may leave out the bytes of a component', async () => {
      const { receivedBytes: _, ...bare } = metric('in');
      expect(await beat({ pipelines: [entry({ componentMetrics: [bare] })] })).to.not.have.any.keys(
        'rejected',
        'warnings',
      );
      await until(async () => (await components())?.[0]?.in === 1, { what: 'the component' });
    });

    it('loses one bad component metric, and nothing else of the entry', async () => {
      const bad = { ...metric('broken'), receivedEvents: -5 };
      const reply = await beat({
        pipelines: [entry({ componentMetrics: [metric('a'), bad, 7, metric('b')] })],
      });
      expect(reply.rejected).to.equal(undefined);
      expect(reply.warnings?.map(({ pipelineId: id }) => id)).to.deep.equal([pipelineId, pipelineId]);
      expect(reply.warnings?.[0]?.reason).to.include('componentMetrics.1').and.include('receivedEvents');
      await until(async () => (await components()) !== undefined, { what: 'the entry' });
      expect((await components())?.map(({ id }) => id)).to.deep.equal(['a', 'b']);
    });

    it('may send null for what it does not know', async () => {
      const reply = await beat({
        pipelines: [entry({ eventsIn: null, utilization: null, recentLogs: null })],
      });
      expect(reply.rejected).to.equal(undefined);
      expect(onNode(await seen('the entry', (one) => onNode(one)?.status === 'RUNNING'))?.eventsIn).to.equal(
        0,
      );
    });

    it('loses a port that is none, and nothing else of the entry', async () => {
      const reply = await beat({ pipelines: [entry({ metricsPort: 0, apiPort: '8686' })] });
      expect(reply.rejected).to.equal(undefined);
      expect(reply.warnings).to.deep.equal([
        { pipelineId, reason: 'metricsPort left out: must be >= 1' },
        { pipelineId, reason: 'apiPort left out: must be an integer' },
      ]);
      const view = await seen('the entry', (one) => onNode(one)?.status === 'RUNNING');
      expect(onNode(view)).to.include({ metricsPort: null, apiPort: null, pid: 42 });
    });

    it('loses one bad host metric, and nothing else of the heartbeat', async () => {
      const hostMetrics = { memoryTotalBytes: 8e9, loadAvg1: '0.5', loadAvg5: null, disks: [1] };
      const reply = await beat({ hostMetrics, pipelines: [entry()] });
      expect(reply.rejected).to.equal(undefined);
      expect(reply.warnings).to.deep.equal([
        { pipelineId: '', reason: 'hostMetrics.loadAvg1 left out: must be a number' },
      ]);
      const view = await seen('the entry', (one) => onNode(one)?.status === 'RUNNING');
      expect(view.hostMetrics).to.deep.equal({ memoryTotalBytes: 8e9 });
    });

    it('loses host metrics of another form', async () => {
      const reply = await beat({ hostMetrics: ['0.5'], pipelines: [entry()] });
      expect(reply.warnings?.[0]?.reason).to.equal('hostMetrics left out: must be an object');
      await seen('the entry', (one) => onNode(one)?.status === 'RUNNING');
    });

    it('may send null for all of a heartbeat that it does not know', async () => {
      const reply = await beat({
        ...{ hostMetrics: null, agentVersion: null, deploymentMode: null, labels: null, agentHealth: null },
        ...{ runningAs: null, pollIntervalMs: null, deliversLogs: null, pipelines: [entry()] },
      });
      expect(reply).to.not.have.any.keys('rejected', 'warnings');
      await seen('the entry', (one) => onNode(one)?.status === 'RUNNING');
    });

    it('counts other words for a crash as CRASHED', async () => {
      for (const status of ['CRASH_LOOP', 'crashed', 'CrashLoopBackOff']) {
        await beat({ pipelines: [] });
        await seen('no crash', (one) => onNode(one)?.status === 'PENDING');
        expect((await beat({ pipelines: [entry({ status })] })).rejected).to.equal(undefined);
        await seen(status, (one) => onNode(one)?.status === 'CRASHED');
      }
    });

    it('keeps the engine version that was reported last where one says none, and takes vectorVersion for it', async () => {
      await beat({ engineVersion: undefined, vectorVersion: 'vector 0.55.0' });
      await seen('the alias', (one) => one.engineVersion === 'vector 0.55.0');
      await beat({ engineVersion: undefined, runningAs: 'later' });
      const later = await seen('the heartbeat without one', (one) => one.runningAs === 'later');
      expect(later.engineVersion).to.equal('vector 0.55.0');
    });

    it('keeps the engine version of a heartbeat that the next one overtook before it was stored', async () => {
      // Which of the two comes first is not for the sender to say.
      await Promise.all([
        beat({ engineVersion: 'vector 0.56.0', runningAs: 'next' }),
        beat({ engineVersion: undefined, runningAs: 'next' }),
      ]);
      await seen(
        'what each of them says',
        (one) => one.runningAs === 'next' && one.engineVersion === 'vector 0.56.0',
      );
    });

    it('shows the engine version of its enrollment until a heartbeat says one', async () => {
      const { token } = await teams.root.mutate<{ token: string }>('environment.generateEnrollmentToken', {
        environmentId: teams.ours.environmentId,
      });
      const enrolledWith = async (hostname: string, vectorVersion: string | undefined) => {
        const { nodeId } = await enrollNode(test.url, token, { hostname, engineVersion: '', vectorVersion });
        return (await teams.root.query<Seen>('fleet.get', { id: nodeId })).engineVersion;
      };
      expect(await enrolledWith('foreign', 'vector 0.54.0')).to.equal('vector 0.54.0');
      expect(await enrolledWith('without', undefined), 'an empty one is none').to.equal(null);
    });
  });

  it('never leads to negative rates, though counters shrink', async () => {
    await beat({ pipelines: [entry({ eventsIn: 1_000, bytesIn: 5_000 })] });
    await seen('the first', (one) => onNode(one)?.eventsIn === 1_000);
    // Rates are taken over at least 200 ms.
    const since = Date.now();
    await until(() => Date.now() - since > 300, { what: 'time to pass' });
    await beat({ pipelines: [entry({ eventsIn: 30, bytesIn: 5_000 })] });
    const view = await seen('the restart', (one) => onNode(one)?.eventsIn === 30);
    const rates = onNode(view)?.rates;
    expect(rates?.eventsIn).to.be.within(1, 30 / 0.3);
    expect(rates?.bytesIn).to.equal(0);
    for (const [name, rate] of Object.entries(rates ?? {}))
      if (name !== 'asOf') expect(rate, name).to.be.at.least(0);
  });

  it('keeps the rates of an engine that cannot be read, with the time that they are of', async () => {
    const pollIntervalMs = 1_000;
    await beat({ pollIntervalMs, pipelines: [entry({ eventsIn: 1_000 })] });
    await seen('the first', (one) => onNode(one)?.eventsIn === 1_000);
    const since = Date.now();
    await until(() => Date.now() - since > 300, { what: 'time to pass' });
    await beat({ pollIntervalMs, pipelines: [entry({ eventsIn: 1_300 })] });
    const fresh = onNode(await seen('the second', (one) => onNode(one)?.eventsIn === 1_300))?.rates;
    expect(fresh?.asOf).to.equal(null);
    expect(fresh?.eventsIn).to.be.greaterThan(0);
    await beat({ pollIntervalMs, pipelines: [entry({ eventsIn: 1_300, metricsAgeSeconds: 40 })] });
    const old = onNode(await seen('the age', (one) => Boolean(onNode(one)?.rates.asOf)))?.rates;
    expect(old?.eventsIn).to.equal(fresh?.eventsIn);
    expect(Date.now() - new Date(old?.asOf ?? 0).getTime()).to.be.within(40_000, 60_000);
  });

  it('cannot be written for another node: the token alone says whose it is', async () => {
    await beat({
      nodeId: teams.theirs.node.nodeId,
      environmentId: teams.theirs.environmentId,
      runningAs: 'impostor',
    });
    await seen('it at this node', (one) => one.runningAs === 'impostor');
    const stranger = await teams.root.query<Seen>('fleet.get', { id: teams.theirs.node.nodeId });
    expect(stranger.runningAs).to.equal(null);
  });

  it('is refused with its first fault, however many it has', async () => {
    const labels = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`label-${n}`, n]));
    const answer = await node.heartbeat(heartbeat({ labels }));
    expect(answer.status).to.equal(400);
    expect(answer.json().error).to.equal('labels.label-0 must be a string');
  });

  it('answers 400 to what is none', async () => {
    for (const body of [
      ...['null', '{}', '{"pipelines": {}}', '{"pipelines": [', '{"pipelines":[],"deploymentMode":"MOON"}'],
      JSON.stringify({ pipelines: Array(3_000).fill({}) }),
    ]) {
      const answer = await node.heartbeat(body, { 'content-type': 'application/json' });
      expect(answer.status, body.slice(0, 50)).to.equal(400);
      expect(answer.json().error).to.be.a('string');
    }
  });

  it('takes a body of nearly 8 MiB and answers 413 above, told beforehand or not', async () => {
    const filled = (bytes: number) => {
      const body = JSON.stringify(heartbeat({ padding: '' }));
      return body.replace('"padding":""', `"padding":"${'x'.repeat(bytes - body.length)}"`);
    };
    const limit = 8 * 1024 * 1024;
    expect((await node.heartbeat(filled(limit))).status).to.equal(200);
    for (const chunked of [false, true]) {
      const answer = await node.heartbeat(
        filled(limit + 1),
        chunked ? { 'transfer-encoding': 'chunked' } : {},
      );
      expect(answer.status, chunked ? 'chunked' : 'with its length').to.equal(413);
      expect(answer.json().error).to.include('8388608');
    }
  });

  it('counts the agent’s labels from the next config on', async () => {
    const before = (await beat({ labels: { zone: 'a' } })).configRevision;
    const after = (await beat({ labels: { zone: 'b' } })).configRevision;
    expect(after).to.be.above(before);
    expect((await node.config()).json().configRevision).to.equal(after);
  });

  it('keeps labels that are not stored yet, though the node is read again meanwhile', async () => {
    const revisionNow = async () => (await node.config()).json().configRevision as number;
    await beat({ labels: { zone: 'a' } });
    await seen('the first labels', ({ labels }) => labels.zone === 'a');
    const before = await revisionNow();
    const lock = await test.db.transaction();
    try {
      await lock.raw('LOCK TABLE node_reports IN EXCLUSIVE MODE');
      const after = (await beat({ labels: { zone: 'b' } })).configRevision;
      expect(after).to.be.above(before);
      const signal = { type: 'node', nodeId: node.nodeId, environmentId: teams.ours.environmentId };
      for (let read = 0; read < 40; read += 1) {
        await test.db.raw("SELECT pg_notify('headgate', ?)", [JSON.stringify(signal)]);
        expect(await revisionNow()).to.be.at.least(after);
      }
    } finally {
      await lock.rollback();
    }
    await seen('the labels that came last', ({ labels }) => labels.zone === 'b');
  });
});
