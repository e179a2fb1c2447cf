/** Updates of the compiled agent, and every way in which one can fail. */
import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
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
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { buildAgent } from '../../../agent/build.ts';
import { releaseStatement } from '../../../agent/update/statement.ts';
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

const NEXT = 'v0.2.0';
const keys = generateKeyPairSync('ed25519');
const RAW_KEY = keys.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');
const isRoot = process.getuid?.() === 0;

/** A new version that is a shell script: says its version, and does what is given when it is started. */
const script = (version: string, otherwise = 'exit 1') =>
  Buffer.from(`#!/bin/sh\n[ "$1" = --version ] && { echo ${version}; exit 0; }\n${otherwise}\n`);
const digestOf = (data: Buffer) => createHash('sha256').update(data).digest('hex');
/** By the pinned key unless another is given, for this machine. */
function signed(version: string, sha256: string, { privateKey } = keys): string {
  const { platform: os, arch } = process;
  return sign(null, releaseStatement({ version, os, arch, sha256 }), privateKey).toString('base64');
}

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

  function run(env: Record<string, string> = {}, mode: 'STANDALONE' | 'DOCKER' = 'STANDALONE'): AgentProcess {
    const under = `${deployed(mode, place.dir)} '${executable}' "$@"`;
    agent = place.run({ SVC_URL: server.url, SVC_TOKEN: 'enroll-me', ...env }, [], under);
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
  const running = () =>
    until(() => server.report('p1')?.status === 'RUNNING' && server.report('p2')?.status === 'RUNNING', {
      what: () => `both pipelines run:\n${said()}`,
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
    await running();
    expect(place.engines()).to.have.members([server.report('p1')?.pid, server.report('p2')?.pid]);
  };

  describe('that succeed', () => {
    beforeEach(setUp);
    afterEach(tearDown);

    it('bring the new version in place: the same pid, and each engine once', async () => {
      run();
      await running();
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
      agent.child.kill('SIGTERM');
      expect(await agent.ended).to.equal(0);
      expect(place.engines()).to.deep.equal([]);
    });

    it('come by the push channel too, one at a time however often they are asked for', async () => {
      run();
      await running();
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

    it('are accepted where a key is pinned and has signed them', async () => {
      run({ SVC_UPDATE_PUBLIC_KEY: RAW_KEY });
      await running();
      offer(next.path, { signature: signed(NEXT, next.digest) });
      await until(() => version() === NEXT, {
        what: () => `the new version is told:\n${said()}`,
        timeoutMs: 20_000,
      });
    });

    it('are fetched past a proxy where the controller is on the machine itself', async () => {
      run({ HTTP_PROXY: 'http://127.0.0.1:9' });
      await running();
      offer(next.path);
      await until(() => version() === NEXT || error() !== null, {
        what: () => `it is told how it went:\n${said()}`,
        timeoutMs: 20_000,
      });
      expect(error()).to.equal(null);
    });

    it('change nothing when it is that version already', async () => {
      run();
      await running();
      ask({ targetVersion: 'v0.1.0' });
      const heard = server.heartbeats.length;
      await until(() => server.heartbeats.length > heard + 2, { what: 'it goes on' });
      expect(error()).to.equal(null);
      expect(agent.output()).not.to.include('update begins');
    });

    it('are not needed for a restart, which keeps the pid and starts each engine anew and once', async () => {
      run();
      await running();
      const engines = place.engines();
      const handles = readdirSync(`/proc/${agent.pid}/fd`).length;
      server.push({ type: 'action', action: 'restart' });
      await until(() => agent.output().split('msg="agent started"').length === 3, {
        what: () => `it starts again:\n${said()}`,
        timeoutMs: 10_000,
      });
      server.heartbeats = [];
      await enginesOnce();
      expect(place.engines()).not.to.include.members(engines);
      expect(readdirSync(`/proc/${agent.pid}/fd`).length, 'open files').to.be.at.most(handles + 2);
      agent.child.kill('SIGTERM');
      expect(await agent.ended).to.equal(0);
    });
  });

  it('stop no engine for a restart while the executable is gone, and restart once it is back', async () => {
    await setUp();
    try {
      run();
      await running();
      const engines = place.engines();
      rmSync(executable);
      server.push({ type: 'action', action: 'restart' });
      await until(() => agent.output().includes('restart refused'), {
        what: () => `it is refused:\n${said()}`,
      });
      expect(place.engines()).to.deep.equal(engines);
      install(dirname(executable));
      server.push({ type: 'action', action: 'restart' });
      await until(() => agent.output().split('msg="agent started"').length === 3, {
        what: () => `it starts again:\n${said()}`,
        timeoutMs: 10_000,
      });
    } finally {
      await tearDown();
    }
  });

  describe('that fail', () => {
    let before_: { ino: number; digest: string; engines: number[] };
    let n = 0;
    before(async () => {
      await setUp();
      run({ SVC_UPDATE_PUBLIC_KEY: '' });
      await running();
      before_ = {
        ino: statSync(executable).ino,
        digest: digestOf(readFileSync(executable)),
        engines: place.engines(),
      };
    });
    after(tearDown);

    /** All is as it was but for the error. */
    async function refused(
      reason: RegExp,
      fields: Parameters<typeof ask>[0] = {},
      timeoutMs = 8_000,
    ): Promise<void> {
      n += 1;
      const targetVersion = fields.targetVersion ?? `v0.3.${n}`;
      ask({ ...fields, targetVersion });
      const start = `update to ${targetVersion.slice(0, 64)}`;
      const isTold = (text: string) =>
        text.startsWith(`${start} failed: `) || text.startsWith(`${start} refused: `);
      await until(() => isTold(error() ?? ''), {
        what: () => `the failure is told, and not ${error()}:\n${said()}`,
        timeoutMs,
      });
      expect(error()).to.match(reason);
      expect(beside(), 'files beside the executable').to.deep.equal([]);
      expect(statSync(executable).ino).to.equal(before_.ino);
      expect(digestOf(readFileSync(executable))).to.equal(before_.digest);
      expect(place.engines()).to.deep.equal(before_.engines);
      expect(version()).to.equal('v0.1.0');
      server.pendingAction = null;
    }
    const serve = (answer: (response: ServerResponse, request: IncomingMessage) => void) => {
      server.files['/files/agent'] = (request, response) => answer(response, request);
    };
    const small = script('v9.9.9');

    it('on another checksum', async () => {
      serve((response) => response.end(small));
      await refused(/its SHA-256 differs/, { checksum: 'ab'.repeat(32) });
    });

    it('on a download that is cut off', async () => {
      serve((response) => {
        response.writeHead(200, { 'content-length': String(small.length + 100) });
        response.write(small, () => response.destroy());
      });
      await refused(/connection closed|differs|failed/, { checksum: digestOf(small) });
    });

    it('on an answer that is no file', async () => {
      serve((response) => response.writeHead(404).end('not found'));
      await refused(/the server answered with status 404/);
    });

    it('on a server that does not answer', async () => {
      await refused(/connection refused/, { downloadUrl: 'https://127.0.0.1:9/agent' });
    });

    it('on plain http elsewhere, and on a redirect to it', async () => {
      await refused(/must begin with https:\/\//, { downloadUrl: 'http://127.0.0.1:9/agent' });
      serve((response) => response.writeHead(302, { location: 'http://127.0.0.1:9/agent' }).end());
      await refused(/must begin with https:\/\//);
    });

    it('on a redirect that leads round and round', async () => {
      let requests = 0;
      serve((response) => {
        requests += 1;
        response.writeHead(307, { location: '/files/agent' }).end();
      });
      await refused(/redirected more than 3 times/);
      expect(requests).to.equal(4);
    });

    it('on an address with a password, which is told to nobody', async () => {
      const address = server.url.replace('http://', 'http://user:canary-of-the-url@');
      await refused(/holds a user name or password/, { downloadUrl: `${address}/files/agent` });
      expect(agent.output() + JSON.stringify(server.heartbeats)).not.to.include('canary-of-the-url');
    });

    it('on a file that is too large', async () => {
      serve((response) => {
        response.writeHead(200, { 'content-length': String(600 * 1024 * 1024) });
        response.write('x');
      });
      await refused(/over the limit of 536870912 bytes/);
    });

    const files: [what: string, data: Buffer, reason: RegExp][] = [
      ['no program', Buffer.from('<html>not an agent</html>\n'), /cannot be run here \(ENOEXEC\)/],
      [
        'a program for another processor',
        elfFor(0xb7),
        /cannot be run here \(ENOEXEC\); it must be built for linux/,
      ],
      ['empty', Buffer.alloc(0), /cannot be run here|sent no file/],
      ['another version', small, /says that it is version "v9\.9\.9"/],
      ['a program that fails', Buffer.from('#!/bin/sh\nexit 3\n'), /ended with code 3/],
      [
        'a program that says too much',
        script(`v0.3.0 && yes | head -c 100000`),
        /says that it is version "v0/,
      ],
    ];
    for (const [what, data, reason] of files) {
      it(`on a file that is ${what}`, async () => {
        serve((response) => response.end(data));
        await refused(reason, { checksum: digestOf(data) });
      });
    }

    it('on a file that does not end when asked for its version', async () => {
      const data = Buffer.from('#!/bin/sh\nsleep 1000 & echo v0.3.0; wait\n');
      serve((response) => response.end(data));
      await refused(/did not tell its version within 10 s/, { checksum: digestOf(data) }, 15_000);
      expect(processesNaming('.svc-update-')).to.deep.equal([]);
    });

    it('on a server that stops sending', async () => {
      serve((response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('x');
      });
      await refused(/the server sent nothing for 30 s/, {}, 40_000);
    });

    it('on a lower version', async () => {
      await refused(/is lower than v0\.1\.0.*SVC_ALLOW_DOWNGRADE=1/, { targetVersion: 'v0.0.9' });
    });

    it('on a version of the other channel, or of none', async () => {
      await refused(/follows the channel stable/, { targetVersion: 'dev-1a2b3c4' });
      await refused(/no version such as/, { targetVersion: '../../v1' });
      await refused(/no SHA-256/, { checksum: 'md5:00' });
    });

    it('and are not tried again with the same file, however often they are asked for', async () => {
      let requests = 0;
      serve((response) => {
        requests += 1;
        response.writeHead(500).end();
      });
      await refused(/status 500/, { targetVersion: 'v0.4.0' });
      ask({ targetVersion: 'v0.4.0', checksum: `sha256:${next.digest}` });
      const heard = server.heartbeats.length;
      await until(() => server.heartbeats.length > heard + 3, { what: 'it goes on' });
      expect(requests).to.equal(1);
    });

    it('where no space is left', async function () {
      if (!isRoot) this.skip();
      await elsewhere(
        (folder) => execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=130m', 'none', folder]),
        async () => {
          offer(next.path, { targetVersion: 'v0.5.0' });
          await until(() => error() !== null, { what: 'the failure is told', timeoutMs: 10_000 });
          expect(error()).to.match(/cannot write beside the executable \(ENOSPC\): no space is left/);
        },
      );
    });

    it('where the folder cannot be written', async function () {
      if (!isRoot) this.skip();
      await elsewhere(
        (folder) => execFileSync('mount', ['-t', 'tmpfs', 'none', folder]),
        async (folder) => {
          execFileSync('mount', ['-o', 'remount,ro', folder]);
          offer(next.path, { targetVersion: 'v0.6.0' });
          await until(() => error() !== null, { what: 'the failure is told', timeoutMs: 10_000 });
          expect(error()).to.match(/cannot write beside the executable \(EROFS\): it is read-only/);
        },
      );
    });

    /** An agent of its own that lies on a file system of its own. */
    async function elsewhere(
      mount: (folder: string) => void,
      check: (folder: string) => Promise<void>,
    ): Promise<void> {
      const kept = { server, place, executable, agent };
      await setUp();
      const folder = join(place.dir, 'mounted');
      mkdirSync(folder);
      mount(folder);
      try {
        executable = install(folder);
        run();
        await running();
        const engines = place.engines();
        await check(folder);
        expect(beside()).to.deep.equal([]);
        expect(digestOf(readFileSync(executable))).to.equal(before_.digest);
        expect(place.engines()).to.deep.equal(engines);
        agent.child.kill('SIGKILL');
        await agent.ended;
      } finally {
        agent.child.kill('SIGKILL');
        await agent.ended;
        execFileSync('umount', ['-l', folder]);
        await tearDown();
        ({ server, place, executable, agent } = kept);
      }
    }
  });

  describe('where a key is pinned', () => {
    before(async () => {
      await setUp();
      run({ SVC_UPDATE_PUBLIC_KEY: keys.publicKey.export({ format: 'pem', type: 'spki' }).toString() });
      await running();
    });
    after(tearDown);
    const other = generateKeyPairSync('ed25519');
    const cases: [
      what: string,
      signature: (version: string, digest: string) => string | undefined,
      reason: RegExp,
    ][] = [
      ['no signature', () => undefined, /it is not signed/],
      [
        'a signature by another key',
        (version, digest) => signed(version, digest, other),
        /does not hold .* the key of SVC_UPDATE_PUBLIC_KEY/,
      ],
      [
        'a signature of another version',
        (_, digest) => signed('v0.9.9', digest),
        /does not hold for headgate-agent v0\.2\.3/,
      ],
      [
        'a signature of the checksum alone',
        (_, digest) => sign(null, Buffer.from(digest, 'hex'), keys.privateKey).toString('base64'),
        /build the release again/,
      ],
    ];
    for (const [index, [what, signature, reason]] of cases.entries()) {
      it(`refuse ${what}, and run nothing`, async () => {
        const ran = join(place.dir, 'ran');
        const targetVersion = `v0.2.${index + 1}`;
        const file = Buffer.from(`#!/bin/sh\ntouch ${ran}\necho ${targetVersion}\n`);
        offer(file, { targetVersion, signature: signature(targetVersion, digestOf(file)) });
        await until(() => error()?.includes(`${targetVersion} refused`) ?? false, { what: () => said() });
        expect(error()).to.match(reason);
        expect(existsSync(ran)).to.equal(false);
        expect(beside()).to.deep.equal([]);
      });
    }
  });

  describe('to a version that does not live', () => {
    beforeEach(setUp);
    afterEach(tearDown);
    const broken = (version = 'v0.7.0') => script(version, 'sleep 0.2; exit 1');
    const COMEBACK = 'update to v0.7.0 failed: the new version ended before its first poll';

    it('are taken back within 30 s, told once, and not tried again', async () => {
      run();
      await running();
      const startedAt = Date.now();
      offer(broken());
      server.pendingAction = { ...server.pendingAction!, targetVersion: 'v0.7.0' };
      await until(() => error() === COMEBACK, {
        what: () => `the old one is back: ${error()}\n${said()}`,
        timeoutMs: 30_000,
      });
      console.log(`      (back after ${Date.now() - startedAt} ms)`);
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
      await running();
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
      await running();
      // The new version gets no answer, so that it never polls in full.
      offer(next.path);
      await until(() => existsSync(`${executable}.pending`), {
        what: () => `it is swapped\n${said()}`,
        timeoutMs: 20_000,
      });
      server.override.config = () => {};
      await until(() => agent.output().split('msg="agent started"').length === 3, {
        what: () => `it has begun\n${said()}`,
        timeoutMs: 10_000,
      });
      agent.child.kill('SIGTERM');
      expect(await agent.ended).to.equal(0);
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
      agent.child.kill('SIGTERM');
      expect(await agent.ended).to.equal(0);
      expect(beside()).to.deep.equal([]);
    } finally {
      await tearDown();
    }
  });

  it('are not for containers', async function () {
    await setUp();
    try {
      if (deployed('DOCKER', place.dir) === undefined) this.skip();
      run({}, 'DOCKER');
      await running();
      let requests = 0;
      server.files['/files/agent'] = (_, response) => {
        requests += 1;
        response.end();
      };
      ask({});
      await until(() => error() !== null, { what: () => `it is told\n${said()}` });
      expect(error()).to.equal('update to v0.2.0 refused: runs in a container: pull a new image');
      expect(server.heartbeats.at(-1)?.deploymentMode).to.equal('DOCKER');
      expect(requests).to.equal(0);
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
