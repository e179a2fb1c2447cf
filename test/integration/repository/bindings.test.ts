/** Environments bound to git servers, by a whole controller: configured, followed, woken, and kept running when a server fails. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openCredentials } from '../../../controller/delivery/repository/index.ts';
import { resealAll } from '../../../controller/platform/crypto/key-rotation.ts';
import { createKeyring } from '../../../controller/platform/crypto/keyring.ts';
import type { GitSyncStatus } from '../../../schemas/api/delivery/git-sync.ts';
import type { PipelineSummary } from '../../../schemas/api/pipelines/pipelines.ts';
import { git } from '../../support/clients/fast-import.ts';
import { send } from '../../support/clients/http.ts';
import { AUTHORITY, LEAF_KEY } from '../../support/fixtures/certificates.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { patient } from '../../support/harness/patience.ts';
import { commandLinesDuring } from '../../support/harness/processes.ts';
import { until } from '../../support/harness/until.ts';
import { GitServer, useGitServer } from '../../support/servers/git-server.ts';
import { expectRefused } from '../../support/users/person.ts';

const TOKEN = 'glpat-xyzzy/canary+%"\'1';
const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBV1yD8oqZyLw8u3h9n2m0qk4v0v3Wn6q7VnJ3k1T2aX';

describe('a binding to a git server', function () {
  this.timeout(60_000);
  const server = useGitServer();
  const test = useController();
  const root = useRoot(test);
  let teamId: string;
  let made = 0;
  before(async () => {
    ({ id: teamId } = await root.mutate<{ id: string }>('team.create', { name: 'T' }));
  });

  const environment = async (): Promise<string> => {
    made += 1;
    return (await root.mutate<{ id: string }>('environment.create', { name: `env-${made}`, teamId })).id;
  };
  const configure = (environmentId: string, input: object) =>
    root.call<GitSyncStatus>('mutation', 'gitSync.configure', { environmentId, mode: 'sync', ...input });
  const bind = async (environmentId: string, input: object = {}): Promise<GitSyncStatus> => {
    const { output, fault } = await configure(environmentId, {
      repositoryUrl: server.url(),
      path: 'prod',
      ...input,
    });
    if (!output) throw new Error(fault?.message);
    return output;
  };
  const status = (environmentId: string) => root.query<GitSyncStatus>('gitSync.status', { environmentId });
  const names = async (environmentId: string) =>
    (await root.query<PipelineSummary[]>('pipeline.list', { environmentId })).map(({ name }) => name);
  const untilError = async (environmentId: string, message: RegExp) => {
    let last: string | null = null;
    await until(
      async () => {
        last = (await status(environmentId)).lastError;
        return message.test(last ?? '');
      },
      { what: () => `the error ${message}, which is ${last}`, everyMs: 50 },
    );
  };
  const untilHas = (environmentId: string, name: string) =>
    until(async () => (await names(environmentId)).includes(name), {
      what: `the pipeline ${name}`,
      everyMs: 25,
    });
  const push = (name: string, path = `prod/${name}.yaml`) =>
    server.commit({ files: { [path]: idleManifest(name) } });

  it('says how to allow its address where it is private and was bound by an earlier version, and is turned off', async () => {
    const id = await environment();
    await bind(id);
    await test
      .db('git_bindings')
      .where({ environment_id: id })
      .update({ repository_url: 'https://10.0.0.1/x.git' });
    await configure(id, { intervalSeconds: 60 });
    await untilError(
      id,
      /^10\.0\.0\.1 cannot be reached: .* private address that HEADGATE_PRIVATE_TARGETS does not/,
    );
    expect((await configure(id, { mode: 'off' })).status).to.equal(200);
  });

  it('applies what the branch holds, and follows it by its timer', async () => {
    push('first');
    const environmentId = await environment();
    const bound = await bind(environmentId, { intervalSeconds: 5 });
    expect(bound).to.include({ repositoryUrl: server.url(), cloneUrl: server.url() });
    expect(bound.credentials).to.deep.equal({ type: 'none', username: null, publicKey: null });
    await untilHas(environmentId, 'first');
    push('second');
    await untilHas(environmentId, 'second');
  });

  it('is woken by its own webhook, whatever that says', async () => {
    push('first');
    const one = await environment();
    const two = await environment();
    const hooks: [string, string | null][] = [];
    for (const id of [one, two]) hooks.push([id, (await bind(id, { intervalSeconds: 86_400 })).webhookUrl]);
    for (const id of [one, two]) await untilHas(id, 'first');
    push('second');
    for (const [id, webhookUrl] of hooks) {
      const hook = webhookUrl?.replace(test.controller.url, test.url) ?? '';
      expect(hook).to.match(/\/api\/git\/webhook\/[^/]+$/);
      const answer = await send(hook, { body: '\0 not json {', method: 'POST' });
      expect(answer.status).to.equal(202);
      expect(answer.json()).to.deep.equal({ ok: true });
      await untilHas(id, 'second');
    }
  });

  it('has a webhook that knows its ids, and bounds how often it is called', async () => {
    push('first');
    const environmentId = await environment();
    const { webhookUrl } = await bind(environmentId, { intervalSeconds: 86_400 });
    const hook = webhookUrl?.replace(test.controller.url, test.url) ?? '';
    for (const odd of ['x', '%00', '%E0%A4%A', '%ED%A0%80'])
      expect((await send(`${hook}${odd}`, { method: 'POST' })).status, odd).to.equal(404);
    await until(async () => (await status(environmentId)).lastSyncAt !== null, {
      what: 'a pass',
      everyMs: 25,
    });
    const answers = await Promise.all(Array.from({ length: 70 }, () => send(hook, { method: 'POST' })));
    const told = answers.find((answer) => answer.status === 429);
    expect(Number(told?.headers['retry-after'])).to.be.within(1, 60);
    expect(new Set(answers.map((answer) => answer.status))).to.deep.equal(new Set([202, 429]));
  });

  it('downloads once for two environments', async () => {
    push('first');
    const one = await environment();
    const two = await environment();
    await Promise.all([bind(one), bind(two)]);
    for (const id of [one, two]) await untilHas(id, 'first');
    expect(server.downloads).to.equal(1);
  });

  it('does not hold up others where its server hangs', async () => {
    push('first');
    server.create('bad');
    server.commit({ files: { 'prod/x.yaml': idleManifest('x') } }, 'bad');
    server.mischief = ({ path }) => (path.includes('/bad.git/') ? 'hang' : null);
    const bad: string[] = [];
    for (let at = 0; at < 6; at += 1) {
      const id = await environment();
      bad.push(id);
      await bind(id, { repositoryUrl: server.url('bad'), path: `prod` });
    }
    await until(() => server.asked.some(({ path }) => path.includes('bad')), { what: 'a question' });
    const good = await environment();
    const began = performance.now();
    await bind(good);
    await untilHas(good, 'first');
    expect(performance.now() - began).to.be.lessThan(patient(10_000));
    for (const id of bad) await configure(id, { mode: 'off' });
  });

  it('keeps what runs when its server fails, says why, and goes on when it is back', async () => {
    push('first');
    const environmentId = await environment();
    await bind(environmentId, { intervalSeconds: 5 });
    await untilHas(environmentId, 'first');
    server.mischief = () => ({ status: 503 });
    await root.mutate('gitSync.syncNow', { environmentId });
    await untilError(environmentId, /has an internal error \(status 503\).*Everything runs on as it was/);
    expect(await names(environmentId)).to.deep.equal(['first']);
    server.mischief = () => ({ status: 404 });
    await root.mutate('gitSync.syncNow', { environmentId });
    await untilError(environmentId, /has no repository/);
    server.mischief = () => null;
    git(server.gitdir(), 'update-ref', '-d', 'refs/heads/main');
    await root.mutate('gitSync.syncNow', { environmentId });
    await untilError(environmentId, /the branch "main" does not exist/);
    expect(await names(environmentId)).to.deep.equal(['first']);
    push('second');
    await root.mutate('gitSync.syncNow', { environmentId });
    await until(async () => (await status(environmentId)).lastError === null, {
      what: 'a good pass',
      everyMs: 50,
    });
  });

  it('tells of a manifest that is too large, and applies the others', async () => {
    push('first');
    server.commit({ files: { 'prod/large.yaml': Buffer.alloc(5 * 1024 * 1024, '# x\n') } });
    const environmentId = await environment();
    await bind(environmentId);
    await until(async () => (await status(environmentId)).importErrorCount > 0, {
      what: 'an import error',
      timeoutMs: 40_000,
    });
    const errors = await root.query<{ path: string; message: string }[]>('gitSync.importErrors', {
      environmentId,
    });
    expect(errors.map(({ path }) => path)).to.deep.equal(['prod/large.yaml']);
    expect(errors[0]?.message).to.match(/above the limit of 2 MB/);
    expect(await names(environmentId)).to.deep.equal(['first']);
  });

  describe('is configured', () => {
    it('with credentials that are sealed, shown in part, and kept for that server alone', async () => {
      server.user = { name: 'bot', password: TOKEN };
      push('first');
      const environmentId = await environment();
      const credentials = { type: 'basic', username: 'bot', password: TOKEN };
      await bind(environmentId, { credentials });
      await untilHas(environmentId, 'first');
      const shown = await bind(environmentId, { branch: 'main' });
      expect(shown.credentials).to.deep.equal({ type: 'basic', username: 'bot', publicKey: null });
      const elsewhere = await GitServer.start();
      try {
        elsewhere.create();
        elsewhere.user = { name: 'bot', password: TOKEN };
        const moved = await bind(environmentId, { repositoryUrl: elsewhere.url() });
        expect(moved.credentials?.type).to.equal('none');
        await untilError(environmentId, /requires credentials/);
        const back = await bind(environmentId, { repositoryUrl: server.url() });
        expect(back.credentials?.type).to.equal('none');
      } finally {
        await elsewhere.stop();
      }
    });

    it('and the keys of the database may be rotated', async () => {
      const environmentId = await environment();
      const credentials = { type: 'basic', username: 'bot', password: TOKEN };
      await bind(environmentId, { credentials, mode: 'off' });
      const { keyring } = test.controller.systemContext('test').services;
      const row = await test.db('git_bindings').where({ environment_id: environmentId }).first();
      expect(
        openCredentials(keyring, { id: row.id, sealedCredentials: row.sealed_credentials }),
      ).to.deep.equal(credentials);
      const before = createKeyring('0123456789abcdef0123456789abcdef');
      const after = createKeyring(['fedcba9876543210fedcba9876543210', '0123456789abcdef0123456789abcdef']);
      const place = `git_bindings:${row.id}`;
      await test
        .db('git_bindings')
        .where({ id: row.id })
        .update({ sealed_credentials: before.seal('x', place) });
      await resealAll(test.db, after);
      const again = await test.db('git_bindings').where({ id: row.id }).first('sealed_credentials');
      const alone = createKeyring('fedcba9876543210fedcba9876543210');
      expect(alone.open(again.sealed_credentials, place)).to.equal('x');
      await test.db('git_bindings').where({ id: row.id }).update({ sealed_credentials: null });
    });

    const basic = { type: 'basic', username: 'bot', password: 'token' };
    for (const [input, message] of [
      [{ repositoryUrl: 'ext::sh -c id' }, /^repositoryUrl: /],
      [{ repositoryUrl: 'file:///etc' }, /^repositoryUrl: folders of the controller/],
      [{ repositoryUrl: 'https://bot:token@host/x.git' }, /^repositoryUrl: .*give them as credentials/],
      [{ repositoryUrl: 'http://169.254.169.254/x.git' }, /^repositoryUrl: .*HEADGATE_PRIVATE_TARGETS/],
      [{ repositoryUrl: 'https://10.0.0.1/x.git' }, /^repositoryUrl: .*HEADGATE_PRIVATE_TARGETS/],
      [
        { repositoryUrl: 'git@host:x.git', credentials: basic },
        /^knownHosts is required .*`ssh-keyscan host`/,
      ],
      [
        { repositoryUrl: 'git@host:x.git', knownHosts: `host ${HOST_KEY}` },
        /^credentials: an ssh address needs a private key/,
      ],
      [
        { repositoryUrl: 'git@host:x.git', knownHosts: 'host nonsense' },
        /^knownHosts: line 1 is not a host key/,
      ],
      [
        {
          repositoryUrl: 'git@host:x.git',
          knownHosts: `host ${HOST_KEY}`,
          credentials: { type: 'ssh', privateKey: 'none' },
        },
        /^credentials: this is not a private key .*ssh-keygen/,
      ],
      [
        { repositoryUrl: 'https://host/x.git', credentials: { type: 'ssh', privateKey: LEAF_KEY } },
        /^credentials: an https address needs/,
      ],
      [{ repositoryUrl: 'https://host/x.git', knownHosts: `host ${HOST_KEY}` }, /^knownHosts is for ssh/],
      [{ repositoryUrl: 'https://host/x.git', caCertificate: 'none' }, /^caCertificate is not a certificate/],
      [
        { repositoryUrl: 'https://host/x.git', caCertificate: LEAF_KEY },
        /^caCertificate holds a private key/,
      ],
      [{ repositoryUrl: 'http://host/x.git', caCertificate: AUTHORITY }, /^caCertificate is for https/],
      [{ repositoryUrl: 'embedded', credentials: basic }, /^credentials: .*needs none/],
    ] as const) {
      it(`and refuses ${JSON.stringify(input).slice(0, 90)}`, async () => {
        expectRefused(await configure(await environment(), input), 400, message);
      });
    }

    it('with the public half of an ssh key to be given to the server', async () => {
      const bound = await bind(await environment(), {
        mode: 'off',
        repositoryUrl: 'git@host.invalid:x.git',
        knownHosts: `host.invalid ${HOST_KEY}`,
        credentials: { type: 'ssh', privateKey: LEAF_KEY },
      });
      expect(bound.repositoryUrl).to.equal('git@host.invalid:x.git');
      expect(bound.credentials?.publicKey).to.match(/^ecdsa-sha2-nistp256 AAAA/);
      expect(bound.knownHosts).to.equal(`host.invalid ${HOST_KEY}`);
    });
  });

  it('shows its credentials in no place: answers, log, database, audit, jobs, files, processes', async () => {
    server.user = { name: 'bot', password: TOKEN };
    push('first');
    const environmentId = await environment();
    const answers: string[] = [];
    const kept = async (input: object) => answers.push((await configure(environmentId, input)).answer.text);
    const seen = await commandLinesDuring(async () => {
      await kept({
        repositoryUrl: server.url(),
        path: 'prod',
        credentials: { type: 'basic', username: 'bot', password: TOKEN },
      });
      await untilHas(environmentId, 'first');
      for (const mischief of [{ status: 403 }, { status: 401 }, 'break'] as const) {
        server.mischief = () => mischief;
        const since = (await status(environmentId)).lastSyncAt;
        push(`more-${answers.length}`);
        await root.mutate('gitSync.syncNow', { environmentId });
        await until(async () => String((await status(environmentId)).lastSyncAt) !== String(since), {
          what: 'a pass',
        });
        answers.push(JSON.stringify(await status(environmentId)));
        answers.push((await root.call('query', 'gitSync.jobs', { environmentId })).answer.text);
      }
      await kept({
        credentials: { type: 'basic', username: 'bot', password: TOKEN, more: TOKEN.slice(0, 3) },
      });
    });
    const { rows } = await test.db.raw(
      `SELECT json_agg(b)::text || (SELECT coalesce(json_agg(j)::text, '') FROM git_jobs j)
         || (SELECT coalesce(json_agg(a)::text, '') FROM audit_log a)
         || (SELECT coalesce(json_agg(m)::text, '') FROM git_import_errors m) AS text FROM git_bindings b`,
    );
    const files = execFileSync(
      'sh',
      ['-c', 'find "$0" -type f -exec cat {} +; find "$0"', join(test.config.dataDir, 'git')],
      {
        encoding: 'latin1',
        maxBuffer: 512 * 1024 * 1024,
      },
    );
    const everything = [...answers, test.log(), rows[0].text, files, ...seen].join('\n');
    for (const form of [
      TOKEN,
      'glpat-xyzzy',
      encodeURIComponent(TOKEN),
      Buffer.from(`bot:${TOKEN}`).toString('base64'),
      Buffer.from(TOKEN).toString('base64').replace(/=+$/, ''),
      TOKEN.replaceAll("'", "'\\''"),
    ])
      expect(everything.includes(form), form).to.equal(false);
    // A pass of another environment may be under way.
    await until(() => readdirSync(join(test.config.dataDir, 'git/mirrors/runs')).length === 0, {
      what: 'nothing of a run to be left',
    });
  });
});
