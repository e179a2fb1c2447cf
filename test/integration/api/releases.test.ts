/** Agents as the controller serves them: to machines that have nothing to sign in with yet, and to those who compare. */
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createReleases } from '../../../controller/fleet/releases/index.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { systemClock } from '../../../reconcilers/loops/clock.ts';
import type { Versions } from '../../../schemas/api/fleet/releases.ts';
import { send } from '../../support/clients/http.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';

const NAME = 'headgate-agent-linux-x64';
const SIGNATURE = `${'A'.repeat(86)}==`;

describe('releases of the agent', () => {
  let folder: string;
  let test: TestController;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-releases-'));
    test = await startTestController({ agentReleases: folder });
  });
  after(async () => {
    await test?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    await look();
  });

  /** A release whose executable holds its own version, as `make agent-release` lays it out. */
  function write(version: string, fields: object = {}, at = '2026-01-01T00:00:00Z'): string {
    const content = `agent ${version} `.repeat(100);
    const digest = createHash('sha256').update(content).digest('hex');
    const file = {
      ...{ os: 'linux', arch: 'x64', libc: 'glibc', name: NAME, checksum: `sha256:${digest}` },
      ...{ bytes: content.length, signature: SIGNATURE, ...fields },
    };
    const channel = version.startsWith('dev-') ? 'dev' : 'stable';
    mkdirSync(join(folder, version), { recursive: true });
    writeFileSync(join(folder, version, NAME), content);
    writeFileSync(
      join(folder, version, 'release.json'),
      JSON.stringify({ version, channel, releasedAt: at, files: [file] }),
    );
    return content;
  }
  async function look(): Promise<Versions> {
    const root = await test.root();
    return root.query<Versions>('settings.checkVersion', { force: true });
  }
  const get = (path: string, init: RequestInit = {}) => fetch(`${test.url}${path}`, init);

  it('are none where the folder is empty or missing', async () => {
    rmSync(folder, { recursive: true });
    const { server, agent, devAgent } = await look();
    expect(server.version).to.match(/^\d+\.\d+\.\d+/);
    expect([agent, devAgent]).to.deep.equal([null, null]);
    expect((await get('/agent/releases/stable/VERSION')).status).to.equal(404);
  });

  it('are compared by number, each channel for itself', async () => {
    for (const version of ['v0.9.0', 'v0.10.0', 'v0.10.0-rc.1', 'v0.2.11']) write(version);
    write('dev-aaaaaaa', {}, '2026-01-02T00:00:00Z');
    write('dev-fffffff', {}, '2026-01-01T00:00:00Z');
    const { agent, devAgent } = await look();
    expect(agent?.version).to.equal('v0.10.0');
    expect(devAgent?.version).to.equal('dev-aaaaaaa');
    expect(agent?.files[0]).to.deep.include({
      ...{ os: 'linux', arch: 'x64', libc: 'glibc', signature: SIGNATURE },
      downloadUrl: `${test.config.baseUrl}/agent/releases/v0.10.0/${NAME}`,
    });
    expect(await (await get('/agent/releases/stable/VERSION')).text()).to.equal('v0.10.0\n');
    expect(await (await get('/agent/releases/dev/VERSION')).text()).to.equal('dev-aaaaaaa\n');
  });

  it('are looked for again after a minute, or when that is asked for', async () => {
    write('v1.0.0');
    const root = await test.root();
    const { agent } = await root.query<Versions>('settings.checkVersion', {});
    expect(agent).to.equal(null);
    expect((await look()).agent?.version).to.equal('v1.0.0');
  });

  it('leave out what is no whole release, with a reason in the log', async () => {
    write('v1.0.0');
    write('v1.1.0', { bytes: 7 });
    write('v1.2.0', { name: '../../etc/passwd' });
    write('v1.3.0', { checksum: 'md5:00' });
    write('v1.4.0');
    writeFileSync(join(folder, 'v1.4.0', 'release.json'), '{"version":');
    mkdirSync(join(folder, 'v1.5.0'));
    expect((await look()).agent?.version).to.equal('v1.0.0');
    for (const version of ['v1.1.0', 'v1.2.0', 'v1.3.0', 'v1.4.0', 'v1.5.0'])
      expect(test.log()).to.match(new RegExp(`"name":"${version}".*a release of the agent is not served`));
  });

  it('are told of once as long as they are wrong, and again once they were right', async () => {
    const told = () => test.log().split('"name":"v9.0.0"').length - 1;
    write('v9.0.0', { bytes: 7 });
    await look();
    await look();
    expect(told()).to.equal(1);
    write('v9.0.0');
    await look();
    write('v9.0.0', { bytes: 7 });
    await look();
    expect(told()).to.equal(2);
  });

  it('are served without a sign-in, with sums and signature', async () => {
    const content = write('v1.0.0');
    await look();
    const digest = createHash('sha256').update(content).digest('hex');
    const answer = await get(`/agent/releases/v1.0.0/${NAME}`);
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('etag')).to.equal(`"${digest}"`);
    expect(answer.headers.get('content-type')).to.equal('application/octet-stream');
    expect(answer.headers.get('cache-control')).to.equal('no-cache');
    expect(await answer.text()).to.equal(content);
    expect(await (await get('/agent/releases/v1.0.0/SHA256SUMS')).text()).to.equal(`${digest}  ${NAME}\n`);
    expect(await (await get(`/agent/releases/v1.0.0/${NAME}.sig`)).text()).to.equal(`${SIGNATURE}\n`);
    const listed = (await (await get('/agent/releases.json')).json()) as { releases: { version: string }[] };
    expect(listed.releases.map(({ version }) => version)).to.deep.equal(['v1.0.0']);
  });

  it('are sent again only where they have changed, and in part where that is asked for', async () => {
    const content = write('v1.0.0');
    await look();
    const path = `/agent/releases/v1.0.0/${NAME}`;
    const etag = (await get(path)).headers.get('etag') ?? '';
    // fetch would ask with no-cache, too.
    const again = await send(`${test.url}${path}`, { headers: { 'if-none-match': etag } });
    expect(again.status).to.equal(304);
    const head = await get(path, { method: 'HEAD' });
    expect(head.headers.get('content-length')).to.equal(String(content.length));
    const cases: [range: string, status: number, text: string][] = [
      ['bytes=0-4', 206, content.slice(0, 5)],
      [`bytes=${content.length - 3}-`, 206, content.slice(-3)],
      ['bytes=-4', 206, content.slice(-4)],
      ['bytes=5-999999', 206, content.slice(5)],
      ['bytes=999999-', 416, ''],
      ['bytes=5-2', 200, content],
      ['bytes=0-1,4-5', 200, content],
      ['lines=1-2', 200, content],
    ];
    for (const [range, status, text] of cases) {
      const answer = await get(path, { headers: { range } });
      expect(answer.status, range).to.equal(status);
      if (status !== 416) expect(await answer.text(), range).to.equal(text);
      else await answer.body?.cancel();
    }
    const other = await get(path, { headers: { range: 'bytes=0-4', 'if-range': '"another"' } });
    expect(await other.text()).to.equal(content);
  });

  it('hold nothing else: no path leads out of the folder', async () => {
    write('v1.0.0');
    await look();
    writeFileSync(join(folder, 'secret'), 'canary-7a1');
    const paths = [
      ...['release.json', '..%2fsecret', '%2e%2e%2fsecret', '..%5csecret', `${NAME}%00`, '__proto__'],
    ].map((file) => `/agent/releases/v1.0.0/${file}`);
    for (const path of [
      ...paths,
      '/agent/releases/..%2f/secret',
      '/agent/releases/%2e%2e/secret',
      '/agent/x',
    ]) {
      const answer = await get(path);
      expect(answer.status, path).to.be.oneOf([400, 404]);
      expect(await answer.text(), path).not.to.include('canary-7a1');
    }
  });

  it('come with a script that knows where it came from', async () => {
    const answer = await get('/agent/install.sh');
    expect(answer.status).to.equal(200);
    const text = await answer.text();
    expect(text)
      .to.match(/^#!\/bin\/sh\n/)
      .and.to.include(`\nBASE_URL='${test.config.baseUrl}'\n`);
  });

  it("are the machine's own agent where there is no release", async function () {
    if (process.platform !== 'linux') this.skip();
    const own = join(folder, 'own-agent');
    writeFileSync(own, '#!/bin/sh\necho v0.1.0\n');
    chmodSync(own, 0o755);
    const releases = createReleases({
      ...{ folder: join(folder, 'none'), ownAgent: own, baseUrl: 'https://headgate.example.com' },
      ...{ clock: systemClock, log: createLogger('silent') },
    });
    const { releases: listed } = await releases.list();
    expect(listed.map(({ version }) => version)).to.deep.equal(['v0.1.0']);
    expect(listed[0]?.files[0]?.downloadUrl).to.equal(
      `https://headgate.example.com/agent/releases/v0.1.0/headgate-agent-linux-${process.arch}`,
    );
    expect((await releases.find('stable'))?.files[0]?.path).to.equal(own);
  });
});
