import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ENGINE, ensureAgent, type Workplace } from './agent-process.ts';
import { makeScene, type Scene } from './scene.ts';
import { DEMO_CONFIG, pipeline, type ScriptedServer } from './scripted-server.ts';

describe('the life of a pipeline on a node', function () {
  this.timeout(30_000);
  let scene: Scene;
  let server: ScriptedServer;
  let place: Workplace;

  before(ensureAgent);
  beforeEach(async () => {
    scene = await makeScene();
    ({ server, place } = scene);
  });
  afterEach(() => scene.close());

  const reach: Scene['reach'] = (...args) => scene.reach(...args);
  const until: Scene['until'] = (...args) => scene.until(...args);
  const run = () => scene.run({ SVC_NODE_LABELS: 'zone=a' });
  const runReal = () => {
    // The reference engine takes a part of a second to start and to build a config.
    place.paceMs = 10;
    return scene.run({ SVC_ENGINE_BIN: ENGINE, SVC_NODE_LABELS: 'zone=a' });
  };
  const status = (id: string) => server.report(id)?.status;

  it('goes from STARTING to RUNNING and reports what the engine counts', async () => {
    server.pipelines = [pipeline('p1')];
    runReal();
    await reach('p1', 'RUNNING');
    await until(() => (server.report('p1')?.eventsOut ?? 0) > 0, { what: 'events are counted' });
    expect(server.statuses('p1')).to.deep.equal(['STARTING', 'RUNNING']);
    const report = server.report('p1');
    expect(report?.componentMetrics?.map((metric) => metric.componentId)).to.have.members(['in', 'out']);
    expect(report?.configChecksum).to.equal(server.pipelines[0]?.checksum);
    const beat = server.heartbeats.at(-1);
    expect(beat?.labels).to.deep.equal({ zone: 'a' });
    expect(beat?.hostMetrics?.memoryTotalBytes).to.be.greaterThan(0);
    expect(beat?.engineVersion).to.match(/^headgate-engine/);
    expect(beat?.agentHealth?.pipelinesRunning).to.equal(1);
  });

  it('finds its certificate files by SVC_CERT_DIR, and restarts with those that replace them', async () => {
    const out = join(place.dir, 'out.log');
    const reading = (version: number, text: string) =>
      pipeline('p1', {
        version,
        configYaml: `sources:
  in: { type: file, include: ["\${SVC_CERT_DIR}/ca.pem"], read_from: beginning, ignore_checkpoints: true }
sinks:
  out: { type: file, inputs: [in], path: ${out}, encoding: { codec: text } }
`,
        certFiles: [{ name: 'ca', filename: 'ca.pem', data: Buffer.from(`${text}\n`).toString('base64') }],
      });
    const written = () => (existsSync(out) ? readFileSync(out, 'utf8') : '');
    server.pipelines = [reading(1, 'the first of the authorities')];
    runReal();
    await until(() => written().includes('the first of the authorities'), { what: () => `it: ${written()}` });
    server.pipelines = [reading(2, 'another one in its place, longer')];
    server.push({ type: 'config_changed', reason: 'certificate replaced' });
    await until(() => written().includes('another one in its place'), { what: () => `it: ${written()}` });
    expect(server.report('p1')?.lastError ?? null).to.equal(null);
  });

  it('restarts on another checksum, on the same ports', async () => {
    server.pipelines = [pipeline('p1')];
    run();
    await reach('p1', 'RUNNING');
    const first = server.report('p1')?.pid;
    const sidecar = readFileSync(place.path('pipelines/p1.yaml.svc-metrics.yaml'), 'utf8');
    server.pipelines = [pipeline('p1', { version: 2, configYaml: DEMO_CONFIG.replace('0.1', '0.2') })];
    server.push({ type: 'config_changed', reason: 'deploy' });
    await until(() => server.report('p1')?.version === 2, { what: 'the new version is reported' });
    await reach('p1', 'RUNNING');
    expect(server.report('p1')?.pid).not.to.equal(first);
    expect(readFileSync(place.path('pipelines/p1.yaml.svc-metrics.yaml'), 'utf8')).to.equal(sidecar);
    expect(sidecar)
      .to.contain(`127.0.0.1:${place.portBase}\n`)
      .and.to.contain(`127.0.0.1:${place.portBase + 1}\n`);
    expect(server.statuses('p1')).not.to.include('CRASHED');
    expect(place.engines()).to.have.length(1);
  });

  it('takes over a newer version number of the same content without a restart', async () => {
    server.pipelines = [pipeline('p1')];
    run();
    await reach('p1', 'RUNNING');
    const first = server.report('p1')?.pid;
    server.pipelines = [pipeline('p1', { version: 7 })];
    await until(() => server.report('p1')?.version === 7, { what: 'the new version is reported' });
    expect(server.report('p1')).to.include({ pid: first, status: 'RUNNING' });
  });

  it('stops a pipeline that is no longer listed, reports it once and removes its files', async () => {
    server.pipelines = [pipeline('p1'), pipeline('p2')];
    run();
    await reach('p2', 'RUNNING');
    server.pipelines = [pipeline('p1')];
    server.push({ type: 'config_changed', reason: 'undeploy' });
    await reach('p2', 'STOPPED');
    await until(() => server.report('p2') === undefined, { what: 'it is no longer mentioned' });
    expect(existsSync(place.path('pipelines/p2.yaml'))).to.equal(false);
    expect(existsSync(place.path('pipelines/p2.yaml.svc-metrics.yaml'))).to.equal(false);
    expect(place.engines()).to.have.length(1);
    expect(status('p1')).to.equal('RUNNING');
  });

  it('gives a pipeline that comes back the next two ports', async () => {
    server.pipelines = [pipeline('p1')];
    run();
    await reach('p1', 'RUNNING');
    server.pipelines = [];
    server.push({ type: 'config_changed', reason: 'maintenance' });
    await reach('p1', 'STOPPED');
    server.pipelines = [pipeline('p1')];
    server.push({ type: 'config_changed', reason: 'maintenance over' });
    await reach('p1', 'RUNNING');
    const sidecar = readFileSync(place.path('pipelines/p1.yaml.svc-metrics.yaml'), 'utf8');
    expect(sidecar).to.contain(`127.0.0.1:${place.portBase + 2}\n`);
  });

  it('goes on after SIGHUP, SIGUSR1 and SIGUSR2, and on SIGTERM reports STOPPED, leaves no process behind and exits with 0', async () => {
    server.pipelines = [pipeline('p1')];
    const agent = scene.runCompiled();
    await scene.untilStarted('p1');
    const { pid } = server.report('p1') ?? {};
    for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) {
      agent.child.kill(signal);
      await until(() => agent.output().includes(`signal=${signal}`), { what: `${signal} is logged` });
    }
    expect(agent.output()).to.match(/msg="signal ignored: .*reopens no files.*" signal=SIGHUP/);
    const beats = server.heartbeats.length;
    await until(() => server.heartbeats.length > beats, { what: 'heartbeats go on' });
    expect(server.report('p1')).to.include({ pid });
    expect(await agent.terminate()).to.equal(0);
    expect(place.engines()).to.deep.equal([]);
    expect(status('p1')).to.equal('STOPPED');
  });

  it('goes on when whoever reads its log has ended', async () => {
    server.pipelines = [pipeline('p1')];
    const agent = scene.runCompiled();
    await scene.untilStarted('p1');
    await until(() => place.engines().length === 1, { what: 'the engine runs' });
    // The far ends of its two streams: from here on, every line that it writes fails.
    agent.child.stdout?.destroy();
    agent.child.stderr?.destroy();
    server.pipelines = [pipeline('p1'), pipeline('p2')];
    server.push({ type: 'config_changed', reason: 'test' });
    await scene.untilStarted('p2');
    expect(await agent.terminate()).to.equal(0);
    expect(place.engines()).to.deep.equal([]);
  });

  it('stops the engines of an agent that was killed before it starts its own', async () => {
    server.pipelines = [pipeline('p1'), pipeline('p2'), pipeline('p3')];
    const killed = scene.runCompiled();
    await until(() => ['p1', 'p2', 'p3'].every((id) => scene.logs(id).length > 0), {
      what: 'three engines run',
    });
    killed.child.kill('SIGKILL');
    await killed.ended;
    const orphans = place.engines();
    expect(orphans).to.have.length(3);
    server.heartbeats = [];
    scene.runCompiled();
    await reach('p3', 'RUNNING');
    expect(place.engines()).to.have.length(3).and.not.to.include.members(orphans);
    expect(server.statuses('p1')).to.deep.equal(['STARTING', 'RUNNING']);
  });
});
