/** A new config is built by the node's engine before the running one is stopped for it. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLogger } from '../../../agent/log.ts';
import { HeartbeatBuilder } from '../../../agent/report/heartbeat-body.ts';
import { DataDirectory } from '../../../agent/supervise/files/data-directory.ts';
import type { Pipeline } from '../../../agent/supervise/lifecycle/pipeline.ts';
import { Supervisor } from '../../../agent/supervise/supervisor.ts';
import { type Clock, type ManualClock, manualClock } from '../../../reconcilers/loops/clock.ts';
import { type PipelineEntry, PipelineReport } from '../../../schemas/agent/protocol.ts';
import { validator } from '../../../schemas/validate.ts';
import { ENGINE, ensureAgent, FAKE_ENGINE, isAlive, makeWorkplace, type Workplace } from './agent-process.ts';
import { filesUnder, makeScene } from './scene.ts';
import { DEMO_CONFIG, pipeline } from './scripted-server.ts';

/** A pipeline for the fake engine. `answer` is what its check of this config answers. */
const config = (answer: string, fields: Partial<PipelineEntry> = {}) =>
  pipeline('p1', { configYaml: `# validate: ${answer}\n# ${fields.version ?? 1}\n`, ...fields });

describe('a new config for a running pipeline', function () {
  this.timeout(40_000);
  let place: Workplace;
  let supervisor: Supervisor;
  let logged: string;
  /** The last engine that is known to a test. */
  let last: number;

  beforeEach(async () => {
    place = await makeWorkplace(16);
    // A check has 5 s of this clock, and the engine needs real time for it.
    place.paceMs = 10;
    logged = '';
  });
  afterEach(async () => {
    const ended = supervisor.stopAll();
    supervisor.killAll();
    await ended;
    await place.clean();
  });

  const until: Workplace['until'] = (...args) => place.until(...args);
  const supervise = (engineBin = FAKE_ENGINE, clock: Clock = place.clock, onChange = () => {}) => {
    supervisor = new Supervisor({
      ...{ directory: new DataDirectory(place.dataDir), portBase: place.portBase, engineBin, clock },
      env: { PATH: '/usr/bin:/bin' },
      log: createLogger('debug', (line) => {
        logged += line;
      }),
      ...{ onLine: () => {}, onChange },
    });
  };
  const only = (): Pipeline => {
    const [found] = supervisor.list();
    if (!found) throw new Error('no pipeline');
    return found;
  };
  const started = (pipeline: Pipeline) => pipeline.pid !== undefined;
  /** The first version runs; answers its pid. */
  const run = async (entry = config('ok')): Promise<number> => {
    supervisor.apply([entry]);
    await until(() => started(only()), { what: 'the engine is started' });
    last = only().pid ?? 0;
    return last;
  };
  const refused = (version: number) =>
    until(() => only().refused?.version === version, {
      what: () => `version ${version} is refused: ${only().lastError}`,
    });
  /** Another engine than the last one runs this version. */
  const runs = async (version: number) => {
    await until(() => only().current.version === version && started(only()) && only().pid !== last, {
      what: () => `version ${version} runs: ${only().status} ${only().current.version} ${only().lastError}`,
    });
    last = only().pid ?? 0;
  };
  const checks = () =>
    existsSync(place.path('data/.checks')) ? readdirSync(place.path('data/.checks')) : [];
  const record = () => join(place.dir, 'record');
  const recorded = () => (existsSync(record()) ? readFileSync(record(), 'utf8').trim().split('\n') : []);
  const report = () => {
    const { body } = new HeartbeatBuilder().build(supervisor.list(), () => undefined, {});
    return JSON.parse(JSON.stringify(body.pipelines[0])) as PipelineReport;
  };

  it('is refused with the old engine running on, and the heartbeat says which version, why, and what runs', async () => {
    supervise();
    const pid = await run();
    const next = config('refuse', { version: 2, secrets: { SVC_SECRET_A: 'hunter2hunter2' } });
    supervisor.apply([next]);
    await refused(2);
    expect(isAlive(pid)).to.equal(true);
    expect(only()).to.include({ pid, restarts: 0 });
    const sent = report();
    expect(validator(PipelineReport).issues(sent)).to.deep.equal([]);
    expect(sent).to.deep.include({
      ...{ version: 1, pid, configChecksum: config('ok').checksum },
      refused: { version: 2, checksum: next.checksum, error: 'Sink "out": no such thing as [redacted]' },
      lastError:
        'version 2 refused by the engine of this node, version 1 goes on running: Sink "out": no such thing as [redacted]',
    });
    expect(readFileSync(place.path('pipelines/p1.yaml'), 'utf8')).to.equal(config('ok').configYaml);
    expect(logged).to.contain('the engine refuses the new version').and.not.to.contain('hunter2hunter2');
  });

  it('has its RUNNING status through the check and the refusal, and other content is checked at once', async () => {
    supervise();
    const pid = await run();
    await until(() => only().status === 'RUNNING', { what: 'it runs' });
    supervisor.apply([config('refuse', { version: 2 })]);
    expect(only().status).to.equal('RUNNING');
    await refused(2);
    expect(only()).to.include({ pid, status: 'RUNNING' });
    supervisor.apply([config('ok', { version: 3 })]);
    expect(only()).to.include({ pid, status: 'RUNNING', refused: undefined, lastError: null });
    await runs(3);
    expect(isAlive(pid)).to.equal(false);
    expect(only().lastError).to.equal(null);
  });

  it('that the controller takes back leaves the engine alone and no refusal behind', async () => {
    supervise();
    const pid = await run();
    supervisor.apply([config('refuse', { version: 2 })]);
    await refused(2);
    supervisor.apply([config('ok', { version: 3, configYaml: config('ok').configYaml })]);
    expect(only()).to.include({ pid, refused: undefined, lastError: null });
    expect(only().current.version).to.equal(3);
    expect(isAlive(pid)).to.equal(true);
  });

  it('is built in files 0600 that are gone afterwards, as are its secrets from every disk', async () => {
    supervise();
    await run();
    const secrets = { SVC_SECRET_RECORD: record(), SVC_SECRET_A: 'hunter2hunter2' };
    supervisor.apply([config('hang', { version: 2, secrets })]);
    await until(() => recorded().length > 1, { what: 'the check runs' });
    const files = filesUnder(place.path('data/.checks'));
    expect(files).to.have.length(2);
    for (const file of files) {
      expect((statSync(file).mode & 0o777).toString(8)).to.equal('600');
      expect(readFileSync(file, 'utf8')).not.to.contain('hunter2hunter2');
    }
    supervisor.apply([config('refuse', { version: 3, secrets })]);
    await refused(3);
    await until(() => checks().length === 0, { what: 'the files are removed' });
    const held = filesUnder(place.dataDir).filter((file) => readFileSync(file).includes('hunter2hunter2'));
    expect(held).to.deep.equal([]);
  });

  for (const answer of ['none', 'signal']) {
    it(`replaces the old one where the engine cannot tell: ${answer}`, async () => {
      supervise();
      const pid = await run();
      supervisor.apply([config(answer, { version: 2 })]);
      await runs(2);
      expect(isAlive(pid)).to.equal(false);
      expect(only().refused).to.equal(undefined);
    });
  }

  it('replaces the old one after 5 s without an answer and not before; nothing of the check is left', async () => {
    const clock: ManualClock = manualClock();
    supervise(FAKE_ENGINE, clock);
    const pid = await run();
    const secrets = { SVC_SECRET_RECORD: record() };
    supervisor.apply([config('hang', { version: 2, secrets })]);
    await until(() => recorded().length > 1, { what: 'the check runs' });
    clock.advance(4_900);
    expect(only()).to.include({ pid, status: 'RUNNING' });
    clock.advance(200);
    await runs(2);
    for (const process of recorded()) {
      await until(() => !isAlive(Number(process)), { what: `process ${process} of the check is gone` });
    }
    expect(checks()).to.deep.equal([]);
    expect(logged).to.contain('the engine cannot check configs');
  });

  it('does not wait for an engine that has not answered twice in a row', async () => {
    const clock: ManualClock = manualClock();
    supervise(FAKE_ENGINE, clock);
    await run();
    for (const version of [2, 3]) {
      const secrets = { SVC_SECRET_RECORD: record() };
      supervisor.apply([config('hang', { version, secrets })]);
      await until(() => recorded().length === 2 * (version - 1), { what: `check ${version} runs` });
      clock.advance(5_000);
      await runs(version);
    }
    supervisor.apply([config('hang', { version: 4, secrets: { SVC_SECRET_RECORD: record() } })]);
    await runs(4);
    expect(recorded()).to.have.length(4);
  });

  it('is built again after a second, and then less and less often', async () => {
    const clock: ManualClock = manualClock();
    supervise(FAKE_ENGINE, clock);
    const pid = await run();
    const ca = { name: 'ca', filename: 'other.pem', data: 'cGVt' };
    const entry = config('certificate', { version: 2, certFiles: [ca] });
    supervisor.apply([entry]);
    await refused(2);
    expect(only().refused?.error).to.equal(
      `Sink "out": Could not open certificate file "${place.path('certs')}/ca.pem": No such file or directory (os error 2)`,
    );
    supervisor.apply([entry]);
    const tries = () => logged.split('msg="config checked"').length - 1;
    for (const [count, wait] of [1_000, 2_000, 4_000].entries()) {
      clock.advance(wait - 1);
      expect(tries()).to.equal(count + 1);
      clock.advance(1);
      await until(() => tries() === count + 2, { what: 'it is built again' });
      // The answer is taken in before the clock moves on.
      await until(() => checks().length === 0 && only().refused !== undefined, { what: 'it is refused' });
    }
    expect(only()).to.include({ pid });
    // What was missing on the node comes there.
    writeFileSync(place.path('certs/ca.pem'), 'pem');
    clock.advance(8_000);
    await runs(2);
    expect(only().refused).to.equal(undefined);
  });

  it('is built with its new certificate files, while the old ones stay until it is accepted', async () => {
    supervise();
    const certFile = (text: string) => [
      { name: 'ca', filename: 'ca.pem', data: Buffer.from(text).toString('base64') },
    ];
    const pid = await run(config('certificate', { certFiles: certFile('old') }));
    const real = () => readFileSync(place.path('certs/ca.pem'), 'utf8');
    supervisor.apply([config('refuse', { version: 2, certFiles: certFile('new') })]);
    await refused(2);
    expect(real()).to.equal('old');
    // Nobody wants the file any more, and yet the engine that runs may need it for its next start.
    supervisor.apply([config('refuse', { version: 3 })]);
    await refused(3);
    expect(real()).to.equal('old');
    expect(only().pid).to.equal(pid);
    supervisor.apply([config('certificate', { version: 4, certFiles: certFile('new') })]);
    await runs(4);
    expect(real()).to.equal('new');
    supervisor.apply([config('ok', { version: 5 })]);
    await runs(5);
    await until(() => !existsSync(place.path('certs/ca.pem')), { what: 'the file is removed' });
  });

  it('that is refused is not started when the old engine crashes: that one is', async () => {
    supervise();
    const pid = await run();
    supervisor.apply([config('refuse', { version: 2 })]);
    await refused(2);
    process.kill(-pid, 'SIGKILL');
    await until(() => only().restarts === 1 && started(only()) && only().pid !== pid, {
      what: 'it is started again',
    });
    expect(only().current.version).to.equal(1);
    expect(only().refused?.version).to.equal(2);
    expect(readFileSync(place.path('pipelines/p1.yaml'), 'utf8')).to.equal(config('ok').configYaml);
  });

  it('is not checked where the pipeline has crashed', async () => {
    supervise();
    supervisor.apply([pipeline('p1', { configYaml: '# fault: exit-78\n' })]);
    await until(() => only().status === 'CRASHED', { what: 'it has crashed' });
    supervisor.apply([config('refuse', { version: 2 })]);
    await runs(2);
    expect(logged).not.to.contain('config checked');
  });

  it('gives way to a later one, to the end of the pipeline, and to that of the agent', async () => {
    supervise();
    const pid = await run();
    const hang = (version: number) => config('hang', { version, secrets: { SVC_SECRET_RECORD: record() } });
    supervisor.apply([hang(2)]);
    await until(() => recorded().length === 2, { what: 'the check runs' });
    supervisor.apply([config('ok', { version: 3 })]);
    await runs(3);
    supervisor.apply([hang(4)]);
    await until(() => recorded().length === 4, { what: 'the check runs' });
    supervisor.apply([]);
    await until(() => only().ended, { what: 'it has ended' });
    supervisor.forget(supervisor.list());
    await run();
    supervisor.apply([hang(5)]);
    await until(() => recorded().length === 6, { what: 'the check runs' });
    await supervisor.stopAll();
    for (const process of [pid, ...recorded()])
      await until(() => !isAlive(Number(process)), { what: `process ${process} is gone` });
    expect(checks()).to.deep.equal([]);
  });

  it('is one of two that are built at a time', async () => {
    supervise();
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const all = (answer: string, version: number) =>
      ids.map((id) => ({
        ...config(answer, { version, secrets: { SVC_SECRET_RECORD: record() } }),
        pipelineId: id,
      }));
    supervisor.apply(all('ok', 1));
    await until(() => supervisor.list().every(started), { what: 'all run' });
    supervisor.apply(all('slow', 2));
    await until(() => supervisor.list().every((one) => started(one) && one.current.version === 2), {
      what: 'all have changed',
    });
    let now = 0;
    const most = recorded().map((line) => (now += line === 'begin' ? 1 : -1));
    expect(recorded()).to.have.length(10);
    expect(Math.max(...most)).to.equal(2);
  });

  it('is refused for a port that another program holds, not for one that its running engine holds', async function () {
    if (process.platform !== 'linux') this.skip();
    // Binds while it builds, as splunk_hec and datadog_agent do.
    const engineBin = join(place.dir, 'binding-engine');
    writeFileSync(
      engineBin,
      `#!${process.execPath}
const [word, , file] = process.argv.slice(2);
if (word === '--version') process.exit(0);
const yaml = require('node:fs').readFileSync(word === 'validate' ? process.argv[4] : process.argv[3], 'utf8');
const port = Number(/0\\.0\\.0\\.0:(\\d+)/.exec(yaml)[1]);
const server = require('node:net').createServer();
server.on('error', () => {
  console.log('√ Loaded ["a"]\\n√ Transforms configuration\\n\\nComponent errors\\n----------------');
  console.log('x Source "in": TCP bind failed: Address already in use (os error 98)\\n');
  process.exit(78);
});
server.listen(port, '0.0.0.0', () => { if (word === 'validate') process.exit(0); });
process.on('SIGTERM', () => process.exit(0));
`,
    );
    chmodSync(engineBin, 0o755);
    const foreign = createServer().listen(0, '0.0.0.0');
    await until(() => foreign.listening, { what: 'a port is held' });
    const port = (place.portBase + 15) % 65_536;
    const source = (at: number, note: string) => ({
      configYaml: `sources:\n  in:\n    type: splunk_hec\n    address: 0.0.0.0:${at}\n# ${note}\n`,
    });
    // Node may take long to start: no check runs out of time on a clock that stands still.
    supervise(engineBin, manualClock());
    try {
      const pid = await run(pipeline('p1', source(port, '1')));
      await until(() => listens(port), { what: 'the engine listens' });
      supervisor.apply([
        pipeline('p1', { version: 2, ...source((foreign.address() as AddressInfo).port, '2') }),
      ]);
      await refused(2);
      expect(only().refused?.error).to.contain('Address already in use');
      expect(only().pid).to.equal(pid);
      supervisor.apply([pipeline('p1', { version: 3, ...source(port, '3') })]);
      await runs(3);
      expect(only().restarts).to.equal(0);
    } finally {
      foreign.close();
    }
  });

  const listens = (port: number) =>
    readFileSync('/proc/net/tcp', 'utf8').includes(
      `:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000`,
    );
});

const REAL = process.env.HEADGATE_ENGINE_BIN;

describe(`${REAL ? 'the engine at hand' : 'the reference engine'}, asked by the agent before it is stopped`, function () {
  this.timeout(60_000);
  const wrong: [reason: string, yaml: string, error: RegExp][] = [
    ['an unknown type', DEMO_CONFIG.replace('blackhole', 'blackhol'), /unknown variant `blackhol`/],
    ['a component without inputs', DEMO_CONFIG.replace('[in]', '[nope]'), /Input "nope" for sink "out"/],
    [
      'a program that does not compile',
      `${DEMO_CONFIG.replace('inputs: [in]', 'inputs: [t]')}transforms:\n  t:\n    type: remap\n    inputs: [in]\n    source: .a = parse_json(.message)\n`,
      /Transform "t": error\[E103\]/,
    ],
    ['a variable that is not set', `${DEMO_CONFIG}# \${NOPE}\n`, /NOPE/],
    [
      'a file source in a folder that is not there',
      DEMO_CONFIG.replace(
        'type: demo_logs\n    format: json\n    interval: 0.1',
        'type: file\n    include: [/x]\n    data_dir: /does/not/exist',
      ),
      /data_dir "\/does\/not\/exist"/,
    ],
  ];

  before(ensureAgent);

  it('keeps the process of the old version for every wrong config, and takes a right one', async () => {
    const scene = await makeScene();
    const { server, place, run, reach, until } = scene;
    // A check has 5 s of this clock, and some compile a program.
    place.paceMs = 5;
    try {
      server.pipelines = [pipeline('p1')];
      const agent = run({ SVC_ENGINE_BIN: REAL ?? ENGINE });
      await reach('p1', 'RUNNING', 20_000);
      const pid = server.report('p1')?.pid;
      for (const [index, [reason, configYaml, error]] of wrong.entries()) {
        const version = index + 2;
        server.pipelines = [pipeline('p1', { version, configYaml })];
        server.push({ type: 'config_changed', reason: 'deploy' });
        await until(() => server.report('p1')?.refused?.version === version, {
          what: () => `${reason} is refused: ${JSON.stringify(server.report('p1'))}`,
        });
        expect(server.report('p1'), reason).to.include({ pid, version: 1, status: 'RUNNING', restarts: 0 });
        expect(server.report('p1')?.refused?.error, reason).to.match(error);
      }
      // A file source and its checkpoints: the check must not touch those of the engine that runs.
      server.pipelines = [
        pipeline('p1', { version: 20, configYaml: DEMO_CONFIG.replace('interval: 0.1', 'interval: 0.2') }),
      ];
      await until(() => server.report('p1')?.version === 20 && server.report('p1')?.status === 'RUNNING', {
        what: () => `the right one runs: ${JSON.stringify(server.report('p1'))}`,
      });
      expect(server.report('p1')).to.deep.include({ refused: null, lastError: null, restarts: 0 });
      expect(readdirSync(place.path('data/.checks'))).to.deep.equal([]);
      await agent.terminate();
    } finally {
      await scene.close();
    }
  });

  it('is ended with its files by the next agent where the one that asked was killed', async () => {
    const scene = await makeScene();
    const { server, place, run, runCompiled, untilStarted, until } = scene;
    const record = join(place.dir, 'record');
    try {
      server.pipelines = [pipeline('p1', { configYaml: '# validate: ok\n' })];
      const first = runCompiled();
      await untilStarted('p1');
      server.pipelines = [
        pipeline('p1', { configYaml: '# validate: hang\n', secrets: { SVC_SECRET_RECORD: record } }),
      ];
      await until(() => existsSync(record) && readFileSync(record, 'utf8').split('\n').length > 2, {
        what: 'the check runs',
      });
      first.child.kill('SIGKILL');
      await first.ended;
      const [check = ''] = readFileSync(record, 'utf8').split('\n');
      expect(execFileSync('ps', ['-o', 'args=', '-p', check], { encoding: 'utf8' })).to.contain('.checks');
      server.pipelines = [pipeline('p1', { configYaml: '# validate: ok\n' })];
      run();
      await until(() => !isAlive(Number(check)) && !existsSync(place.path('data/.checks')), {
        what: 'nothing of it is left',
      });
    } finally {
      await scene.close();
    }
  });
});
