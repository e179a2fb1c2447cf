/** The install script, run as a person would, into folders of the test's own. */
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { AGENT_VERSION } from '../../../agent/version.ts';
import { installScript } from '../../../controller/fleet/releases/index.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { AGENT, ensureAgent } from './agent-process.ts';
import { type ScriptedServer, startServer } from './scripted-server.ts';
import { digestOf } from './update-files.ts';

const SCRIPT = join(import.meta.dirname, '../../../controller/fleet/releases/install.sh');
const SHELLS = ['sh', 'dash', 'bash', 'busybox'].filter(
  (shell) => spawnSync(shell, ['-c', ':'].slice(shell === 'busybox' ? 2 : 0)).error === undefined,
);
const HOST = { arch: process.arch === 'arm64' ? 'arm64' : 'x64', libc: 'glibc' } as const;
const FILE = `headgate-agent-linux-${HOST.arch}`;

/** As large as a download that may break off, and as quick as a shell. `release.test.ts` builds real ones. */
const program = (version: string) =>
  Buffer.concat([Buffer.from(`#!/bin/sh\necho ${version}\nexit\n`), Buffer.alloc(300_000, '#')]);

/** A release in a folder of releases, as `agent/release.ts` writes it. */
function writeRelease(releases: string, version: string): void {
  const data = program(version);
  const sha256 = digestOf(data);
  const channel = version.startsWith('dev-') ? 'dev' : 'stable';
  const file = {
    os: 'linux',
    ...HOST,
    name: FILE,
    checksum: `sha256:${sha256}`,
    bytes: data.length,
    signature: null,
  };
  const folder = join(releases, version);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, FILE), data, { mode: 0o755 });
  writeFileSync(join(folder, 'SHA256SUMS'), `${sha256}  ${FILE}\n`);
  writeFileSync(
    join(folder, 'release.json'),
    JSON.stringify({ version, channel, releasedAt: new Date(0).toISOString(), files: [file] }),
  );
}

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

describe('the install script', function () {
  this.timeout(30_000);
  let dir: string;
  let prefix: string;
  let test: TestController;

  before(async function () {
    if (process.platform !== 'linux') this.skip();
    dir = mkdtempSync(join(tmpdir(), 'headgate-install-'));
    const out = join(dir, 'releases');
    for (const version of [AGENT_VERSION, 'dev-1a2b3c4']) writeRelease(out, version);
    test = await startTestController({ agentReleases: out });
  });
  after(async () => {
    await test?.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  let n = 0;
  beforeEach(() => {
    n += 1;
    prefix = join(dir, `prefix-${n}`);
  });

  const run = (command: string, env: Record<string, string> = {}): Promise<Outcome> =>
    new Promise((done) => {
      execFile(
        'sh',
        ['-c', command],
        { env: { PATH: process.env.PATH ?? '', ...env }, cwd: dir },
        (error, stdout, stderr) => done({ code: Number(error?.code ?? 0), stdout, stderr }),
      );
    });
  const install = (words = '', url = test.url, env: Record<string, string> = {}) =>
    run(`curl -fsSL ${url}/agent/install.sh | sh -s -- --no-service --prefix '${prefix}' ${words}`, env);
  const executable = () => join(prefix, 'lib/headgate-agent/headgate-agent');
  const nothing = () =>
    existsSync(prefix)
      ? readdirSync(prefix, { recursive: true })
          .map(String)
          .filter((name) => !['lib', 'bin'].includes(name))
      : [];

  for (const shell of SHELLS) {
    it(`is understood by ${shell}`, () => {
      const words = shell === 'busybox' ? ['sh', '-n', SCRIPT] : ['-n', SCRIPT];
      expect(spawnSync(shell, words, { encoding: 'utf8' }).stderr).to.equal('');
    });
  }

  it('installs the newest agent, which says its version', async () => {
    const { code, stdout, stderr } = await install();
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
    expect(stdout).to.include(`installed ${executable()} ${AGENT_VERSION}`);
    expect(stdout).to.include(`SVC_URL=${test.config.baseUrl}`);
    const said = spawnSync(join(prefix, 'bin/headgate-agent'), ['--version'], { encoding: 'utf8' });
    expect(said.stdout.trim()).to.equal(AGENT_VERSION);
    expect(statSync(executable()).mode & 0o777).to.equal(0o755);
    expect(readdirSync(join(prefix, 'lib/headgate-agent'))).to.deep.equal(['headgate-agent']);
  });

  it('changes nothing the second time, and brings another version up to date', async () => {
    await install('--channel dev');
    expect(spawnSync(executable(), ['--version'], { encoding: 'utf8' }).stdout.trim()).to.equal(
      'dev-1a2b3c4',
    );
    const { ino } = statSync(executable());
    const again = await install('--channel dev');
    expect(again.stdout).to.include('is dev-1a2b3c4 already');
    expect(statSync(executable()).ino).to.equal(ino);
    await install(`--version ${AGENT_VERSION}`);
    expect(spawnSync(executable(), ['--version'], { encoding: 'utf8' }).stdout.trim()).to.equal(
      AGENT_VERSION,
    );
  });

  it('makes nothing ready in the folder of the agent, whose user could put something else in its place', async () => {
    const tools = join(dir, `tools-${n}`);
    mkdirSync(tools);
    writeFileSync(
      join(tools, 'curl'),
      `#!/bin/sh\necho "$*" >> ${tools}/said\nPATH=\${PATH#*:} exec curl "$@"\n`,
      {
        mode: 0o755,
      },
    );
    expect((await install('', test.url, { PATH: `${tools}:${process.env.PATH}` })).code).to.equal(0);
    const written = [...readFileSync(join(tools, 'said'), 'utf8').matchAll(/ -o (\S+)/g)].map(
      ([, path]) => path,
    );
    expect(written).to.have.length(3);
    for (const path of written) expect(path).not.to.include('lib/headgate-agent/');
    expect(readdirSync(join(prefix, 'lib'))).to.deep.equal(['headgate-agent']);
  });

  if (SHELLS.includes('busybox')) {
    it('needs no more than BusyBox, with its wget', async () => {
      const tools = join(dir, `tools-${n}`);
      mkdirSync(tools);
      execFileSync('busybox', ['--install', '-s', tools]);
      const env = { PATH: tools };
      const command = `wget -qO- ${test.url}/agent/install.sh | sh -s -- --no-service --prefix '${prefix}'`;
      const { code, stderr } = await run(`exec ${tools}/sh -c "${command}"`, env);
      expect(stderr).to.equal('');
      expect(code).to.equal(0);
      expect(readdirSync(join(prefix, 'lib/headgate-agent'))).to.deep.equal(['headgate-agent']);
    });
  }

  it('takes the agent for musl where ldd says so', async () => {
    const tools = join(dir, `tools-${n}`);
    mkdirSync(tools);
    writeFileSync(join(tools, 'ldd'), '#!/bin/sh\necho "musl libc (x86_64)" >&2\nexit 1\n', { mode: 0o755 });
    const { stderr } = await install('', test.url, { PATH: `${tools}:${process.env.PATH}` });
    expect(stderr).to.include(`was not built for this machine (${FILE}-musl)`);
    expect(nothing()).to.deep.equal([]);
  });

  it('is removed again with all that it brought', async () => {
    await install();
    const { code, stdout } = await install('--uninstall');
    expect(code).to.equal(0);
    expect(stdout).to.include('removed');
    expect(nothing()).to.deep.equal([]);
  });

  const wrong: [words: string, message: RegExp][] = [
    ['--frobnicate', /unknown option --frobnicate/],
    ['--version', /--version needs a value/],
    ['--version "v1; touch x"', /--version must be like v1\.2\.3/],
    ['--version v9.9.9', /does not serve the agent v9\.9\.9/],
    ['--channel nightly', /--channel must be stable or dev/],
    ['--prefix relative', /--prefix must be an absolute path/],
    ['--prefix /tmp/../etc', /--prefix must be an absolute path/],
    ["--prefix '/tmp/a b'", /--prefix must be an absolute path/],
    ['--user -x', /--user must be the name of a user/],
  ];
  for (const [words, message] of wrong) {
    it(`refuses ${words} with one line`, async () => {
      const { code, stderr } = await install(words);
      expect(code).to.equal(1);
      const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('curl:'));
      expect(lines).to.have.length(1);
      expect(lines[0]).to.match(message);
      expect(nothing()).to.deep.equal([]);
    });
  }

  describe('of a server that is not what it should be', () => {
    let server: ScriptedServer;
    let content: Buffer;
    let announced: string;
    beforeEach(async () => {
      server = await startServer();
      content = program(AGENT_VERSION);
      announced = digestOf(content);
      const at = `/agent/releases/${AGENT_VERSION}`;
      server.files['/agent/install.sh'] = (_, response) => response.end(installScript(server.url));
      server.files['/agent/releases/stable/VERSION'] = (_, response) => response.end(`${AGENT_VERSION}\n`);
      server.files[`${at}/SHA256SUMS`] = (_, response) => response.end(`${announced}  ${FILE}\n`);
      server.files[`${at}/${FILE}`] = (_, response) => response.end(content);
    });
    afterEach(() => server.close());
    const refused = async (message: RegExp) => {
      const { code, stderr } = await install('', server.url);
      expect(stderr).to.match(message);
      expect(code).to.equal(1);
      expect(nothing()).to.deep.equal([]);
    };
    const at = (name: string) => `/agent/releases/${AGENT_VERSION}/${name}`;

    it('installs what is as announced: the compiled agent', async () => {
      await ensureAgent();
      content = readFileSync(AGENT);
      announced = digestOf(content);
      expect((await install('', server.url)).code).to.equal(0);
      expect(spawnSync(executable(), ['--version'], { encoding: 'utf8' }).stdout).to.equal(
        `${AGENT_VERSION}\n`,
      );
    });
    it('refuses another file', async () => {
      content = Buffer.from(content);
      content[1_000] = (content[1_000] ?? 0) ^ 1;
      await refused(/the SHA-256 of .* is not the announced one; nothing was installed/);
    });
    it('refuses a download that was cut off', async () => {
      server.files[at(FILE)] = (_, response) => {
        response.writeHead(200, { 'content-length': String(content.length) });
        response.write(content.subarray(0, 100_000), () => response.destroy());
      };
      await refused(/the download of .* broke off; run this again/);
    });
    it('refuses one that is short and says so', async () => {
      content = content.subarray(0, 100_000);
      await refused(/is not the announced one/);
    });
    it('refuses a page in place of a version, and sums without our file', async () => {
      server.files['/agent/releases/stable/VERSION'] = (_, response) =>
        response.end('<html>; rm -rf /</html>');
      await refused(/names no version; is it a Headgate controller\?/);
      server.files['/agent/releases/stable/VERSION'] = (_, response) => response.end(AGENT_VERSION);
      server.files[at('SHA256SUMS')] = (_, response) => response.end(`${'0'.repeat(64)}  other\n`);
      await refused(/was not built for this machine/);
    });
    it('does nothing where the script itself was cut off', async () => {
      const whole = installScript(server.url);
      for (const part of [0.5, 0.9, 0.99]) {
        server.files['/agent/install.sh'] = (_, response) =>
          response.end(whole.slice(0, whole.length * part));
        await install('', server.url);
        expect(nothing()).to.deep.equal([]);
      }
    });
    it('leaves the agent that is there alone when a new one is refused', async () => {
      mkdirSync(join(prefix, 'lib/headgate-agent'), { recursive: true });
      writeFileSync(executable(), 'the one before', { mode: 0o755 });
      content = Buffer.from('something else');
      const { code } = await install('', server.url);
      expect(code).to.equal(1);
      expect(readFileSync(executable(), 'utf8')).to.equal('the one before');
      expect(readdirSync(join(prefix, 'lib/headgate-agent'))).to.deep.equal(['headgate-agent']);
    });
  });

  describe('of the service', () => {
    const service = (words = '', env: Record<string, string> = {}) =>
      run(`curl -fsSL ${test.url}/agent/install.sh | sh -s -- ${words}`, { DESTDIR: prefix, ...env });
    const settings = () => join(prefix, 'etc/headgate-agent/agent.env');
    const unit = () => readFileSync(join(prefix, 'etc/systemd/system/headgate-agent.service'), 'utf8');

    it('writes settings that only root may read, and keeps them the next time', async () => {
      const { code, stderr } = await service('', {
        SVC_TOKEN: 'hge_canary',
        SVC_NODE_LABELS: 'role=edge,note=a "b" \\c',
        SVC_DATA_DIR: '/var/lib/elsewhere',
        NO_PROXY: 'localhost,.example.com',
        NODE_EXTRA_CA_CERTS: '/etc/ssl/private-ca.pem',
        OTHER: 'x',
      });
      expect(stderr).to.equal('');
      expect(code).to.equal(0);
      expect(statSync(settings()).mode & 0o777).to.equal(0o600);
      const text = readFileSync(settings(), 'utf8');
      expect(text.split('\n').slice(1).filter(Boolean).sort()).to.deep.equal([
        'NODE_EXTRA_CA_CERTS="/etc/ssl/private-ca.pem"',
        'NO_PROXY="localhost,.example.com"',
        'SVC_DATA_DIR="/var/lib/elsewhere"',
        'SVC_NODE_LABELS="role=edge,note=a \\"b\\" \\\\c"',
        'SVC_TOKEN="hge_canary"',
        `SVC_URL=${test.config.baseUrl}`,
      ]);
      expect(unit()).to.include('\nReadWritePaths=/usr/local/lib/headgate-agent /var/lib/elsewhere\n');
      const again = await service('--user root', { SVC_TOKEN: 'hge_other' });
      expect(again.stdout)
        .to.include(`kept ${settings()}`)
        .and.to.include('SVC_TOKEN given now is not in it')
        .and.to.match(/stop the agent, delete \S+\/node-token, and start it again$/m);
      expect(readFileSync(settings(), 'utf8')).to.equal(text);
      expect(unit()).to.include('\nUser=root\n').and.not.to.include('hge_');
    });

    it('writes a unit that systemd understands', async function () {
      await service();
      expect(unit()).to.match(/^ExecStart=\/usr\/local\/lib\/headgate-agent\/headgate-agent$/m);
      for (const line of ['Restart=always', 'KillMode=mixed', 'TimeoutStopSec=630', 'User=headgate-agent'])
        expect(unit()).to.include(`\n${line}\n`);
      // As the machine will see it on which this is unpacked.
      expect(unit())
        .to.include('\nEnvironmentFile=/etc/headgate-agent/agent.env\n')
        .and.not.to.include(prefix);
      const file = join(prefix, 'headgate-agent.service');
      // The paths of this machine, which has neither the program nor the user.
      writeFileSync(
        file,
        unit()
          .replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true')
          .replace(/^User=.*$/m, ''),
      );
      const said = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
      if (said.error) this.skip();
      expect(said.stderr.split('\n').filter((line) => line.includes('headgate-agent'))).to.deep.equal([]);
    });

    it('takes back an update that did not live, before it starts the agent', async () => {
      await service();
      const command = /^ExecStartPre=\/bin\/sh -c '(.*)'$/m.exec(unit())?.[1] ?? '';
      const folder = join(dir, `unit-${n}`);
      mkdirSync(folder);
      const here = command.replaceAll('/usr/local/lib/headgate-agent/', `${folder}/`);
      const file = (ending: string) => join(folder, `headgate-agent${ending}`);
      writeFileSync(file(''), 'new');
      expect((await run(here)).code).to.equal(0);
      expect(readdirSync(folder)).to.deep.equal(['headgate-agent']);
      writeFileSync(file('.previous'), 'old');
      writeFileSync(file('.pending'), 'which');
      expect((await run(here)).code).to.equal(0);
      expect(readFileSync(file(''), 'utf8')).to.equal('old');
      expect(readFileSync(file('.failed'), 'utf8')).to.equal('which');
      expect(readdirSync(folder).sort()).to.deep.equal(['headgate-agent', 'headgate-agent.failed']);
    });

    it('is removed with the data where that is asked for, and nothing else', async () => {
      await service('', { SVC_DATA_DIR: '/srv/shared' });
      const data = join(prefix, 'srv/shared');
      mkdirSync(join(data, 'pipelines'), { recursive: true });
      writeFileSync(join(data, 'node-token'), 'x');
      writeFileSync(join(data, 'of-others'), 'x');
      mkdirSync(join(prefix, 'srv/shared/certs'));
      expect((await service('--uninstall')).stdout).to.include('kept:');
      expect(existsSync(settings())).to.equal(true);
      expect((await service('--uninstall --purge')).code).to.equal(0);
      expect(readdirSync(data)).to.deep.equal(['of-others']);
      expect(existsSync(settings())).to.equal(false);
      // Where no agent has ever enrolled, a folder of that name is somebody else's.
      mkdirSync(join(data, 'data'));
      await service('', { SVC_DATA_DIR: '/srv/shared' });
      expect((await service('--uninstall --purge')).code).to.equal(0);
      expect(readdirSync(data)).to.deep.equal(['data', 'of-others']);
    });

    it('stops an agent that runs without a service, which would write its token again', async () => {
      await service('', { SVC_DATA_DIR: '/srv/agent' });
      const server = await startServer();
      const data = join(prefix, 'srv/agent');
      const installed = join(prefix, 'usr/local/lib/headgate-agent/headgate-agent');
      await ensureAgent();
      rmSync(installed);
      copyFileSync(AGENT, installed);
      const agent = spawn(installed, [], {
        env: { SVC_URL: server.url, SVC_TOKEN: 'hge_x', SVC_DATA_DIR: data, SVC_METRICS_PORT: '0' },
        stdio: 'ignore',
      });
      try {
        await until(() => server.heartbeats.length > 0, { what: 'a heartbeat' });
        expect(readdirSync(data)).to.include('node-token');
        expect((await service('--uninstall --purge')).code).to.equal(0);
        await until(() => agent.exitCode !== null, { what: 'the agent to be told', timeoutMs: 5_000 });
        expect(agent.exitCode).to.equal(0);
        expect(existsSync(data)).to.equal(false);
      } finally {
        agent.kill('SIGKILL');
        await server.close();
      }
    });
  });
});
