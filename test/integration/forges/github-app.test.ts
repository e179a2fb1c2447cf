/** A GitHub App in the place of a token: its tokens are made for one repository, renewed, and let git in as well. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createRepositories, sealCredentials } from '../../../controller/delivery/repository/index.ts';
import { NO_PROXIES } from '../../../controller/platform/net/proxies.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { createAppTokens, gitTokens } from '../../../reconcilers/forges/index.ts';
import { localGuard } from '../../support/fixtures/local-targets.ts';
import {
  bindingTo,
  type Client,
  clientOf,
  GitHubServer,
  keyring,
} from '../../support/servers/forges/index.ts';
import { GitServer } from '../../support/servers/git-server.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
/** As GitHub generates them. */
const PEM = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const WRITES = { contents: 'write', pull_requests: 'write', statuses: 'write', metadata: 'read' };
const HOUR_MS = 3_600_000;

const told = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing',
    (error: { fault: string; message: string }) => `${error.fault}: ${error.message}`,
  );

describe('a GitHub App', () => {
  let server: GitHubServer;
  let client: Client;
  let now: number;
  beforeEach(async () => {
    now = Date.parse('2026-11-24T08:00:00Z');
    server = await new GitHubServer().listen();
    server.app = { id: 4711, slug: 'headgate-acme', publicKey, permissions: WRITES };
    server.now = () => now;
    client = clientOf(server, { forgeAppId: '4711', token: PEM }, { now: () => now });
  });
  afterEach(async () => {
    await client.forges.close();
    await server.stop();
  });
  const comment = () => client.forge.comment(1, { marker: '<!-- m -->', body: 'plan', commentId: null });

  it('asks with a token for this repository alone, and makes the next before that ends', async () => {
    server.add();
    await client.forge.get(1);
    await client.forge.listOpen('main');
    expect(server.made).to.deep.equal([
      { token: 'ghs_canary-installation/1+token', repositories: ['pipes'] },
    ]);
    now += HOUR_MS - 6 * 60_000;
    await client.forge.get(1);
    expect(server.made.length).to.equal(1);
    now += 60_000;
    await client.forge.get(1);
    expect(server.made.length).to.equal(2);
  });

  it('pins the version of the API and names the form that it reads', async () => {
    server.add();
    await client.forge.get(1);
    expect(server.asked.length).to.equal(3);
    for (const { headers } of server.asked) {
      expect(headers['x-github-api-version']).to.equal('2022-11-28');
      expect(headers.accept).to.equal('application/vnd.github+json');
    }
  });

  it('makes another token where one is not taken any more', async () => {
    server.add();
    await client.forge.get(1);
    server.made.splice(0, 1);
    expect((await client.forge.get(1))?.number).to.equal(1);
    expect(server.made.length).to.equal(1);
  });

  it('keeps one comment of its own, and leaves those of other apps and people', async () => {
    server.add();
    server.say(1, 'other-app[bot]', '<!-- m -->\nnot ours');
    await comment();
    await comment();
    expect(server.commentsOf(1).map(({ author }) => author)).to.deep.equal([
      'other-app[bot]',
      'headgate-acme[bot]',
    ]);
  });

  it('comments again after a fault, and says why it is not let in', async () => {
    server.add();
    await client.forge.get(1);
    server.fault = ({ path }) => (path.endsWith('/installation') ? { status: 502 } : null);
    expect(await told(comment())).to.match(/^unavailable/);
    server.fault = () => null;
    await comment();
    expect(server.comments).to.have.length(1);
    server.made.length = 0;
    const message =
      'the `acme` organization has an IP allow list enabled, and your IP address is not permitted to access this resource.';
    server.fault = () => ({ status: 403, text: JSON.stringify({ message }) });
    expect(await told(client.forge.get(1))).to.match(/^credentials: .*add it to the IP allow list/);
  });

  it('goes on to make tokens for a client that is in use, whatever else is bound meanwhile', async () => {
    server.add();
    const other = await new GitHubServer().listen();
    const app = server.app as NonNullable<GitHubServer['app']>;
    Object.assign(other, { app, now: () => now });
    other.add();
    try {
      for (let hours = 0; hours < 4; hours += 1) {
        await client.forge.get(1);
        now += HOUR_MS;
      }
      await client.forges.of(bindingTo(other, { id: 'other', forgeAppId: '4711', token: PEM }))?.get(1);
      now += HOUR_MS;
      expect((await client.forge.get(1))?.number).to.equal(1);
    } finally {
      await other.stop();
    }
  });

  it('is tested: what it lacks, where it is not installed, suspended, or the key is another’s', async () => {
    await client.forge.check();
    const app = server.app as NonNullable<GitHubServer['app']>;
    server.app = { ...app, permissions: { ...WRITES, statuses: 'read' } };
    expect(await told(client.forge.check())).to.match(
      /^credentials: .*headgate-acme may not write Commit statuses; give it "Read and write"/,
    );
    server.app = app;
    server.isSuspended = true;
    expect(await told(client.forge.check())).to.match(/^credentials: .*headgate-acme is suspended/);
    server.isSuspended = false;
    server.isInstalled = false;
    expect(await told(client.forge.check())).to.match(
      /^not-found: .*4711 is not installed on acme\/pipes; install/,
    );
    server.isInstalled = true;
    server.app = { ...app, publicKey: generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey };
    const message = await told(client.forge.check());
    expect(message).to.match(/^credentials: .*does not take the key of the app 4711/);
    expect(`${message}${client.log()}`).not.to.match(/PRIVATE KEY|eyJ|canary/);
  });

  it('lets git in by its token, and git’s failures tell neither token nor key', async () => {
    const git = await GitServer.start();
    const root = mkdtempSync(join(tmpdir(), 'headgate-app-'));
    const parts = { guard: localGuard(), proxies: NO_PROXIES, log: createLogger('silent') };
    const apps = createAppTokens({ ...parts, now: () => now });
    try {
      const repositories = createRepositories({
        ...{ root, gitdir: root, keyring, guard: parts.guard, log: parts.log },
        appToken: gitTokens(apps, () => now),
      });
      const app = { id: '4711', privateKey: PEM, url: server.url, project: server.project };
      git.create('pipes');
      git.commit({ files: { 'a.yaml': 'a: 1\n' } }, 'pipes');
      const handle = repositories.of({
        ...{ id: 'b', repositoryUrl: git.url('pipes'), ref: 'main', knownHosts: null, caCertificate: null },
        ...{ sealedCredentials: sealCredentials(keyring, 'b', { type: 'app', ...app }) },
        ...{ headCommit: null, appliedCommit: null },
      });
      const { signal } = new AbortController();
      git.user = { name: 'x-access-token', password: 'ghs_canary-installation/1+token' };
      expect(await handle.fetch(signal)).to.deep.equal({ moved: true });
      git.user = { name: 'x-access-token', password: 'another' };
      const refusal = await told(handle.fetch(signal));
      expect(refusal).to.match(/^credentials: .*GitHub App/);
      expect(refusal).not.to.match(/canary|PRIVATE/);
      server.isInstalled = false;
      now += HOUR_MS;
      expect(await told(handle.fetch(signal))).to.match(/^not-found: .*not installed/);
    } finally {
      await apps.close();
      await git.stop();
      rmSync(root, { recursive: true, force: true });
    }
  });
});
