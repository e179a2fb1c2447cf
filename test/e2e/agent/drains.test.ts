/** An agent and engines that hold events when they are stopped, or run on without a part of them. */
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { ensureAgent, ENGINE as REFERENCE_ENGINE } from './agent-process.ts';
import { makeScene, type Scene } from './scene.ts';
import { pipeline } from './scripted-server.ts';

const ENGINE = join(import.meta.dirname, 'scripted-engine.ts');

describe('an engine that holds events when it is stopped', function () {
  this.timeout(60_000);
  let scene: Scene;
  let engineBin: string;

  before(ensureAgent);
  beforeEach(async () => {
    scene = await makeScene();
    // The engine is started by Node.
    scene.place.paceMs = 20;
    engineBin = join(scene.place.dir, 'engine.sh');
    writeFileSync(
      engineBin,
      `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(ENGINE)} "$@"\n`,
    );
    chmodSync(engineBin, 0o755);
  });
  afterEach(() => scene.close());

  const until: Scene['until'] = (...args) => scene.until(...args);
  /** Waits until the engine drains, and lets its limit be over. It gets the signal once it was asked what it holds. */
  const drainFor = async (seconds: number) => {
    const { place, server } = scene;
    await until(() => server.report('p1')?.draining?.undeliveredEvents !== undefined, {
      what: 'it is reported as draining, with what it holds',
    });
    place.clock.advance(seconds * 1_000);
    writeFileSync(place.path('data/p1/limit'), '');
    await until(() => place.engines().length === 0 || drainOf() != null, { what: 'the engine ends' });
    rmSync(place.path('data/p1/limit'));
  };
  const entry = (comments: string[], more: { version?: number; drainSeconds?: number } = {}) =>
    pipeline('p1', {
      configYaml: comments.map((comment) => `# ${comment}\n`).join(''),
      ...more,
    });
  const drainOf = () => scene.server.report('p1')?.lastDrain;
  const linesOf = () => scene.server.linesOf('p1').concat(scene.logs('p1')).join('\n');

  it('is reported as draining, and then with what was lost of its memory buffer', async () => {
    const { server, run, reach } = scene;
    server.pipelines = [entry(['memory: 5000', 'hang'], { version: 3, drainSeconds: 3 })];
    run({ SVC_ENGINE_BIN: engineBin });
    await reach('p1', 'RUNNING');
    server.pipelines = [entry(['changed'], { version: 4 })];
    server.revision += 1;
    await drainFor(3);
    await until(() => drainOf() != null, {
      what: () => `a drain is reported: ${linesOf()}`,
      timeoutMs: 20_000,
    });
    await until(() => server.report('p1')?.version === 4 && server.report('p1')?.status === 'RUNNING', {
      what: 'version 4 runs',
    });
    expect(drainOf()).to.deep.include({ version: 3, lostEvents: 5_000, keptEvents: 0 });
    expect(drainOf()?.sinks).to.deep.equal([{ componentId: 'out', lostEvents: 5_000, keptEvents: 0 }]);
    const draining = server.heartbeats.flatMap(
      (beat) => beat.pipelines.find(({ pipelineId }) => pipelineId === 'p1')?.draining ?? [],
    );
    expect(draining.at(-1)).to.deep.include({ version: 3, undeliveredEvents: 5_000 });
    expect(draining.at(-1)?.secondsLeft).to.be.within(0, 3);
    expect(server.report('p1')?.draining).to.equal(null);
    expect(server.statuses('p1')).not.to.include('CRASHED');
    await until(() => linesOf().includes('headgate-agent: up to 5000 events were lost'), {
      what: 'the loss stands in the log',
    });
  });

  it('is reported with what a disk buffer keeps for the next one', async () => {
    const { server, run, reach } = scene;
    server.pipelines = [entry(['disk: 6', 'hang'], { drainSeconds: 1 })];
    run({ SVC_ENGINE_BIN: engineBin });
    await reach('p1', 'RUNNING');
    server.pipelines = [entry(['changed'], { version: 2 })];
    server.revision += 1;
    await drainFor(1);
    await until(() => drainOf() != null, { what: 'a drain is reported' });
    expect(drainOf()).to.deep.include({ lostEvents: 0, keptEvents: 6 });
  });

  it('lost nothing where it ended in time', async () => {
    const { server, run, reach } = scene;
    // The engine takes real time to end: enough of the clock for a slow one.
    server.pipelines = [entry(['memory: 5000'], { drainSeconds: 60 })];
    run({ SVC_ENGINE_BIN: engineBin });
    await reach('p1', 'RUNNING');
    server.pipelines = [entry(['changed'], { version: 2 })];
    server.revision += 1;
    await until(() => server.report('p1')?.version === 2 && server.report('p1')?.status === 'RUNNING', {
      what: 'version 2 runs',
    });
    expect(drainOf()).to.equal(null);
    expect(linesOf()).not.to.include('lost');
  });

  it('is waited for when the agent ends, whose last heartbeat tells what was lost', async () => {
    const { server, run, reach } = scene;
    server.pipelines = [entry(['memory: 12', 'hang'], { drainSeconds: 2 })];
    const agent = run({ SVC_ENGINE_BIN: engineBin });
    await reach('p1', 'RUNNING');
    const ended = agent.terminate();
    await drainFor(2);
    await ended;
    expect(server.report('p1')?.status).to.equal('STOPPED');
    expect(drainOf()).to.deep.include({ lostEvents: 12 });
  });

  it('makes its pipeline degraded where a source lost one of its listeners, until the next start', async () => {
    const { server, run, reach } = scene;
    const lost =
      'log: <time> ERROR source{component_kind="source" component_id=in component_type=opentelemetry}: vector::sources::opentelemetry::config: OpenTelemetry source gRPC server failed. error=TCP bind failed: Address already in use (os error 98)';
    const warning = 'log: <time>  WARN vector::config::loading: Source "in.metrics" has no consumers';
    server.pipelines = [entry([warning, lost])];
    run({ SVC_ENGINE_BIN: engineBin });
    await reach('p1', 'RUNNING');
    await until(() => server.report('p1')?.degraded != null, { what: 'it is degraded' });
    expect(server.report('p1')?.degraded).to.match(/^Source "in": OpenTelemetry source gRPC server failed/);
    expect(server.report('p1')?.warnings).to.deep.equal(['Source "in.metrics" has no consumers']);
    expect(server.report('p1')?.status).to.equal('RUNNING');
    server.pipelines = [entry(['mended'], { version: 2 })];
    server.revision += 1;
    await until(() => server.report('p1')?.version === 2 && server.report('p1')?.status === 'RUNNING', {
      what: 'version 2 runs',
    });
    expect(server.report('p1')?.degraded).to.equal(null);
    expect(server.report('p1')?.warnings).to.deep.equal([]);
  });

  describe('with the reference engine', () => {
    let hanging: Server;
    beforeEach(async () => {
      // Takes requests and never answers.
      hanging = createServer(() => {});
      await new Promise<void>((done) => hanging.listen(0, '127.0.0.1', done));
    });
    afterEach(() => {
      hanging.closeAllConnections();
      hanging.close();
    });

    it('is reported with what its sink never delivered', async () => {
      const { server, run, reach } = scene;
      const { port } = hanging.address() as AddressInfo;
      const config = `sources:
  in: { type: demo_logs, format: json, interval: 0.01 }
sinks:
  out: { type: http, inputs: [in], uri: "http://127.0.0.1:${port}/", encoding: { codec: json } }
`;
      server.pipelines = [pipeline('p1', { configYaml: config, drainSeconds: 1 })];
      run({ SVC_ENGINE_BIN: REFERENCE_ENGINE });
      await reach('p1', 'RUNNING');
      await until(() => (server.report('p1')?.eventsIn ?? 0) > 50, {
        what: 'events come in',
        timeoutMs: 20_000,
      });
      server.pipelines = [
        pipeline('p1', { configYaml: `${config}# changed\n`, version: 2, drainSeconds: 1 }),
      ];
      server.revision += 1;
      await until(() => drainOf() != null, {
        what: () => `a drain is reported: ${linesOf()}`,
        timeoutMs: 20_000,
      });
      expect(drainOf()?.lostEvents).to.be.above(50);
      expect(drainOf()?.sinks[0]?.componentId).to.equal('out');
    });
  });
});
