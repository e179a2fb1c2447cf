/** Orders for updates that come to nothing, and those that are not needed: the agent runs in the test's process. */
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { PACE_MS } from './agent-process.ts';
import type { InProcessAgent, InProcessDeps } from './in-process-agent.ts';
import { makeScene, type Scene } from './scene.ts';
import { pipeline, type ScriptedServer } from './scripted-server.ts';
import { digestOf, keys, script, signed } from './update-files.ts';

const NEXT = 'v0.2.0';
const isRoot = process.getuid?.() === 0;
/** What stands for the executable of the agent. */
const OLD = script('v0.1.0');

describe('an order for an update', function () {
  this.timeout(30_000);
  let scene: Scene;
  let server: ScriptedServer;
  let agent: InProcessAgent;
  let executable: string;
  /** Executables that the agent has become. */
  let executed: string[] = [];

  const until: Scene['until'] = (...args) => scene.until(...args);
  /** `path`: of the executable; in the folder of the scene unless given. */
  async function open(
    env: Record<string, string> = {},
    deps: InProcessDeps = {},
    path?: string,
  ): Promise<void> {
    scene = await makeScene();
    ({ server } = scene);
    server.pipelines = [pipeline('p1'), pipeline('p2')];
    executable = path ?? join(mkdtempSync(join(scene.place.dir, 'bin-')), 'headgate-agent');
    writeFileSync(executable, OLD, { mode: 0o755 });
    executed = [];
    agent = scene.place.run({ SVC_URL: server.url, SVC_TOKEN: 'enroll-me', ...env }, [], {
      ...{ executable, deploymentMode: 'STANDALONE', execute: (file: string) => executed.push(file) },
      ...deps,
    });
    await scene.reach('p1', 'RUNNING');
    await scene.reach('p2', 'RUNNING');
  }
  const version = () => server.heartbeats.at(-1)?.agentVersion;
  const error = () => server.heartbeats.at(-1)?.updateError ?? null;
  const beside = () => readdirSync(dirname(executable)).filter((name) => name !== 'headgate-agent');
  function offer(data: Buffer, fields: Partial<NonNullable<ScriptedServer['pendingAction']>>): void {
    server.files['/files/agent'] = (_, response) => response.end(data);
    ask({ checksum: digestOf(data), ...fields });
  }
  function ask(fields: Partial<NonNullable<ScriptedServer['pendingAction']>>): void {
    server.pendingAction = {
      ...{ type: 'self_update', targetVersion: NEXT, downloadUrl: `${server.url}/files/agent` },
      ...{ checksum: 'cd'.repeat(32), ...fields },
    };
    server.push({ type: 'config_changed', reason: 'update' });
  }

  describe('fails', () => {
    let engines: number[];
    let ino: number;
    let n = 0;
    before(async () => {
      await open();
      engines = scene.place.engines();
      ({ ino } = statSync(executable));
    });
    after(() => scene.close());

    /** All is as it was but for the error. */
    async function refused(reason: RegExp, fields: Parameters<typeof ask>[0] = {}): Promise<void> {
      n += 1;
      const targetVersion = fields.targetVersion ?? `v0.3.${n}`;
      ask({ ...fields, targetVersion });
      const start = `update to ${targetVersion.slice(0, 64)}`;
      const isTold = (text: string) =>
        text.startsWith(`${start} failed: `) || text.startsWith(`${start} refused: `);
      await until(() => isTold(error() ?? ''), { what: () => `the failure is told, and not ${error()}` });
      expect(error()).to.match(reason);
      expect(beside(), 'files beside the executable').to.deep.equal([]);
      expect(statSync(executable).ino).to.equal(ino);
      expect(readFileSync(executable)).to.deep.equal(OLD);
      expect(executed).to.deep.equal([]);
      expect(scene.place.engines()).to.deep.equal(engines);
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
      await refused(/connection refused/, {
        downloadUrl: `https://127.0.0.1:${scene.place.portBase + 7}/agent`,
      });
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

    it('on a server that stops sending', async () => {
      serve((response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('x');
      });
      scene.place.paceMs = 250;
      await refused(/the server sent nothing for 30 s/);
      scene.place.paceMs = PACE_MS;
    });

    it('and is followed by none that was cancelled before it began', async () => {
      let answer: (() => void) | undefined;
      serve((response) => {
        answer = () => response.end(small);
      });
      /** The answer before the second poll has been taken in. */
      const polledTwice = async () => {
        for (const _ of [1, 2]) {
          const { length } = server.polls;
          server.push({ type: 'config_changed', reason: 'update' });
          await until(() => server.polls.length > length, { what: 'a poll' });
        }
      };
      ask({ targetVersion: 'v0.8.1' });
      await until(() => answer !== undefined, { what: 'the first is fetched' });
      ask({ targetVersion: 'v0.8.2' });
      await polledTwice();
      server.pendingAction = null;
      await polledTwice();
      answer?.();
      await until(() => error()?.startsWith('update to v0.8.1 failed') ?? false, {
        what: () => `${error()}`,
      });
      expect(agent.output()).to.include('v0.8.1').and.not.to.include('v0.8.2');
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
      ask({ targetVersion: 'v0.4.0', checksum: `sha256:${'CD'.repeat(32)}` });
      const heard = server.heartbeats.length;
      await until(() => server.heartbeats.length > heard + 3, { what: 'it goes on' });
      expect(requests).to.equal(1);
    });

    const large = Buffer.concat([script('v0.5.0'), Buffer.alloc(200_000, '#')]);

    it('where no space is left', async function () {
      if (!isRoot) this.skip();
      await elsewhere(async () => {
        offer(large, { targetVersion: 'v0.5.0' });
        await until(() => error() !== null, { what: 'the failure is told' });
        expect(error()).to.match(/cannot write beside the executable \(ENOSPC\): no space is left/);
      });
    });

    it('where the folder cannot be written', async function () {
      if (!isRoot) this.skip();
      await elsewhere(async (folder) => {
        execFileSync('mount', ['-o', 'remount,ro', folder]);
        offer(large, { targetVersion: 'v0.6.0' });
        await until(() => error() !== null, { what: 'the failure is told' });
        expect(error()).to.match(/cannot write beside the executable \(EROFS\): it is read-only/);
      });
    });

    /** An agent of its own that lies on a file system of its own. */
    async function elsewhere(check: (folder: string) => Promise<void>): Promise<void> {
      const others = { scene, server, executable, agent };
      const folder = mkdtempSync(join(tmpdir(), 'headgate-small-disk-'));
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', folder]);
      try {
        await open({}, {}, join(folder, 'headgate-agent'));
        const engines = scene.place.engines();
        await check(folder);
        expect(beside()).to.deep.equal([]);
        expect(readFileSync(executable)).to.deep.equal(OLD);
        expect(scene.place.engines()).to.deep.equal(engines);
      } finally {
        await scene.close();
        execFileSync('umount', ['-l', folder]);
        rmSync(folder, { recursive: true });
        ({ scene, server, executable, agent } = others);
      }
    }
  });

  describe('is refused where a key is pinned', () => {
    before(() =>
      open({ SVC_UPDATE_PUBLIC_KEY: keys.publicKey.export({ format: 'pem', type: 'spki' }).toString() }),
    );
    after(() => scene.close());
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
        /build and sign the release again/,
      ],
    ];
    for (const [index, [what, signature, reason]] of cases.entries()) {
      it(`for ${what}, and nothing is run`, async () => {
        const ran = join(scene.place.dir, 'ran');
        const targetVersion = `v0.2.${index + 1}`;
        const file = Buffer.from(`#!/bin/sh\ntouch ${ran}\necho ${targetVersion}\n`);
        offer(file, { targetVersion, signature: signature(targetVersion, digestOf(file)) });
        await until(() => error()?.includes(`${targetVersion} refused`) ?? false, {
          what: () => `it is refused: ${error()}`,
        });
        expect(error()).to.match(reason);
        expect(existsSync(ran)).to.equal(false);
        expect(beside()).to.deep.equal([]);
      });
    }
  });

  it('is refused in a container', async () => {
    await open({}, { deploymentMode: 'DOCKER' });
    try {
      let requests = 0;
      server.files['/files/agent'] = (_, response) => {
        requests += 1;
        response.end();
      };
      ask({});
      await until(() => error() !== null, { what: 'it is told' });
      expect(error()).to.equal('update to v0.2.0 refused: runs in a container: pull a new image');
      expect(server.heartbeats.at(-1)?.deploymentMode).to.equal('DOCKER');
      expect(requests).to.equal(0);
    } finally {
      await scene.close();
    }
  });

  it('changes nothing when it is for the version that runs', async () => {
    await open();
    try {
      ask({ targetVersion: 'v0.1.0' });
      const heard = server.heartbeats.length;
      await until(() => server.heartbeats.length > heard + 2, { what: 'it goes on' });
      expect(error()).to.equal(null);
      expect(agent.output()).not.to.include('update begins');
    } finally {
      await scene.close();
    }
  });

  it('for a restart stops no engine while the executable is gone, and is followed once it is back', async () => {
    await open();
    try {
      const engines = scene.place.engines();
      rmSync(executable);
      server.push({ type: 'action', action: 'restart' });
      await until(() => agent.output().includes('restart refused'), { what: 'it is refused' });
      expect(scene.place.engines()).to.deep.equal(engines);
      writeFileSync(executable, OLD, { mode: 0o755 });
      server.push({ type: 'action', action: 'restart' });
      await until(() => executed.length > 0, { what: 'it starts again' });
      expect(executed).to.deep.equal([executable]);
      expect(scene.place.engines()).to.deep.equal([]);
    } finally {
      await scene.close();
    }
  });
});
