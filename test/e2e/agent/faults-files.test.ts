/** An agent on disks that are full or read-only, beside planted links, and with secrets that must not be seen. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ensureAgent } from './agent-process.ts';
import { faulty, filesUnder, makeScene, type Scene } from './scene.ts';

describe('the data directory of an agent', function () {
  this.timeout(40_000);
  let scene: Scene;
  let mounted = false;

  before(ensureAgent);
  beforeEach(async () => {
    scene = await makeScene();
    mounted = false;
  });
  afterEach(async () => {
    if (mounted) spawnSync('umount', ['-l', scene.place.dataDir]);
    await scene.close();
  });

  const until: Scene['until'] = (...args) => scene.until(...args);
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
  /** False where it cannot be had: only root on Linux may mount. */
  const mount = (bytes: string): boolean => {
    const { dataDir } = scene.place;
    mkdirSync(dataDir, { recursive: true });
    mounted =
      spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=700`, 'tmpfs', dataDir]).status === 0;
    return mounted;
  };
  const remount = (how: 'ro' | 'rw') =>
    spawnSync('mount', ['-o', `remount,${how}`, scene.place.dataDir]).status === 0;

  it('that is full when it enrolls gets no empty token, and the message says what to do', async function () {
    const { place, run } = scene;
    if (!mount('4k')) this.skip();
    writeFileSync(place.path('filler'), Buffer.alloc(4_096));
    const agent = run();
    expect(await agent.ended).to.equal(1);
    expect(agent.output()).to.match(
      /^failed to write .*node-token: ENOSPC.*\nMake room or fix permissions, and start again\./m,
    );
    expect(agent.output()).not.to.contain('enroll-me').and.not.to.contain(scene.server.token);
    expect(readdirSync(place.dataDir)).to.deep.equal(['filler']);
    rmSync(place.path('filler'));
    run();
    await until(() => scene.server.heartbeats.length > 0, { what: 'it starts with room' });
    expect(mode(place.path('node-token'))).to.equal('600');
  });

  const withCertificate = (bytes: number) =>
    faulty('p1', 'idle', {
      certFiles: [{ name: 'ca', filename: 'ca.pem', data: Buffer.alloc(bytes, 'x').toString('base64') }],
    });

  it('that is full is no error of a pipeline any more once what cannot be written is taken back', async function () {
    const { server, place, run, reach } = scene;
    if (!mount('64k')) this.skip();
    server.pipelines = [withCertificate(10)];
    run();
    await reach('p1', 'RUNNING');
    const engine = server.report('p1')?.pid;
    writeFileSync(place.path('filler'), Buffer.alloc(36_000));
    server.pipelines = [withCertificate(20_000)];
    const error = () => server.report('p1')?.lastError ?? '';
    await until(() => error().startsWith('failed to write'), { what: () => `it is reported: ${error()}` });
    server.pipelines = [withCertificate(10)];
    await until(() => error() === '', { what: () => `it is no longer reported: ${error()}` });
    expect(server.report('p1')).to.include({ status: 'RUNNING', pid: engine });
  });

  it('that is full keeps the old certificate and the old engine until there is room', async function () {
    const { server, place, run, reach } = scene;
    if (!mount('64k')) this.skip();
    server.pipelines = [withCertificate(10)];
    const agent = run();
    await reach('p1', 'RUNNING');
    const engine = server.report('p1')?.pid;
    writeFileSync(place.path('filler'), Buffer.alloc(36_000));
    server.pipelines = [withCertificate(20_000)];
    const told = () => server.report('p1')?.lastError ?? '';
    await until(() => told().startsWith('failed to write'), { what: () => `it is told: ${told()}` });
    expect(told()).to.match(/^failed to write certificate file: ENOSPC/);
    expect(server.report('p1')).to.include({ status: 'RUNNING', pid: engine });
    expect(readFileSync(place.path('certs/ca.pem'), 'utf8')).to.equal('x'.repeat(10));
    rmSync(place.path('filler'));
    await until(() => statSync(place.path('certs/ca.pem')).size === 20_000, {
      what: 'the new one is written',
      timeoutMs: 10_000,
    });
    await until(() => told() === '', { what: () => `nothing is told any more: ${told()}` });
    expect(await agent.terminate()).to.equal(0);
  });

  it('that becomes read-only fails what is new with the message of the protocol; what runs goes on', async function () {
    const { server, run, reach } = scene;
    if (!mount('1m')) this.skip();
    server.pipelines = [faulty('p1', 'idle')];
    const agent = run();
    await reach('p1', 'RUNNING');
    const engine = server.report('p1')?.pid;
    if (!remount('ro')) this.skip();
    server.pipelines = [faulty('p1', 'idle'), faulty('p2', 'idle')];
    await reach('p2', 'CRASHED');
    expect(server.report('p2')?.lastError).to.match(/^failed to write sidecar config: EROFS/);
    expect(server.report('p1')).to.include({ status: 'RUNNING', pid: engine });
    remount('rw');
    await reach('p2', 'RUNNING');
    remount('ro');
    expect(await agent.terminate()).to.equal(0);
    // A later start has its token and needs no more of the disk than its pipelines do.
    server.heartbeats = [];
    const second = run();
    await reach('p1', 'CRASHED');
    remount('rw');
    await reach('p1', 'RUNNING');
    await second.terminate();
  });

  it('that is read-only at the first start ends it with what to do', async function () {
    const { run } = scene;
    if (!mount('64k') || !remount('ro')) this.skip();
    const agent = run();
    expect(await agent.ended).to.equal(1);
    expect(agent.output()).to.match(/^failed to write .*node-token: EROFS.*\nMake room or fix permissions/m);
  });

  it('that belongs to another user is refused at the first start', async function () {
    const { place } = scene;
    if (process.getuid?.() !== 0) this.skip();
    mkdirSync(place.dataDir, { mode: 0o700 });
    // Who starts it may enter the folder above, and not this one.
    chmodSync(place.dir, 0o755);
    const agent = place.runCompiled({ SVC_URL: scene.server.url, SVC_TOKEN: 't' }, [], '', 65_534);
    expect(await agent.ended).to.equal(1);
    expect(agent.output()).to.match(/^node token .* cannot be read \(EACCES\): fix its owner and mode/);
  });

  it('has its token at 0600 where a wider file was, and takes garbage for none', async () => {
    const { server, place, run } = scene;
    mkdirSync(place.dataDir, { recursive: true });
    for (const garbage of ['', 'two words', 'x'.repeat(5_000), '\0\0\0', 'ü']) {
      writeFileSync(place.path('node-token'), garbage, { mode: 0o644 });
      const agent = run();
      expect(await agent.ended).to.equal(1);
      expect(agent.output()).to.match(/^node token .* is empty or damaged: delete it and start again/);
      expect(readFileSync(place.path('node-token'), 'utf8')).to.equal(garbage);
    }
    expect(server.enrollments).to.have.length(0);
    expect(mode(place.path('node-token'))).to.equal('600');
  });

  it('is not left by links that somebody planted in it', async () => {
    const { server, place, run, reach } = scene;
    const outside = join(place.dir, 'outside');
    mkdirSync(outside, { mode: 0o755 });
    chmodSync(outside, 0o755);
    writeFileSync(join(outside, 'file'), 'untouched', { mode: 0o644 });
    mkdirSync(place.path('pipelines'), { recursive: true });
    mkdirSync(place.path('data'));
    for (const name of ['p1.yaml', 'p1.yaml.svc-metrics.yaml'])
      symlinkSync(join(outside, 'file'), place.path('pipelines', name));
    symlinkSync(outside, place.path('data/p2'));
    symlinkSync(outside, place.path('certs'));
    server.pipelines = [faulty('p1', 'idle'), faulty('p2', 'idle')];
    run();
    await reach('p1', 'CRASHED');
    expect(server.report('p1')?.lastError).to.equal(
      `failed to write sidecar config: ${place.path('certs')} is a symbolic link: put a folder there`,
    );
    rmSync(place.path('certs'));
    await reach('p1', 'RUNNING');
    await reach('p2', 'CRASHED');
    expect(server.report('p2')?.lastError).to.contain(`${place.path('data/p2')} is a symbolic link`);
    expect(lstatSync(place.path('pipelines/p1.yaml')).isSymbolicLink()).to.equal(false);
    expect(readdirSync(outside)).to.deep.equal(['file']);
    expect(readFileSync(join(outside, 'file'), 'utf8')).to.equal('untouched');
    expect([mode(outside), mode(join(outside, 'file'))]).to.deep.equal(['755', '644']);
  });

  it('does not take another file for its token because a link says so', async () => {
    const { server, place, run } = scene;
    mkdirSync(place.dataDir, { recursive: true });
    writeFileSync(join(place.dir, 'shadow'), 'somebody-elses-secret', { mode: 0o644 });
    symlinkSync(join(place.dir, 'shadow'), place.path('node-token'));
    const agent = run();
    expect(await agent.ended).to.equal(1);
    expect(agent.output()).to.match(/^node token .* is a symbolic link: put the file itself there/);
    expect(mode(join(place.dir, 'shadow'))).to.equal('644');
    expect(server.polls).to.deep.equal([]);
  });

  it('and all other places show no secret, whatever is in it', async () => {
    const { server, place, runCompiled, reach, logs } = scene;
    const secrets = {
      SVC_SECRET_QUOTES: `finch-"q'uo\`te\\s`,
      SVC_SECRET_DOLLARS: ['finch-$HOME-$', '{PATH}-$$(id)'].join(''),
      SVC_SECRET_LINES: '-----BEGIN KEY-----\nfinch-line-one\r\nfinch-line-two\n-----END KEY-----\n',
      SVC_SECRET_SPACES: ' finch-with spaces\tand tabs ',
      SVC_SECRET_HTML: 'finch-<&>%0a',
    };
    server.pipelines = [
      faulty('p1', 'echo-env', { secrets }),
      faulty('p2', 'idle', { secrets: { 'SVC_SECRET_bad name': 'finch-of-a-bad-name' } }),
    ];
    const agent = runCompiled({ SVC_LOG_FLUSH_INTERVAL: '100ms' });
    await reach('p1', 'RUNNING');
    await until(() => logs('p1').some((line) => line.startsWith('SVC_SECRET_HTML=')), {
      what: 'the environment is printed',
    });
    const engine = server.report('p1')?.pid;
    const environ = readFileSync(`/proc/${engine}/environ`, 'utf8').split('\0');
    for (const [name, value] of Object.entries(secrets)) expect(environ).to.include(`${name}=${value}`);
    expect(server.report('p2')?.lastError).to.contain('secret "SVC_SECRET_bad name" not passed on');
    // Another pipeline must not see them either, nor the agent show them in any way.
    const seen = {
      output: agent.output(),
      heartbeats: JSON.stringify(server.heartbeats),
      logs: JSON.stringify(server.logs),
      files: filesUnder(place.dir)
        .map((file) => `${file} ${readFileSync(file, 'utf8')}`)
        .join('\n'),
      commandLines: processes()
        .map((pid) => read(`/proc/${pid}/cmdline`))
        .join('\n'),
      environments: processes()
        .filter((pid) => !belongsTo(pid, engine ?? 0) && Number(pid) !== process.pid)
        .map((pid) => read(`/proc/${pid}/environ`))
        .join('\n'),
    };
    for (const [where, text] of Object.entries(seen)) {
      expect(text.match(/.{0,40}finch.{0,40}/)?.[0], where).to.equal(undefined);
    }
    expect(read(`/proc/${engine}/environ`))
      .not.to.contain('enroll-me')
      .and.not.to.contain(server.token);
    if (process.getuid?.() !== 0) return;
    const stranger = spawnSync('cat', [`/proc/${engine}/environ`, `/proc/${agent.pid}/environ`], {
      uid: 65_534,
      gid: 65_534,
      encoding: 'utf8',
    });
    expect(stranger.stdout).to.equal('');
    expect(stranger.stderr).to.contain('Permission denied');
    expect(statSync(`/proc/${engine}/environ`).mode & 0o777).to.equal(0o400);
  });

  it('and the log of the runtime show no token when its own variables ask for it', async () => {
    const { server, runCompiled } = scene;
    const agent = runCompiled({
      BUN_CONFIG_VERBOSE_FETCH: 'curl',
      BUN_OPTIONS: '--print process.env',
      BUN_BE_BUN: '',
    });
    await until(() => server.heartbeats.length >= 2, { what: 'it runs' });
    expect(agent.output()).not.to.contain('enroll-me').and.not.to.contain(server.token);
    expect(existsSync(scene.place.path('node-token'))).to.equal(true);
  });
});

const processes = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name));

/** Its process group is that of the engine. */
function belongsTo(pid: string, engine: number): boolean {
  const stat = read(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]) === engine;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
