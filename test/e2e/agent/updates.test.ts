import {
  copyFileSync,
  createReadStream,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { buildAgent } from '../../../agent/build.ts';
import { processesNaming } from '../../support/harness/processes.ts';
import { until } from '../../support/harness/until.ts';
import {
  AGENT,
  type AgentProcess,
  ensureAgent,
  isAlive,
  makeWorkplace,
  type Workplace,
} from './agent-process.ts';
import { deployed } from './deployment.ts';
import { pipeline, type ScriptedServer, startServer } from './scripted-server.ts';
import { digestOf, keys, script, signed } from './update-files.ts';

const NEXT = 'v0.2.0';
const RAW_KEY = keys.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');

describe('updates of an agent', function () {
  this.timeout(60_000);
  let builds: string;
  let next: { path: string; digest: string };
  let server: ScriptedServer;
  let place: Workplace;
  /** The executable of the agent that runs, in a folder of its own. */
  let executable: string;
  let agent: AgentProcess;

  before(async function () {
    await ensureAgent();
    builds = mkdtempSync(join(tmpdir(), 'headgate-next-'));
    const path = join(builds, 'headgate-agent-next');
    if (deployed('STANDALONE', builds) === undefined) this.skip();
    await buildAgent(path, { version: NEXT });
    next = { path, digest: digestOf(readFileSync(path)) };
  });
  after(() => rmSync(builds, { recursive: true, force: true }));

  async function setUp(): Promise<void> {
    server = await startServer();
    server.pipelines = [pipeline('p1'), pipeline('p2')];
    place = await makeWorkplace();
    executable = install(join(place.dir, 'bin'));
  }
  async function tearDown(): Promise<void> {
    for (const { pid } of processesNaming(executable)) process.kill(pid, 'SIGKILL');
    await place.clean();
    await server.close();
  }

  /** The agent as it was built, under a name of its own. */
  function install(folder: string): string {
    const path = join(folder, 'headgate-agent');
    mkdirSync(folder, { recursive: true });
    try {
      linkSync(AGENT, path);
    } catch {
      copyFileSync(AGENT, path);
    }
    return path;
  }

  function run(env: Record<string, string> = {}): AgentProcess {
    const under = `${deployed('STANDALONE', place.dir)} '${executable}' "$@"`;
    agent = place.runCompiled({ SVC_URL: server.url, SVC_TOKEN: 'enroll-me', ...env }, [], under);
    return agent;
  }
  /** Without the lines of engines that serve no metrics, which would hide all others. */
  const said = () =>
    agent
      .output()
      .split('\n')
      .filter((line) => !line.includes('engine metrics not read'))
      .join('\n')
      .slice(-3_000);
  const started = () =>
    until(() => ['p1', 'p2'].every((id) => place.engines().includes(server.report(id)?.pid ?? 0)), {
      what: () => `both engines run:\n${said()}`,
      timeoutMs: 12_000,
    });
  const version = () => server.heartbeats.at(-1)?.agentVersion;
  const error = () => server.heartbeats.at(-1)?.updateError ?? null;

  /** Serves the file and tells the agent of it. */
  function offer(
    file: Buffer | string,
    fields: Partial<NonNullable<ScriptedServer['pendingAction']>> = {},
  ): void {
    const data = typeof file === 'string' ? null : file;
    server.files['/files/agent'] = (_, response) => {
      if (data) response.end(data);
      else createReadStream(String(file)).pipe(response);
    };
    ask({ checksum: data ? digestOf(data) : next.digest, ...fields });
  }
  function ask(fields: Partial<NonNullable<ScriptedServer['pendingAction']>>): void {
    server.pendingAction = {
      type: 'self_update',
      targetVersion: NEXT,
      downloadUrl: `${server.url}/files/agent`,
      checksum: next.digest,
      ...fields,
    };
    server.push({ type: 'config_changed', reason: 'update' });
  }
  const beside = () => readdirSync(dirname(executable)).filter((name) => name !== 'headgate-agent');
  const enginesOnce = async () => {
    await started();
    expect(place.engines()).to.have.members([server.report('p1')?.pid, server.report('p2')?.pid]);
  };

  describe('that succeed', () => {
    beforeEach(setUp);
    afterEach(tearDown);

    it('bring the new version in place, fetched past a proxy: the same pid, and each engine once', async () => {
      run({ HTTP_PROXY: 'http://127.0.0.1:9' });
      await started();
      const engines = place.engines();
      offer(next.path, { checksum: `sha256:${next.digest.toUpperCase()}` });
      await until(() => version() === NEXT, {
        what: () => `the new version is told:\n${said()}`,
        timeoutMs: 20_000,
      });
      server.heartbeats = [];
      await enginesOnce();
      expect(place.engines()).not.to.include.members(engines);
      expect(isAlive(agent.pid)).to.equal(true);
      expect(agent.output()).to.include('updated from v0.1.0 to v0.2.0');
      expect(agent.output().split('msg="agent started"')).to.have.length(3);
      await until(() => beside().length === 0, { what: 'nothing is left beside it' });
      expect(statSync(executable).mode & 0o777).to.equal(statSync(AGENT).mode & 0o777);
      expect(digestOf(readFileSync(executable))).to.equal(next.digest);
      expect(error()).to.equal(null);
      await until(() => processesNaming('svc-agent-watchdog').length === 0, {
        what: 'the watchdog has ended',
      });
      expect(await agent.terminate()).to.equal(0);
      expect(place.engines()).to.deep.equal([]);
    });

    it('come by the push channel too, signed by the pinned key, one at a time however often they are asked for', async () => {
      run({ SVC_UPDATE_PUBLIC_KEY: RAW_KEY });
      await started();
      let downloads = 0;
      server.files['/files/agent'] = (_, response) => {
        downloads += 1;
        createReadStream(next.path).pipe(response);
      };
      const message = {
        type: 'action',
        action: 'self_update',
        targetVersion: NEXT,
        downloadUrl: `${server.url}/files/agent`,
        checksum: next.digest,
        signature: signed(NEXT, next.digest),
      } as const;
      for (let n = 0; n < 5; n += 1) server.push(message);
      server.push({ type: 'action', action: 'restart' });
      await until(() => version() === NEXT, {
        what: () => `the new version is told:\n${said()}`,
        timeoutMs: 20_000,
      });
      server.heartbeats = [];
      await enginesOnce();
      expect(downloads).to.equal(1);
      expect(agent.output()).to.include('restart ignored: an update is under way');
    });

    it('are not needed for a restart, which keeps the pid and starts each engine anew and once', async () => {
      run();
      await started();
      const engines = place.engines();
      const openFiles = () => readdirSync(`/proc/${agent.pid}/fd`).length;
      const handles = openFiles();
      server.push({ type: 'action', action: 'restart' });
      await until(() => agent.output().split('msg="agent started"').length === 3, {
        what: () => `it starts again:\n${said()}`,
        timeoutMs: 10_000,
      });
      server.heartbeats = [];
      await enginesOnce();
      expect(place.engines()).not.to.include.members(engines);
      // A request may be under way.
      await until(() => openFiles() <= handles + 2, {
        what: () => `${openFiles()} files are open, ${handles} were`,
      });
      expect(await agent.terminate()).to.equal(0);
    });
  });

  it('fail on a file that no system here can run, and all is as it was', async () => {
    await setUp();
    try {
      run();
      await started();
      const engines = place.engines();
      const files: [data: Buffer, reason: RegExp][] = [
        [Buffer.from('<html>not an agent</html>\n'), /cannot be run here \(ENOEXEC\)/],
        [elfFor(0xb7), /cannot be run here \(ENOEXEC\); it must be built for linux/],
        [Buffer.alloc(0), /cannot be run here|sent no file/],
      ];
      for (const [index, [data, reason]] of files.entries()) {
        offer(data, { targetVersion: `v0.3.${index}` });
        await until(() => error()?.includes(`v0.3.${index} failed`) ?? false, { what: said });
        expect(error()).to.match(reason);
        expect(beside()).to.deep.equal([]);
      }
      expect(digestOf(readFileSync(executable))).to.equal(digestOf(readFileSync(AGENT)));
      expect(place.engines()).to.deep.equal(engines);
    } finally {
      await tearDown();
    }
  });

  describe('to a version that does not live', () => {
    beforeEach(setUp);
    afterEach(tearDown);
    const broken = (version = 'v0.7.0') => script(version, 'sleep 0.2; exit 1');
    const COMEBACK = 'update to v0.7.0 failed: the new version ended before its first poll';

    it('are taken back within 30 s, told once, and not tried again', async () => {
      run();
      await started();
      offer(broken());
      server.pendingAction = { ...server.pendingAction!, targetVersion: 'v0.7.0' };
      await until(() => error() === COMEBACK, {
        what: () => `the old one is back: ${error()}\n${said()}`,
        timeoutMs: 30_000,
      });
      server.heartbeats = [];
      await enginesOnce();
      expect(version()).to.equal('v0.1.0');
      expect(error()).to.equal(COMEBACK);
      await until(() => beside().length === 0, { what: () => `nothing is left: ${beside()}` });
      expect(digestOf(readFileSync(executable))).to.equal(digestOf(readFileSync(AGENT)));
      const [revived] = processesNaming(executable);
      expect(readFileSync(`/proc/${revived?.pid}/environ`, 'utf8')).not.to.include('SVC_TOKEN');
      process.kill(revived?.pid ?? 0, 'SIGTERM');
      await until(() => processesNaming(executable).length === 0, { what: 'it ends', timeoutMs: 8_000 });
      expect(place.engines()).to.deep.equal([]);
    });

    it('are taken back, and started by whoever starts agents there', async () => {
      run({ SVC_SUPERVISED: '1' });
      await started();
      offer(broken(), { targetVersion: 'v0.7.0' });
      expect(await agent.ended).to.equal(1);
      await until(() => !existsSync(`${executable}.previous`), {
        what: 'the old one is back',
        timeoutMs: 10_000,
      });
      server.pendingAction = null;
      run({ SVC_SUPERVISED: '1' });
      await until(() => error() === COMEBACK, { what: () => `it is told: ${error()}\n${said()}` });
      server.heartbeats = [];
      await enginesOnce();
    });

    it('are kept when the agent is ended before its first poll, and nobody starts it again', async () => {
      run();
      await started();
      // The new version gets no answer, so that it never polls in full.
      offer(next.path);
      await until(() => existsSync(`${executable}.previous`), {
        what: () => `it is swapped\n${said()}`,
        timeoutMs: 20_000,
      });
      server.override.config = () => {};
      await until(() => agent.output().split('msg="agent started"').length === 3, {
        what: () => `it has begun\n${said()}`,
        timeoutMs: 10_000,
      });
      expect(await agent.terminate()).to.equal(0);
      await until(() => processesNaming('svc-agent-watchdog').length === 0, {
        what: 'the watchdog has ended',
      });
      expect(beside()).to.deep.equal(['headgate-agent.previous']);
      expect(processesNaming(executable)).to.deep.equal([]);
    });
  });

  it('are no failure where the new version is told to end before it has begun', async () => {
    await setUp();
    try {
      writeFileSync(`${executable}.pending`, `v0.1.0\n${'ab'.repeat(32)}\nv0.0.9\n\n`);
      let asked = false;
      server.override.enroll = () => {
        asked = true;
      };
      run();
      await until(() => asked, { what: () => `it enrolls\n${said()}` });
      expect(await agent.terminate()).to.equal(0);
      expect(beside()).to.deep.equal([]);
    } finally {
      await tearDown();
    }
  });
});

/** Just enough of a 64-bit ELF file for the system to see that it is not for this processor. */
function elfFor(machine: number): Buffer {
  const header = Buffer.alloc(64);
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  header.writeUInt16LE(2, 16);
  header.writeUInt16LE(process.arch === 'arm64' ? 0x3e : machine, 18);
  header.writeUInt32LE(1, 20);
  return header;
}
