/** Memory of the compiled agent under floods, and with many pipelines. */
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { ENGINE, ensureAgent } from '../e2e/agent/agent-process.ts';
import { faulty, makeScene, residentBytes, type Scene } from '../e2e/agent/scene.ts';
import { pipeline, send } from '../e2e/agent/scripted-server.ts';
import { tapsOf } from '../support/agents/tap-processes.ts';
import { until } from '../support/harness/until.ts';

describe('the memory of an agent', function () {
  this.timeout(60_000);
  let scene: Scene;

  before(ensureAgent);
  beforeEach(async () => {
    scene = await makeScene();
  });
  afterEach(() => scene.close());

  it('stays what it was under 10,000 push messages within a second, and so do polls and heartbeats', async () => {
    const { server, runCompiled, reach } = scene;
    server.pollIntervalMs = 60_000;
    server.pipelines = [faulty('p1', 'idle')];
    const agent = runCompiled({ SVC_LOG_LEVEL: 'info' });
    await reach('p1', 'RUNNING');
    await until(() => server.pushStreams.length === 1, { what: 'the push stream is open' });
    const flood = () => {
      for (let count = 0; count < 10_000; count += 1)
        server.push({ type: 'config_changed', reason: `change ${count}` });
    };
    // The first round grows what the next ones use again.
    flood();
    await until(() => server.polls.length >= 3, { what: 'polls have begun' });
    let held = 0;
    let most = 0;
    let inFlight = 0;
    server.override.config = (_, response) => {
      held += 1;
      inFlight += 1;
      most = Math.max(most, inFlight);
      setTimeout(() => {
        inFlight -= 1;
        send(response, 200, { pipelines: server.pipelines, pollIntervalMs: 60_000 });
      }, 100);
    };
    await until(() => held >= 1, { what: 'polls are slow' }).catch(() => {});
    const before = residentBytes(agent.pid);
    const beats = server.heartbeats.length;
    for (let round = 0; round < 3; round += 1) flood();
    const last = held;
    await until(() => held > last + 1, { what: 'polls follow' });
    await until(() => inFlight === 0, { what: 'the last poll is answered', everyMs: 400 });
    expect(most).to.equal(1);
    expect(held).to.be.below(40);
    expect(server.heartbeats.length - beats).to.be.below(8);
    expect(residentBytes(agent.pid) - before).to.be.below(16 * 1024 * 1024);
  });

  it('is bounded under a flood of output and a line of 10 MB', async () => {
    const { server, place, runCompiled, reach } = scene;
    server.pipelines = [faulty('flood', 'flood'), faulty('long', 'long-line')];
    const agent = runCompiled();
    await reach('flood', 'RUNNING');
    const file = place.path('data/flood/rounds');
    const rounds = () => (existsSync(file) ? readFileSync(file).length : 0);
    const before = rounds();
    await until(() => rounds() >= before + 10, { what: 'the flood goes on' });
    expect(residentBytes(agent.pid, 'VmHWM')).to.be.below(200 * 1024 * 1024);
  });

  it('is bounded when twenty requests for samples come at once, by four taps at a time', async () => {
    const { server, place, runCompiled, reach } = scene;
    const configYaml = `sources:
  in: { type: demo_logs, format: shuffle, lines: ["one"], interval: 0.02 }
  other: { type: demo_logs, format: shuffle, lines: ["one"], interval: 0.02 }
sinks:
  out: { type: blackhole, inputs: [in, other], print_interval_secs: 0 }
`;
    server.pipelines = [pipeline('p1', { configYaml })];
    const agent = runCompiled({ SVC_ENGINE_BIN: ENGINE });
    await reach('p1', 'RUNNING');
    await until(() => server.pushStreams.length === 1, { what: 'the push stream is open' });
    const before = residentBytes(agent.pid);
    const ids = Array.from({ length: 20 }, (_, index) => `request-${index}`);
    for (const requestId of ids) {
      const request = { requestId, pipelineId: 'p1', componentKeys: ['in', 'other'], limit: 20 };
      server.push({ type: 'sample_request', ...request });
    }
    let most = 0;
    await until(
      () => {
        most = Math.max(most, tapsOf(place.portBase + 1).length);
        return ids.every((id) => server.resultsOf(id).length === 2);
      },
      { what: 'all are answered', timeoutMs: 35_000, everyMs: 20 },
    );
    expect(most).to.be.within(2, 4);
    expect(residentBytes(agent.pid) - before).to.be.below(25 * 1024 * 1024);
    for (const { events, error } of ids.flatMap((id) => server.resultsOf(id)))
      expect({ count: events?.length, error }).to.deep.equal({ count: 20, error: null });
  });
});

describe('a node with 200 pipelines', function () {
  this.timeout(120_000);
  const COUNT = 200;
  let scene: Scene;

  before(async () => {
    await ensureAgent();
    scene = await makeScene(2 * COUNT);
  });
  after(() => scene.close());

  it('starts them all, changes one without touching the others, and stops all at once', async () => {
    const { server, place, runCompiled } = scene;
    const ids = Array.from({ length: COUNT }, (_, number) => `p${number}`);
    server.pollIntervalMs = 1_000;
    server.pipelines = ids.map((id) => faulty(id, 'idle'));
    const agent = runCompiled({ SVC_LOG_LEVEL: 'info' });
    const running = () =>
      server.heartbeats.at(-1)?.pipelines.filter(({ status }) => status === 'RUNNING').length;
    await until(() => running() === COUNT, { what: () => `all run: ${running()}`, timeoutMs: 60_000 });
    const before = new Map(ids.map((id) => [id, server.report(id)?.pid]));
    expect(new Set(before.values()).size).to.equal(COUNT);
    server.pipelines = ids.map((id) => faulty(id, 'idle', {}, id === 'p7' ? 'changed' : ''));
    server.push({ type: 'config_changed', reason: 'deploy' });
    await until(() => server.report('p7')?.pid !== before.get('p7') && running() === COUNT, {
      what: 'the changed one runs anew',
      timeoutMs: 20_000,
    });
    for (const id of ids) {
      if (id !== 'p7') expect(server.report(id)?.pid, id).to.equal(before.get(id));
    }
    expect(residentBytes(agent.pid)).to.be.below(100 * 1024 * 1024);
    expect(await agent.terminate()).to.equal(0);
    expect(place.engines()).to.deep.equal([]);
  });
});
