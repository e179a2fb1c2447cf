import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { until as untilNow } from '../../support/harness/until.ts';
import { FAKE_ENGINE, isAlive, type Workplace } from './agent-process.ts';
import { faulty, filesUnder, makeScene, type Scene, zombiesOf } from './scene.ts';
import { pipeline, type ScriptedServer } from './scripted-server.ts';

const CANARY = 'canary-Ω-71f0e2&=/"x';

describe('faults of engines, disks and hostile input on a node', function () {
  this.timeout(40_000);
  let scene: Scene;
  let server: ScriptedServer;
  let place: Workplace;

  beforeEach(async () => {
    scene = await makeScene();
    ({ server, place } = scene);
  });
  afterEach(() => scene.close());

  const run = (env = {}) => scene.run(env);
  const reach: Scene['reach'] = (...args) => scene.reach(...args);
  const logs: Scene['logs'] = (id) => scene.logs(id);
  const until: Scene['until'] = (...args) => scene.until(...args);

  it('reports a crash with its reason, and tries again after 1, 2 and 4 seconds', async () => {
    server.pipelines = [faulty('bad', 'exit-78'), faulty('good', 'none')];
    const agent = run();
    // Written in the moment in which it is decided.
    const starts = () => agent.output().split('pipeline=bad status=STARTING').length - 1;
    for (const [index, seconds] of [1, 2, 4].entries()) {
      await untilNow(
        () => agent.output().split('msg="engine ended" pipeline=bad ').length - 1 === index + 1,
        {
          what: `crash ${index + 1}`,
        },
      );
      place.clock.advance(seconds * 1_000 - 1);
      expect(starts()).to.equal(index + 1);
      place.clock.advance(1);
      expect(starts()).to.equal(index + 2);
    }
    await until(() => (server.report('bad')?.restarts ?? 0) >= 3, { what: 'three crashes are reported' });
    await reach('bad', 'CRASHED');
    expect(server.report('bad')?.lastError).to.equal(
      'engine exited with code 78: ERROR engine: Configuration error. error=no such thing',
    );
    await reach('good', 'RUNNING');
    expect(server.report('good')).to.include({ status: 'RUNNING', restarts: 0 });
  });

  it('takes an exit with code 0 that nobody asked for as a crash', async () => {
    server.pipelines = [faulty('p1', 'exit-0')];
    run();
    await reach('p1', 'CRASHED');
    expect(server.report('p1')?.lastError).to.match(/^engine exited with code 0/);
  });

  it('keeps a pipeline CRASHED while the engine is missing, and starts it once it is there', async () => {
    server.pipelines = [pipeline('p1')];
    const engine = join(place.dir, 'engine');
    run({ SVC_ENGINE_BIN: engine });
    await reach('p1', 'CRASHED');
    expect(server.report('p1')?.lastError).to.match(
      /^start of engine for pipeline failed: executable not found/,
    );
    symlinkSync(FAKE_ENGINE, engine);
    await reach('p1', 'RUNNING');
    expect(server.report('p1')?.lastError).to.equal(null);
  });

  it('takes the next free ports where one is taken, reports them, and keeps them; the others have theirs', async () => {
    const { portBase } = place;
    const holder = createServer().listen(portBase + 1, '127.0.0.1');
    await once(holder, 'listening');
    server.pipelines = [pipeline('p1'), pipeline('p2')];
    const agent = run();
    await reach('p2', 'RUNNING');
    await reach('p1', 'RUNNING');
    expect(server.report('p2')).to.include({ metricsPort: portBase + 2, apiPort: portBase + 3 });
    const moved = { metricsPort: portBase + 4, apiPort: portBase + 5 };
    expect(server.report('p1')).to.include({ ...moved, lastError: null, restarts: 0 });
    const sidecar = () => readFileSync(place.path('pipelines/p1.yaml.svc-metrics.yaml'), 'utf8');
    expect(sidecar())
      .to.contain(`:${portBase + 4}\n`)
      .and.to.contain(`:${portBase + 5}\n`);
    expect(agent.output()).to.match(/msg="port taken, the next free ones are used" pipeline=p1/);
    holder.close();
    await once(holder, 'close');
    process.kill(-(server.report('p1')?.pid ?? 0), 'SIGKILL');
    await until(() => server.report('p1')?.restarts === 1, { what: 'the crash is reported' });
    await reach('p1', 'RUNNING');
    expect(server.report('p1')).to.include(moved);
    server.pipelines.push(pipeline('p3'));
    await reach('p3', 'RUNNING');
    expect(server.report('p3')).to.include({ metricsPort: portBase + 6, apiPort: portBase + 7 });
  });

  it('ends what a crashed engine forked, and leaves no zombie', async () => {
    server.pipelines = [faulty('p1', 'fork-and-crash')];
    run();
    await until(() => logs('p1').filter((line) => line.startsWith('child ')).length >= 2, {
      what: 'it has crashed twice',
      timeoutMs: 10_000,
    });
    const children = logs('p1')
      .filter((line) => line.startsWith('child '))
      .map((line) => Number(line.slice(6)));
    await until(() => !children.slice(0, 1).some(isRunning), { what: 'the forked process has ended' });
    expect(zombiesOf(process.pid)).to.deep.equal([]);
  });

  it('ends what an engine forked when the pipeline is stopped', async () => {
    server.pipelines = [faulty('p1', 'fork')];
    run();
    await reach('p1', 'RUNNING');
    const forked = () => logs('p1').find((line) => line.startsWith('child '));
    await until(() => forked() !== undefined, { what: 'it has forked' });
    const child = Number(forked()?.slice(6));
    expect(isRunning(child)).to.equal(true);
    server.pipelines = [];
    await reach('p1', 'STOPPED');
    expect(isRunning(child)).to.equal(false);
  });

  it('passes secrets by the environment only, and takes them out of what the engine prints', async () => {
    const secrets = {
      SVC_SECRET_KEY: CANARY,
      LD_PRELOAD: '/tmp/evil.so',
      PATH: '/tmp/evil',
      NODE_OPTIONS: '--require /tmp/evil.js',
      ENGINE_LOG: 'trace',
    };
    server.pipelines = [faulty('p1', 'echo-env', { secrets, logLevel: 'debug' })];
    const agent = run({ VECTOR_CONFIG_DIR: '/etc/evil', BUN_OPTIONS: '' });
    await reach('p1', 'RUNNING');
    // The last line: the limit of core files.
    await until(() => logs('p1').includes('0'), { what: 'the environment is printed' });
    const lines = logs('p1');
    expect(lines).to.include.members([
      'SVC_SECRET_KEY=[redacted]',
      'ENGINE_LOG=debug',
      'VECTOR_LOG=debug',
      'VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS=25',
      'VECTOR_THREADS=2',
      `SVC_CERT_DIR=${place.path('certs')}`,
      'VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION=true',
      'PATH=/usr/bin:/bin',
      '0',
    ]);
    const names = lines.map((line) => line.split('=')[0]);
    for (const name of [
      'SVC_TOKEN',
      'SVC_URL',
      'LD_PRELOAD',
      'NODE_OPTIONS',
      'VECTOR_CONFIG_DIR',
      'BUN_OPTIONS',
    ]) {
      expect(names).not.to.include(name);
    }
    const engine = server.report('p1')?.pid;
    expect(readFileSync(`/proc/${engine}/environ`, 'utf8')).to.contain(CANARY);
    expect(readFileSync(`/proc/${engine}/cmdline`, 'utf8')).not.to.contain(CANARY);
    expect(agent.output()).not.to.contain(CANARY).and.not.to.contain('enroll-me');
    expect(JSON.stringify(server.heartbeats)).not.to.contain('71f0e2');
    for (const file of filesUnder(place.dataDir))
      expect(readFileSync(file, 'utf8'), file).not.to.contain('71f0e2');
  });

  it('refuses hostile ids and certificate names alone, and writes nothing outside', async () => {
    const bad = [
      '../../escape.pem',
      '/tmp/escape.pem',
      'a/b.pem',
      '..',
      'x\0.pem',
      'n'.repeat(300),
      '.hidden',
      '',
    ];
    const certFiles = [...bad, 'good.pem'].map((filename) => ({ name: 'c', filename, data: 'cGVt' }));
    mkdirSync(place.path('certs'), { recursive: true });
    symlinkSync(`${place.dir}/target`, place.path('certs/good.pem'));
    server.pipelines = [
      ...['../x', '', 'a/b', 'i'.repeat(300), 'ü', '.'].map((id) => pipeline(id)),
      faulty('p1', 'none', { certFiles }),
    ];
    run();
    await reach('p1', 'RUNNING');
    expect(server.heartbeats.at(-1)?.pipelines.map((entry) => entry.pipelineId)).to.deep.equal(['p1']);
    expect(server.report('p1')?.lastError).to.contain('"../../escape.pem" refused');
    expect(readdirSync(place.path('certs'))).to.deep.equal(['good.pem']);
    expect(readFileSync(place.path('certs/good.pem'), 'utf8')).to.equal('pem');
    expect(existsSync(`${place.dir}/target`)).to.equal(false);
    expect(readdirSync(place.path('pipelines')).sort()).to.deep.equal([
      'p1.yaml',
      'p1.yaml.svc-metrics.yaml',
    ]);
    expect(filesUnder(place.dir).filter((file) => file.includes('escape'))).to.deep.equal([]);
  });

  it('removes files of earlier runs at the first good poll only, and none that are not its own', async () => {
    mkdirSync(place.path('pipelines'), { recursive: true });
    const old = ['old.yaml', 'old.yaml.svc-metrics.yaml', '.old.yaml.0123456789ab.svc-tmp'];
    const others = ['notes.txt', 'README.md', 'not ours.yaml', '.keep'];
    for (const name of [...old, ...others]) writeFileSync(place.path('pipelines', name), '');
    let polls = 0;
    server.override.config = (_, response) => {
      polls += 1;
      response.writeHead(500).end();
    };
    run({ SVC_POLL_INTERVAL: '500ms' });
    await until(() => polls >= 2, { what: 'two polls have failed' });
    expect(readdirSync(place.path('pipelines'))).to.have.members([...old, ...others]);
    server.override = {};
    await until(() => readdirSync(place.path('pipelines')).length === others.length, {
      what: 'old files are gone',
    });
    expect(readdirSync(place.path('pipelines'))).to.have.members(others);
  });

  it('keeps lines bounded and the engine unblocked under a flood of output and a line of 10 MB', async () => {
    server.pipelines = [faulty('flood', 'flood'), faulty('long', 'long-line')];
    run();
    await reach('flood', 'RUNNING');
    const rounds = () =>
      existsSync(place.path('data/flood/rounds')) ? readFileSync(place.path('data/flood/rounds')).length : 0;
    const before = rounds();
    await until(() => rounds() >= before + 10, { what: 'the flood goes on' });
    await until(() => logs('long').length >= 2, { what: 'the long line has come' });
    const long = logs('long').find((line) => line.startsWith('yyy'));
    expect(long).to.have.length(8_192);
    for (const beat of server.heartbeats) {
      for (const { recentLogs } of beat.pipelines) expect(recentLogs?.length ?? 0).to.be.at.most(500);
    }
  });

  it('keeps the old engine on a disk that is full, says so, and takes the change over when there is room', async function () {
    mkdirSync(place.dataDir);
    const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', place.dataDir]);
    if (mount.status !== 0) this.skip();
    try {
      server.pipelines = [faulty('p1', 'none')];
      const agent = run();
      await reach('p1', 'RUNNING');
      const engine = server.report('p1')?.pid;
      const before = readFileSync(place.path('pipelines/p1.yaml'), 'utf8');
      writeFileSync(place.path('filler'), Buffer.alloc(40_000));
      const configYaml = `# fault: none\n# ${'x'.repeat(30_000)}\n`;
      server.pipelines = [pipeline('p1', { version: 2, configYaml }), faulty('p2', 'none')];
      await until(() => server.report('p1')?.lastError?.startsWith('failed to write') ?? false, {
        what: 'it is told',
      });
      expect(server.report('p1')?.lastError).to.match(/^failed to write pipeline config: ENOSPC/);
      await reach('p2', 'RUNNING');
      expect(server.report('p1')).to.include({ status: 'RUNNING', pid: engine, version: 1 });
      expect(readFileSync(place.path('pipelines/p1.yaml'), 'utf8')).to.equal(before);
      expect(filesUnder(place.dataDir).filter((file) => file.endsWith('.svc-tmp'))).to.deep.equal([]);
      rmSync(place.path('filler'));
      await until(() => server.report('p1')?.version === 2, {
        what: 'the change is taken over',
        timeoutMs: 10_000,
      });
      const since = server.heartbeats.flatMap((beat) =>
        beat.pipelines.filter(({ version }) => version === 2),
      );
      expect(since.map(({ lastError }) => lastError)).to.deep.equal(since.map(() => null));
      await agent.terminate();
    } finally {
      spawnSync('umount', ['-l', place.dataDir]);
    }
  });

  it('sends heartbeats while an engine does not answer for its metrics', async () => {
    server.pipelines = [pipeline('p1')];
    run();
    await reach('p1', 'STARTING');
    // The fake engine serves no metrics: this takes the port in its place and never answers.
    const sockets: Socket[] = [];
    let holder: Server | undefined;
    await until(
      async () => {
        holder = createServer((socket) => sockets.push(socket)).listen(place.portBase, '127.0.0.1');
        return once(holder, 'listening').then(
          () => true,
          () => false,
        );
      },
      { what: 'the metrics port is held' },
    );
    await until(() => sockets.length > 0, { what: 'the agent asks for metrics' });
    const beats = server.heartbeats.length;
    await until(() => server.heartbeats.length >= beats + 3, { what: 'heartbeats go on', timeoutMs: 3_500 });
    expect(server.report('p1')?.status).to.equal('RUNNING');
    for (const socket of sockets) socket.destroy();
    holder?.close();
  });

  it('joins a flood of push messages into few polls', async () => {
    server.pollIntervalMs = 60_000;
    // Heartbeats are counted by this clock, and a slow machine takes long to read all messages.
    place.paceMs = 10;
    run();
    await until(() => server.pushStreams.length === 1, { what: 'the push stream is open' });
    const polls = server.polls.length;
    const beats = server.heartbeats.length;
    for (let count = 0; count < 10_000; count += 1)
      server.push({ type: 'config_changed', reason: `change ${count}` });
    server.pipelines = [pipeline('p1')];
    server.push({ type: 'config_changed', reason: 'the last' });
    await reach('p1', 'RUNNING');
    expect(server.polls.length - polls).to.be.within(2, 500);
    expect(server.heartbeats.length - beats).to.be.below(8);
  });

  it('polls once more for each revision that a heartbeat names', async () => {
    server.pollIntervalMs = 60_000;
    run();
    await until(() => server.heartbeats.length === 1, { what: 'the first heartbeat' });
    expect(server.polls).to.have.length(1);
    server.revision = 2;
    server.pipelines = [pipeline('p1')];
    server.push({ type: 'config_changed', reason: 'deploy' });
    await reach('p1', 'RUNNING');
    server.override.config = undefined;
    expect(server.polls.length).to.be.within(2, 3);
  });

  it('follows the period that a push message sets, and ignores one over an hour', async () => {
    server.pollIntervalMs = 60_000;
    const agent = run();
    await until(() => server.pushStreams.length === 1, { what: 'the push stream is open' });
    server.push({ type: 'sample_request' });
    server.push({ type: 'unheard_of' });
    for (let n = 0; n < 3; n += 1) server.push({ type: 'poll_interval', intervalMs: 3_600_001 });
    await until(() => agent.output().includes('over 1 h'), { what: 'the value is logged' });
    place.paceMs = 10;
    server.push({ type: 'poll_interval', intervalMs: 500 } as never);
    const polls = server.polls.length;
    await until(() => server.polls.length > polls, { what: 'a poll comes' });
    const polledAt = place.clock.monotonic();
    await until(() => server.polls.length > polls + 4, { what: 'polls come at the new period' });
    // Each may be moved by a twentieth, and is noticed a look later.
    expect(place.clock.monotonic() - polledAt).to.be.within(4 * 450, 4 * 650);
    expect(server.heartbeats.at(-1)?.pollIntervalMs).to.equal(500);
    expect(agent.output().match(/over 1 h/g)).to.have.length(1);
    expect(server.heartbeats.map(({ pollIntervalMs }) => pollIntervalMs)).not.to.include(3_600_000);
  });
});

function isRunning(pid: number): boolean {
  return isAlive(pid) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}
