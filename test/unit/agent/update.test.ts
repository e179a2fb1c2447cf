import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parsePushMessage } from '../../../agent/link/push-message.ts';
import { createLogger } from '../../../agent/log.ts';
import { startOf } from '../../../agent/supervise/engine/orphaned-engines.ts';
import { download } from '../../../agent/update/download.ts';
import { addressProblem } from '../../../agent/update/download-address.ts';
import { confirm, failedOf, pendingOf, previousOf, readSwap } from '../../../agent/update/executable-swap.ts';
import { releaseStatement } from '../../../agent/update/release-statement.ts';
import {
  channelOf,
  compareVersions,
  digestOf,
  refusal,
  sameVersion,
} from '../../../agent/update/update-order.ts';
import { type UpdateParts, Updates } from '../../../agent/update/updates.ts';
import { checkSignature, checkVersion, readPublicKey } from '../../../agent/update/verify.ts';
import { watch } from '../../../agent/update/watchdog.ts';
import { AGENT_VERSION } from '../../../agent/version.ts';
import { manualClock, systemClock } from '../../../reconcilers/loops/clock.ts';
import { patient } from '../../support/harness/patience.ts';
import { until } from '../../support/harness/until.ts';

const silent = createLogger('error', () => {});
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');

describe('what an update may be', () => {
  it('tells the channel by the version', () => {
    expect(['v1.2.3', '1.2.3', 'dev-1a2b3c4'].map(channelOf)).to.deep.equal(['stable', 'stable', 'dev']);
    expect(sameVersion('v1.2.3', '1.2.3')).to.equal(true);
    expect(sameVersion('v1.2.3', 'v1.2.30')).to.equal(false);
  });

  it('takes a checksum in either form and any case', () => {
    const hex = 'ab'.repeat(32);
    for (const text of [hex, `sha256:${hex}`, `SHA256:${hex.toUpperCase()}`])
      expect(digestOf(text)).to.equal(hex);
    for (const text of ['', hex.slice(1), `md5:${hex}`, `${hex}0`, `${hex}\n`])
      expect(digestOf(text)).to.equal(undefined);
  });

  const order = { targetVersion: 'v0.2.0', downloadUrl: 'https://x/y', checksum: 'ab'.repeat(32) };
  const refused: [fields: Partial<typeof order>, reason: RegExp][] = [
    [{ targetVersion: 'latest' }, /no version/],
    [{ targetVersion: 'v1.2' }, /no version/],
    [{ targetVersion: 'v1.2.3\n' }, /no version/],
    [{ targetVersion: `v1.2.3-${'x'.repeat(60)}` }, /no version/],
    [{ targetVersion: 'dev-1a2b3c4' }, /follows the channel stable/],
    [{ checksum: 'sha256:' }, /no SHA-256/],
  ];
  for (const [fields, reason] of refused) {
    it(`refuses ${JSON.stringify(fields).slice(0, 60)}`, () => {
      expect(refusal({ ...order, ...fields }, 'v0.1.0')).to.match(reason);
    });
  }
  it('accepts dev for dev, whose versions have no order', () => {
    expect(refusal({ ...order, targetVersion: 'dev-1a2b3c4' }, 'dev-ffff')).to.equal(undefined);
  });

  it('orders versions as semantic versioning does', () => {
    const ascending = ['v0.9.10', '0.10.0', 'v1.0.0-alpha', 'v1.0.0-alpha.1', 'v1.0.0-alpha.beta'];
    ascending.push('v1.0.0-beta.2', 'v1.0.0-beta.11', '1.0.0-rc.1', 'v1.0.0', 'v1.0.1', 'v1.10.0', 'v10.0.0');
    for (const [index, lower] of ascending.entries()) {
      for (const higher of ascending.slice(index + 1)) {
        expect(compareVersions(lower, higher), `${lower} ${higher}`).to.be.below(0);
        expect(compareVersions(higher, lower), `${higher} ${lower}`).to.be.above(0);
      }
    }
    for (const [a, b] of [
      ['v1.2.3', '1.2.3'],
      ['v1.2.3+a', 'v1.2.3+b'],
      ['v1.2.3-rc.1', 'v1.2.3-rc.1'],
    ] as const)
      expect(compareVersions(a, b), `${a} ${b}`).to.equal(0);
  });

  it('refuses a lower version, and says how to allow it', () => {
    for (const targetVersion of ['v0.0.9', '0.0.9', 'v0.1.0-rc.1']) {
      const lower = { ...order, targetVersion };
      expect(refusal(lower, 'v0.1.0')).to.match(/lower than v0\.1\.0.*SVC_ALLOW_DOWNGRADE=1/);
      expect(refusal(lower, 'v0.1.0', { allowDowngrade: true })).to.equal(undefined);
    }
    expect(refusal({ ...order, targetVersion: 'v0.10.0' }, 'v0.9.0')).to.equal(undefined);
    expect(refusal({ ...order, targetVersion: 'dev-1a2b' }, 'v0.1.0', { allowDowngrade: true })).to.match(
      /channel/,
    );
  });

  const addresses: [address: string, from: string | undefined, good: boolean][] = [
    ['https://elsewhere.example/agent', undefined, true],
    ['http://headgate.example:8080/agent', undefined, true],
    ['http://headgate.example:8081/agent', undefined, false],
    ['http://headgate.example/agent', undefined, false],
    ['http://elsewhere.example/agent', undefined, false],
    ['https://user:password@elsewhere.example/', undefined, false],
    ['file:///etc/passwd', undefined, false],
    ['ftp://elsewhere.example/', undefined, false],
    ['/agent', undefined, false],
    ['https://elsewhere.example/b', 'https://elsewhere.example/a', true],
    ['https://elsewhere.example/b', 'http://headgate.example:8080/a', true],
    ['http://headgate.example:8080/agent', 'https://elsewhere.example/a', false],
  ];
  for (const [address, from, good] of addresses) {
    it(`${good ? 'fetches from' : 'refuses'} ${address}${from ? ` after ${from}` : ''}`, () => {
      const problem = addressProblem(
        address,
        'http://headgate.example:8080/base',
        from ? new URL(from) : undefined,
      );
      expect(problem === undefined, problem).to.equal(good);
      expect(problem ?? '').not.to.include('password@');
    });
  }

  it('reads the push message, and drops one that lacks something', () => {
    const full = {
      type: 'action',
      action: 'self_update',
      targetVersion: 'v1.0.0',
      downloadUrl: 'u',
      checksum: 'c',
    };
    const { type, action, ...asked } = full;
    expect(parsePushMessage(JSON.stringify(full))).to.deep.equal({
      type,
      action,
      order: { ...asked, signature: undefined },
    });
    expect(parsePushMessage('{"type":"action","action":"restart"}')).to.deep.equal({
      type,
      action: 'restart',
    });
    for (const bad of [
      { checksum: 7 },
      { downloadUrl: 'x'.repeat(9_000) },
      { action: 'explode' },
      { action: null },
    ])
      expect(parsePushMessage(JSON.stringify({ ...full, ...bad }))).to.equal(undefined);
  });
});

describe('what is asked of a new version', () => {
  let dir: string;
  beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'headgate-verify-'))));
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');
  const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const release = { version: 'v0.2.0', os: 'linux', arch: 'x64', sha256: sha256('x') };

  it('reads a key in base64, as PEM, and as PEM on one line', () => {
    const signature = sign(null, releaseStatement(release), privateKey).toString('base64');
    for (const text of [raw, ` ${raw}\n`, pem, pem.trim().replaceAll('\n', '\\n')]) {
      const key = readPublicKey(text);
      expect(key, text).not.to.equal(undefined);
      if (key) checkSignature(key, release, signature);
    }
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey;
    for (const text of ['', 'x', raw.slice(4), rsa.export({ format: 'pem', type: 'spki' }).toString()])
      expect(readPublicKey(text), text).to.equal(undefined);
  });

  it('has a signature over name, version, system, processor and checksum', () => {
    expect(releaseStatement({ ...release, version: '0.2.0' }).toString()).to.equal(
      `{"name":"headgate-agent","version":"v0.2.0","os":"linux","arch":"x64","sha256":"${release.sha256}"}`,
    );
    const signature = sign(null, releaseStatement(release), privateKey).toString('base64');
    checkSignature(publicKey, release, signature);
    checkSignature(publicKey, { ...release, version: '0.2.0' }, signature);
    const others = [{ version: 'v0.2.1' }, { os: 'freebsd' }, { arch: 'arm64' }, { sha256: sha256('y') }];
    for (const other of others)
      expect(
        () => checkSignature(publicKey, { ...release, ...other }, signature),
        JSON.stringify(other),
      ).to.throw(/the signature does not hold for headgate-agent .* SVC_UPDATE_PUBLIC_KEY/);
    const { publicKey: anotherKey } = generateKeyPairSync('ed25519');
    for (const text of ['AAAA', '', signature.slice(4)])
      expect(() => checkSignature(publicKey, release, text), text).to.throw(/signature|not signed/);
    expect(() => checkSignature(anotherKey, release, signature)).to.throw(/does not hold/);
    expect(() => checkSignature(publicKey, release, undefined)).to.throw(/it is not signed/);
  });

  it('is refused with a signature of the older form, which covers the checksum alone', () => {
    const older = sign(null, Buffer.from(release.sha256, 'hex'), privateKey).toString('base64');
    expect(() => checkSignature(publicKey, release, older)).to.throw(
      /covers the checksum alone.*build and sign the release again/,
    );
  });

  it('sees nothing of the environment of the agent', async () => {
    const file = join(dir, 'agent');
    writeFileSync(file, `#!/bin/sh\nenv >${dir}/env\necho v0.2.0\n`);
    chmodSync(file, 0o700);
    await checkVersion(file, 'v0.2.0', {
      PATH: process.env.PATH,
      SVC_TOKEN: 'secret',
      SVC_URL: 'x',
      LD_PRELOAD: 'x',
    });
    expect(readFileSync(join(dir, 'env'), 'utf8'))
      .to.match(/^PATH=/m)
      .and.not.to.match(/SVC_|LD_/);
  });

  it('has its time, and takes its children along', async () => {
    const file = join(dir, 'agent');
    writeFileSync(file, '#!/bin/sh\nsleep 60 &\nsleep 60\n');
    chmodSync(file, 0o700);
    const startedAt = Date.now();
    const error = await checkVersion(file, 'v0.2.0', process.env, 200).catch(String);
    expect(error).to.include('did not tell its version within 0.2 s');
    expect(Date.now() - startedAt).to.be.below(patient(5_000));
  });
});

describe('a download', () => {
  let dir: string;
  let server: Server;
  let url: string;
  let answer: Parameters<typeof createServer>[1];
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'headgate-download-'));
    server = createServer((request, response) => answer?.(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const fetchIt = (clock = systemClock, signal = new AbortController().signal) =>
    download(`${url}/a`, { path: join(dir, 'file'), serviceUrl: url, clock, signal });

  it('answers the digest of what it stored, which only its owner may read', async () => {
    const seen: (string | undefined)[] = [];
    answer = (request, response) => {
      seen.push(request.url, request.headers.authorization);
      if (request.url === '/a') response.writeHead(302, { location: 'b' }).end();
      else response.end('content');
    };
    expect((await fetchIt()).toString('hex')).to.equal(sha256('content'));
    expect(readFileSync(join(dir, 'file'), 'utf8')).to.equal('content');
    expect(seen).to.deep.equal(['/a', undefined, '/b', undefined]);
  });

  it('is given up 30 s after the last byte, and 300 s after its begin', async () => {
    for (const [stepMs, reason] of [
      [30_001, /sent nothing for 30 s/],
      [20_000, /longer than 300 s/],
    ] as const) {
      const clock = manualClock();
      let more = () => {};
      answer = (_, response) => {
        more = () => response.write('x');
        more();
      };
      let error = '';
      const done = fetchIt(clock).catch((reason) => (error = String(reason)));
      await until(() => readdirSync(dir).length === 1, { what: 'it has begun' });
      for (let n = 0; n < 20 && error === ''; n += 1) {
        // It is gone a moment before the reason is known.
        const bytes = () => statSync(join(dir, 'file'), { throwIfNoEntry: false })?.size ?? Infinity;
        const before = bytes();
        if (stepMs < 30_000 && before !== Infinity) {
          more();
          await until(() => bytes() > before, { what: 'a byte has come' });
        }
        clock.advance(stepMs);
        await new Promise((next) => setImmediate(next));
      }
      await done;
      expect(error).to.match(reason);
      expect(readdirSync(dir)).to.deep.equal([]);
    }
  });

  it('ends with the agent', async () => {
    const abort = new AbortController();
    answer = (_, response) => response.write('x');
    const done = fetchIt(systemClock, abort.signal).catch(String);
    await until(() => readdirSync(dir).length === 1, { what: 'it has begun' });
    abort.abort();
    expect(await done).to.include('the agent is stopping');
    expect(readdirSync(dir)).to.deep.equal([]);
  });
});

describe('an update that cannot be begun in the end', () => {
  let dir: string;
  let executable: string;
  let server: Server;
  const fresh = '#!/bin/sh\necho v0.2.0\n';
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'headgate-updates-'));
    executable = join(dir, 'agent');
    writeFileSync(executable, 'the old one', { mode: 0o755 });
    server = createServer((_, response) => response.end(fresh)).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const order = () => ({
    targetVersion: 'v0.2.0',
    downloadUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    checksum: sha256(fresh),
  });
  /** `execs` gets what is at the executable's path when it is to be started. */
  function make(
    exec: (content: string) => void,
    stopAgent = async () => {},
    more: Partial<UpdateParts> = {},
  ) {
    return new Updates({
      ...{
        executable,
        inContainer: false,
        serviceUrl: new URL(order().downloadUrl).origin,
        publicKey: undefined,
        allowDowngrade: false,
      },
      ...{
        env: { ...process.env, SVC_SUPERVISED: '1' },
        clock: systemClock,
        log: silent,
        stopAgent,
        onError: () => {},
      },
      execute: () => exec(readFileSync(executable, 'utf8')),
      ...more,
    });
  }

  it('starts the old one again, which tells why', async () => {
    const started: string[] = [];
    let left = 0;
    const updates = make(
      (content) => {
        started.push(content);
        if (content === fresh) throw Object.assign(new Error('no'), { code: 'E2BIG' });
      },
      async () => {
        left += 1;
      },
    );
    await updates.update(order());
    expect(started).to.deep.equal([fresh, 'the old one']);
    expect(left).to.equal(1);
    expect(readdirSync(dir).sort()).to.deep.equal(['agent', 'agent.failed']);
    const next = make(() => {});
    expect(next.error).to.equal('update to v0.2.0 failed: the new version cannot be started (E2BIG)');
    await next.update(order());
    expect(readFileSync(executable, 'utf8'), 'it is not tried again').to.equal('the old one');
    next.reported();
    expect(readdirSync(dir)).to.deep.equal(['agent']);
    expect(next.error).not.to.equal(null);
  });

  it('is as if it had never been where the agent is ended meanwhile', async () => {
    let exec = 0;
    const updates: Updates = make(
      () => {
        exec += 1;
      },
      async () => updates.stop(),
    );
    await updates.update(order());
    expect(exec).to.equal(0);
    expect(readFileSync(executable, 'utf8')).to.equal('the old one');
    expect(readdirSync(dir)).to.deep.equal(['agent']);
    expect(updates.error).to.equal(null);
  });

  it('is undone before anybody learns that the engines are stopped, where the agent is ended meanwhile', async () => {
    let end = () => {};
    const ended = new Promise<void>((done) => {
      end = done;
    });
    let exec = 0;
    const updates = make(
      () => {
        exec += 1;
      },
      () => ended,
    );
    const done = updates.update(order());
    await until(() => readFileSync(executable, 'utf8') === fresh, { what: 'the swap' });
    updates.stop();
    let left: string[] = [];
    // The process ends here, as in `agent/main.ts`.
    void ended.then(() => {
      left = [...readdirSync(dir), readFileSync(executable, 'utf8')];
    });
    end();
    await done;
    expect(left).to.deep.equal(['agent', 'the old one']);
    expect(exec).to.equal(0);
    expect(updates.error).to.equal(null);
  });

  it('is no failed one where the agent is killed while its engines are stopped', async () => {
    let meanwhile: string[] = [];
    await make(
      () => {},
      async () => {
        meanwhile = readdirSync(dir).sort();
      },
    ).update(order());
    expect(meanwhile).to.deep.equal(['agent', 'agent.previous']);
  });

  it('starts the old one again where nothing can be written at the end', async () => {
    mkdirSync(pendingOf(executable));
    const started: string[] = [];
    const updates = make((content) => started.push(content));
    await updates.update(order());
    expect(started).to.deep.equal(['the old one']);
    expect(make(() => {}).error).to.equal(
      'update to v0.2.0 failed: the new version cannot be started (EISDIR)',
    );
    rmSync(failedOf(executable));
    mkdirSync(failedOf(executable));
    await updates.update(order());
    expect(started).to.deep.equal(['the old one', 'the old one']);
  });

  it('leaves the files by which it could be taken back, until it is confirmed', async () => {
    await make(() => {}).update(order());
    expect(readFileSync(executable, 'utf8')).to.equal(fresh);
    expect(readFileSync(previousOf(executable), 'utf8')).to.equal('the old one');
    expect(readSwap(pendingOf(executable))).to.deep.include({
      to: 'v0.2.0',
      from: AGENT_VERSION,
      digest: sha256(fresh),
    });
    make(() => {}).confirm();
    expect(readdirSync(dir)).to.deep.equal(['agent']);
  });

  it('is followed by the last one that was ordered meanwhile, unless that was cancelled', async () => {
    const requested: string[] = [];
    let answer = () => {};
    server.removeAllListeners('request').on('request', ({ url = '' }, response) => {
      requested.push(url);
      answer = () => response.end('another file');
    });
    const asked = (path: string) => ({ ...order(), downloadUrl: `${order().downloadUrl}${path}` });
    for (const [cancelled, all] of [
      [true, ['/first']],
      [false, ['/first', '/third']],
    ] as const) {
      requested.length = 0;
      const updates = make(() => {});
      const done = updates.update(asked('first'));
      await until(() => requested.length === 1, { what: 'the first to be fetched' });
      await updates.update({ ...asked('second'), targetVersion: 'v0.3.0' });
      await updates.update({ ...asked('third'), targetVersion: 'v0.4.0' });
      if (cancelled) updates.forgetNext();
      for (const path of all) {
        await until(() => requested.at(-1) === path, { what: `${path} to be fetched` });
        answer();
      }
      await done;
      expect(requested).to.deep.equal(all);
    }
  });

  it('is refused before anything is fetched, and may be asked for again with what was missing', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    let requests = 0;
    server.on('request', () => (requests += 1));
    const updates = make(
      () => {},
      async () => {},
      { publicKey },
    );
    await updates.update(order());
    expect(updates.error).to.match(/^update to v0\.2\.0 refused: it is not signed/);
    const signed = (version: string) => {
      const { platform: os, arch } = process;
      const statement = releaseStatement({ version, os, arch, sha256: sha256(fresh) });
      return sign(null, statement, privateKey).toString('base64');
    };
    await updates.update({ ...order(), signature: signed('v0.1.0') });
    expect(updates.error).to.match(/refused: the signature does not hold/);
    await updates.update({ ...order(), targetVersion: 'v0.0.1', signature: signed('v0.0.1') });
    expect(updates.error).to.match(/^update to v0\.0\.1 refused: it is lower than/);
    expect(requests).to.equal(0);
    await updates.update({ ...order(), signature: signed('v0.2.0') });
    expect(readFileSync(executable, 'utf8')).to.equal(fresh);
  });

  it('goes to a lower version only where that is allowed', async () => {
    const lower = Buffer.from('#!/bin/sh\necho v0.0.1\n');
    server.removeAllListeners('request').on('request', (_, response) => response.end(lower));
    const asked = { ...order(), targetVersion: 'v0.0.1', checksum: sha256(lower) };
    await make(() => {}).update(asked);
    expect(readFileSync(executable, 'utf8')).to.equal('the old one');
    await make(
      () => {},
      async () => {},
      { allowDowngrade: true },
    ).update(asked);
    expect(readFileSync(executable)).to.deep.equal(lower);
  });

  describe('like a restart', () => {
    const says: [what: string, content: string | null, reason: RegExp][] = [
      ['is gone', null, /ENOENT/],
      ['cannot be run', 'no program', /ENOEXEC|code 127/],
      ['fails', '#!/bin/sh\nexit 3\n', /ended with code 3/],
      ['says no version', '#!/bin/sh\necho hello\n', /says that it is version \\?"hello/],
    ];
    for (const [what, content, reason] of says) {
      it(`stops nothing where the executable ${what}`, async () => {
        if (content === null) rmSync(executable);
        else writeFileSync(executable, content);
        const lines: string[] = [];
        const did: string[] = [];
        const updates = make(
          () => did.push('start'),
          async () => void did.push('stop'),
          { log: createLogger('error', (line) => lines.push(line)) },
        );
        await updates.restart();
        expect(did).to.deep.equal([]);
        expect(lines).to.have.length(1);
        expect(lines[0])
          .to.match(/restart refused/)
          .and.match(reason);
        // It still takes orders.
        await updates.update({ ...order(), targetVersion: 'latest' });
        expect(updates.error).to.match(/refused/);
      });
    }

    it('starts what is there, of whatever version, once the engines are stopped', async () => {
      writeFileSync(executable, '#!/bin/sh\necho v9.9.9\n');
      const did: string[] = [];
      await make(
        () => did.push('start'),
        async () => void did.push('stop'),
      ).restart();
      expect(did).to.deep.equal(['stop', 'start']);
    });
  });

  it('is not misled by what lies beside the executable', () => {
    for (const text of ['', 'v0.2.0', 'v0.2.0\nzz\nv0.1.0\n', '\0'.repeat(5_000)]) {
      writeFileSync(failedOf(executable), text);
      expect(make(() => {}).error, text.slice(0, 20)).to.equal(null);
    }
  });
});

describe('a version that has taken the place of another', () => {
  let dir: string;
  let executable: string;
  let running: ChildProcess[];
  const swap = { to: 'v0.2.0', digest: sha256('new'), from: 'v0.1.0' };
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'headgate-watched-'));
    executable = join(dir, 'agent');
    running = [];
    writeFileSync(executable, 'new');
    writeFileSync(previousOf(executable), `#!/bin/sh\necho started > ${dir}/old\n`, { mode: 0o755 });
    writeFileSync(pendingOf(executable), `${swap.to}\n${swap.digest}\n${swap.from}\n\n`);
  });
  afterEach(() => {
    for (const { pid } of running) if (pid) process.kill(-pid, 'SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  });

  /** The new version, and who looks after it for a second. */
  function begin(script: string, restart = true) {
    const version = spawn('/bin/sh', ['-c', script], { detached: true, stdio: 'ignore' });
    const ended = once(version, 'exit');
    running.push(version);
    const { pid = 0 } = version;
    const start = startOf(pid) ?? '';
    const watched = { pid, start, executable, restart, patienceMs: 1_000 };
    return { ended, watchdogEnds: once(watch(watched, { PATH: process.env.PATH }), 'exit') };
  }

  it('is ended and taken back when it lives but does not confirm in time, and the old one is started', async () => {
    const { ended, watchdogEnds } = begin('exec sleep 1000');
    expect((await ended)[1]).to.equal('SIGTERM');
    running.pop();
    await watchdogEnds;
    expect(readFileSync(join(dir, 'old'), 'utf8')).to.equal('started\n');
    expect(readdirSync(dir).sort()).to.deep.equal(['agent', 'agent.failed', 'old']);
    const failed = readSwap(failedOf(executable));
    expect(failed).to.deep.include(swap);
    expect(failed?.reason).to.match(/^the new version had no successful poll within \d+ minutes$/);
  });

  it('is taken back, and left to whoever starts agents there', async () => {
    const { ended, watchdogEnds } = begin('exec sleep 1000', false);
    await Promise.all([ended, watchdogEnds]);
    running.pop();
    expect(readdirSync(dir).sort()).to.deep.equal(['agent', 'agent.failed']);
  });

  it('stays when it confirms in time, and when it is ended in order', async () => {
    const confirmed = begin('exec sleep 1000');
    confirm(executable);
    await confirmed.watchdogEnds;
    expect(readFileSync(executable, 'utf8')).to.equal('new');
    writeFileSync(previousOf(executable), 'old');
    const { ended, watchdogEnds } = begin('exit 0');
    await Promise.all([ended, watchdogEnds]);
    running.pop();
    expect(readdirSync(dir).sort()).to.deep.equal(['agent', 'agent.previous']);
  });
});
