/** The commands that ask a server or its database: `plan`, `export`, `migrate`, `audit`, `recover`, `service-account`. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { pruneAuditLog } from '../../../controller/insight/audit/index.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import type { GitPlan } from '../../../schemas/api/delivery/git-plan.ts';
import { Files, headgate, headgateInProcess } from '../../support/clients/command.ts';
import { GitClient, withCredentials } from '../../support/clients/git-client.ts';
import { makeKey, restClient } from '../../support/clients/rest.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { makeUser, PASSWORD, type TestUser, trySignIn } from '../../support/users/person.ts';

const PATH = 'environments/staging';

/** A server that is no Headgate. */
async function serving(answer: RequestListener): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

describe('commands that ask a server', function () {
  this.timeout(120_000);
  let test: TestController;
  let root: TestUser;
  let git: GitClient;
  let environmentId: string;
  let key: string;
  let files: Files;

  before(async () => {
    test = await startTestController();
    root = await test.root();
    const { id: teamId } = await root.mutate<{ id: string }>('team.create', { name: 'team' });
    ({ id: environmentId } = await root.mutate<{ id: string }>('environment.create', {
      name: 'staging',
      teamId,
    }));
    await root.mutate('gitSync.configure', { environmentId, mode: 'sync', path: PATH });
    ({ key } = await makeKey(root, environmentId, ['gitops.read']));
    const { token } = await root.mutate<{ token: string }>('user.createToken', { name: 'git' });
    git = new GitClient(withCredentials(`${test.url}/git/config.git`, 'git', token));
    await git.clone();
    await git.commit({ [`${PATH}/web.yaml`]: idleManifest('web') });
    await git.push();
    const applied = () => root.query<{ name: string }[]>('pipeline.list', { environmentId });
    await until(async () => (await applied()).length === 1, { what: 'the push to be applied' });
  });
  after(async () => {
    await git?.remove();
    await test?.stop();
  });
  beforeEach(() => {
    files = new Files();
  });
  afterEach(() => files.remove());

  /** `command` is `headgate` once for each command, for what only a process shows. */
  const run = (args: readonly string[], command = headgateInProcess) =>
    command([...args, '--url', test.url], { cwd: files.folder, env: { HEADGATE_API_KEY: key } });

  describe('plan', () => {
    it('shows what a folder would change, and that nothing is wrong with it', async () => {
      files.write({
        [`${PATH}/web.yaml`]: idleManifest('web').replace('json', 'syslog'),
        [`${PATH}/new.yaml`]: idleManifest('new'),
        'environments/production/other.yaml': 'not sent: [',
      });
      const { code, stdout, stderr } = await run(['plan', '.', '--env', 'staging'], headgate);
      expect([code, stderr], stdout).to.deep.equal([0, '']);
      expect(stdout).to.match(/^staging, with the files at hand\n1 to create, 1 to change$/m);
      expect(stdout).to.include(`+ create Pipeline new  ${PATH}/new.yaml:1`);
      expect(stdout).to.include('/sources/ticks/format: "json" → "syslog"');
      expect(stdout).to.match(/^ +-\s+format: json\n +\+\s+format: syslog$/m);
      const json = await run(['plan', '.', '--format', 'json']);
      expect((JSON.parse(json.stdout) as GitPlan).counts).to.include({ create: 1, update: 1 });
      expect(await root.query<object[]>('pipeline.list', { environmentId })).to.have.length(1);
    });

    it('ends with 1 where something is refused, and annotates it', async () => {
      files.write({ [`${PATH}/web.yaml`]: idleManifest('web').replace('[ticks]', '[tikcs]') });
      const text = await run(['plan', '.']);
      expect(text.code).to.equal(1);
      expect(text.stdout).to.include('! refuse Pipeline web');
      const github = await run(['plan', '.', '--format', 'github']);
      expect(github.code).to.equal(1);
      expect(github.stdout).to.match(
        /^::error file=environments\/staging\/web\.yaml,line=\d+,col=\d+::input "tikcs"/m,
      );
      const junit = await run(['plan', '.', '--format', 'junit']);
      expect(junit.stdout).to.include('name="refuse Pipeline web"').and.include('failures="1"');
    });

    it('ends with 1 where the plan waits for an approval', async () => {
      await root.mutate('gitSync.configure', { environmentId, mode: 'sync', policy: { maxDeletes: 0 } });
      files.write({ [`${PATH}/other.yaml`]: idleManifest('other') });
      const { code, stdout } = await run(['plan', '.', '--format', 'github']);
      await root.mutate('gitSync.configure', { environmentId, mode: 'sync', policy: { maxDeletes: 10 } });
      expect(code, stdout).to.equal(1);
      expect(stdout).to.match(/^::error::deletes 1 object, and 0 may go in one pass/m);
    });

    it('plans branches of the server, and what the next pass would do', async () => {
      await git.run('checkout', '-q', '-b', 'feature');
      await git.commit({ [`${PATH}/more.yaml`]: idleManifest('more') });
      await git.run('push', '-q', 'origin', 'main:feature');
      await git.run('reset', '-q', '--hard', 'origin/main');
      const feature = await run(['plan', '--ref', 'feature', '--env', 'staging']);
      expect([feature.code, feature.stdout.includes('(feature)')], feature.stderr).to.deep.equal([0, true]);
      expect(feature.stdout).to.include('1 to create');
      const next = await run(['plan']);
      expect([next.code, next.stdout.includes('Nothing is to be done.')]).to.deep.equal([0, true]);
      const nowhere = await run(['plan', '--ref', 'nope']);
      expect(nowhere.code).to.equal(2);
      expect(nowhere.stderr).to.include('no branch, tag or commit "nope"');
    });

    it('ends with 2 where there is no plan, and shows the key nowhere', async () => {
      files.write({ [`${PATH}/web.yaml`]: idleManifest('web') });
      const CASES: [readonly string[], Record<string, string>, RegExp][] = [
        [['plan', '.'], { HEADGATE_API_KEY: '' }, /set HEADGATE_API_KEY/],
        [
          ['plan', '.'],
          { HEADGATE_API_KEY: `${key}x` },
          /not known, has expired or was revoked; look at HEADGATE_API_KEY/,
        ],
        [['plan', '.'], { HEADGATE_API_KEY: 'a\nb' }, /signs that no key has/],
        [['plan', '.', '--env', 'production'], {}, /is for the environment "staging", not for "production"/],
        [['plan', '--env', 'production'], {}, /not for "production"/],
        [['plan', '.', '--ref', 'main'], {}, /either a folder or --ref/],
        [['plan', 'nowhere'], {}, /there is no folder/],
        [['plan', '.', '--url', 'http://127.0.0.1:9'], {}, /does not answer: .*(bad port|ECONNREFUSED)/],
        [['plan', '.', '--url', 'ftp://x'], {}, /--url must be like/],
      ];
      for (const [args, env, said] of CASES) {
        const asked = args.includes('--url') ? args : [...args, '--url', test.url];
        const ran = await headgateInProcess(asked, {
          cwd: files.folder,
          env: { HEADGATE_API_KEY: key, ...env },
        });
        expect([ran.code, ran.stdout], `${args.join(' ')}: ${ran.stderr}`).to.deep.equal([2, '']);
        expect(ran.stderr)
          .to.match(said)
          .and.not.to.include(key)
          .and.not.to.match(/^ +at /m);
      }
      const unbound = await headgateInProcess(['plan'], { env: { HEADGATE_API_KEY: key } });
      expect(unbound.stderr).to.include('--url https://');
    });

    it('hands its key to no other server, and believes none that is no Headgate', async () => {
      const seen: (string | undefined)[] = [];
      const other = await serving((request, response) => {
        seen.push(request.headers.authorization);
        response.end('x');
      });
      const leading = await serving((_, response) => {
        response.writeHead(307, { location: `${other.url}/` }).end();
      });
      try {
        const env = { HEADGATE_API_KEY: key };
        const led = await headgateInProcess(['plan', '--url', leading.url], { env });
        expect([led.code, led.stderr.includes('leads elsewhere (307)')], led.stderr).to.deep.equal([2, true]);
        expect(seen).to.deep.equal([]);
        const strange = await headgateInProcess(['plan', '--url', other.url], { env });
        expect(strange.code).to.equal(2);
      } finally {
        await other.close();
        await leading.close();
      }
    });
  });

  describe('export', () => {
    it('writes what the environment holds, and the same again changes nothing', async () => {
      const first = await run(['export', '--env', 'staging', '--out', 'out'], headgate);
      expect(first.code, first.stderr).to.equal(0);
      expect(files.list()).to.deep.equal(['out/pipelines/web.yaml']);
      const text = readFileSync(join(files.folder, 'out/pipelines/web.yaml'), 'utf8');
      expect(text).to.include('name: web').and.include('uid: ');
      const again = await run(['export', '--env', 'staging', '--out', 'out']);
      expect([again.code, again.stdout]).to.deep.equal([
        0,
        '1 manifest of staging in out: 0 written, 1 as they were\n',
      ]);
    });

    it('does not write over what somebody changed, unless told to', async () => {
      files.write({ 'out/pipelines/web.yaml': 'mine\n' });
      const refused = await run(['export', '--out', 'out']);
      expect(refused.code).to.equal(1);
      expect(refused.stderr)
        .to.include('nothing is written')
        .and.include('pipelines/web.yaml')
        .and.include('--force');
      expect(readFileSync(join(files.folder, 'out/pipelines/web.yaml'), 'utf8')).to.equal('mine\n');
      expect((await run(['export', '--out', 'out', '--force'])).code).to.equal(0);
      expect(readFileSync(join(files.folder, 'out/pipelines/web.yaml'), 'utf8')).to.include('name: web');
      expect(files.list()).to.deep.equal(['out/pipelines/web.yaml']);
    });

    it('never leaves its folder', async () => {
      const outside = new Files();
      try {
        files.link('out/pipelines', outside.folder);
        const { code, stderr } = await run(['export', '--out', 'out']);
        expect([code, stderr.includes('leads out of')], stderr).to.deep.equal([2, true]);
        expect(outside.list()).to.deep.equal([]);
      } finally {
        outside.remove();
      }
      // A server that is not ours may name any path.
      for (const path of [
        '../x.yaml',
        '/tmp/x.yaml',
        'a/../../x.yaml',
        '.git/hooks/pre-commit',
        'a\\b.yaml',
        'a//b.yaml',
      ]) {
        const server = await serving((request, response) => {
          const answer = request.url?.endsWith('/status')
            ? { status: { environmentName: 'staging' } }
            : { files: [{ path, text: 'x' }], skipped: [] };
          response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
        });
        const ran = await headgateInProcess(['export', '--out', 'hostile', '--url', server.url], {
          cwd: files.folder,
          env: { HEADGATE_API_KEY: key },
        });
        await server.close();
        expect([ran.code, files.list('hostile')], `${path}: ${ran.stderr}`).to.deep.equal([2, []]);
      }
    });

    it('ends with 2 without a folder, and for another environment', async () => {
      expect((await run(['export'])).stderr).to.include('--out <folder>');
      const other = await run(['export', '--env', 'production', '--out', 'out']);
      expect([other.code, files.list()]).to.deep.equal([2, []]);
    });
  });

  describe('audit verify', () => {
    const verify = (more: readonly string[] = [], command = headgateInProcess) =>
      command(['audit', 'verify', ...more], {
        env: { HEADGATE_DATABASE_URL: test.databaseUrl, HEADGATE_DATA_DIR: test.config.dataDir },
      });

    it('finds a log whole, and names the first event that was changed', async () => {
      await until(async () => (await test.db('audit_log').whereNull('seq')).length === 0, {
        what: 'numbers',
      });
      const whole = await verify([], headgate);
      expect(whole.code, whole.stderr).to.equal(0);
      expect(whole.stdout).to.match(/^The audit log is whole: \d+ events\./);
      const broken = await test.db('audit_log').where({ seq: 2 }).first('id', 'action');
      await test.db('audit_log').where({ seq: 2 }).update({ action: 'nothing.happened' });
      try {
        const told = await verify();
        expect(told.code).to.equal(1);
        expect(told.stdout)
          .to.include('from event 2 of')
          .and.include(broken.id)
          .and.include('nothing.happened');
        const json = await verify(['--format', 'json']);
        expect(json.code).to.equal(1);
        expect(JSON.parse(json.stdout).broken).to.include({ seq: 2 });
      } finally {
        await test.db('audit_log').where({ seq: 2 }).update({ action: broken.action });
      }
      expect((await verify()).code).to.equal(0);
    });

    it('compares the log with a head that was noted elsewhere', async () => {
      const { hash } = await test.db('audit_log').where({ seq: 2 }).first('hash');
      expect((await verify(['--head', `2:${hash}`])).code).to.equal(0);
      const other = await verify(['--head', `2:${'0'.repeat(64)}`]);
      expect([other.code, other.stdout.includes('from event 2 of')]).to.deep.equal([1, true]);
      expect((await verify(['--head', '2'])).stderr).to.include('--head takes the seq and the hash');
    });

    it('compares where its key begins with what was noted elsewhere', async () => {
      const { code, stdout } = await verify(['--keyed-from', '1', '--format', 'json']);
      expect(code, stdout).to.equal(0);
      expect(JSON.parse(stdout)).to.include({ keyedFrom: 1, keyLost: false });
      const [row] = await test.db('audit_keys').delete().returning('*');
      const macs = await test.db('audit_log').whereNotNull('mac').select('id', 'mac');
      await test.db('audit_log').update({ mac: null });
      try {
        expect((await verify()).code, 'nothing in the database tells').to.equal(0);
        const lost = await verify(['--keyed-from', '1']);
        expect([lost.code, lost.stdout]).to.deep.equal([
          1,
          'The key of the audit log is not the one that began with event 1: it was removed, and the log may have been rewritten since. Put the table audit_keys back from a backup of the database, and compare with --head.\n',
        ]);
        const json = JSON.parse((await verify(['--keyed-from', '1', '--format', 'json'])).stdout);
        expect(json).to.include({ broken: null, keyedFrom: null, keyLost: true });
      } finally {
        await test.db('audit_keys').insert(row);
        for (const { id, mac } of macs) await test.db('audit_log').where({ id }).update({ mac });
      }
      expect((await verify(['--keyed-from', '1'])).code).to.equal(0);
      expect((await verify(['--keyed-from', 'x'])).stderr).to.include('--keyed-from takes the number');
    });

    it('takes the secret key of the controllers', async () => {
      const without = await headgateInProcess(['audit', 'verify'], {
        env: { HEADGATE_DATABASE_URL: test.databaseUrl, HEADGATE_DATA_DIR: files.folder },
      });
      expect([without.code, without.stderr]).to.deep.equal([
        2,
        `headgate: there is no key in ${files.folder}; set HEADGATE_DATA_DIR to the controller's, or HEADGATE_SECRET_KEY\n`,
      ]);
      const env = { HEADGATE_DATABASE_URL: test.databaseUrl, HEADGATE_SECRET_KEY: 'another'.repeat(6) };
      const other = await headgateInProcess(['audit', 'verify'], { env });
      expect([other.code, other.stderr.includes('sealed with key')], other.stderr).to.deep.equal([2, true]);
    });

    it('says from which event on it proves, where older ones were deleted as the retention says', async () => {
      await test.db('settings').insert({ key: 'audit', value: JSON.stringify({ retentionDays: 30 }) });
      const clock = manualClock(Date.now() + 40 * 86_400_000);
      const { deleted } = await pruneAuditLog({ ...test.controller.systemContext('audit retention'), clock });
      expect(deleted).to.be.above(0);
      await until(async () => (await test.db('audit_log').whereNull('seq')).length === 0, {
        what: 'numbers',
      });
      const told = await verify();
      expect([told.code, told.stdout]).to.deep.equal([
        0,
        `The audit log is whole from event ${deleted + 1} on, to event ${deleted + 1}; those before were deleted as its retention says.\n`,
      ]);
      expect(JSON.parse((await verify(['--format', 'json'])).stdout)).to.deep.equal({
        ...{ events: deleted + 1, from: deleted + 1, keyedFrom: 1, unnumbered: false, broken: null },
      });
    });
  });

  describe('recover', () => {
    const recover = (args: readonly string[], command = headgateInProcess) =>
      command(['recover', ...args], { env: { HEADGATE_DATABASE_URL: test.databaseUrl } });

    it('lets somebody in again who is locked out, has lost the second factor, and was guessed at', async () => {
      const email = 'locked@example.org';
      const id = await makeUser(test.db, { email });
      const lost = { locked_at: new Date(), totp_enabled: true, sealed_totp_secret: 'v1.lost.with.key' };
      await test.db('users').where({ id }).update(lost);
      for (let n = 0; n < 11; n += 1) await trySignIn(test.url, email, 'a guess');
      expect((await trySignIn(test.url, email, PASSWORD)).status).to.equal(429);
      const ran = await recover(['LOCKED@example.org', '--second-factor', '--super-admin'], headgate);
      expect(ran.code, ran.stderr).to.equal(0);
      const [, password = ''] = /with: (\S+)$/m.exec(ran.stdout) ?? [];
      expect(ran.stdout).to.match(/lock is lifted.*second factor is gone.*is a super admin/s);
      const signedIn = await trySignIn(test.url, email, password);
      expect([signedIn.status, signedIn.json<{ user: object }>().user]).to.deep.equal([
        200,
        { id, name: 'locked', email, isSuperAdmin: true, owes: 'CHANGE_PASSWORD' },
      ]);
      const rows = await test.db('audit_log').where({ entity_id: id, actor_type: 'system' }).pluck('action');
      expect(rows).to.include.members([
        ...['user.unlocked', 'user.twoFactorReset', 'user.superAdminChanged', 'user.passwordReset'],
      ]);
      expect(JSON.stringify(await test.db('audit_log').where({ entity_id: id }))).not.to.include(password);
    });
  });

  describe('service-account', () => {
    const run = (args: readonly string[], command = headgateInProcess) =>
      command(['service-account', ...args], { env: { HEADGATE_DATABASE_URL: test.databaseUrl } });

    it('prints a key that works, alone on standard output, and leaves a row in the audit log', async () => {
      const permissions = ['--permission', 'pipelines.read', '--permission', 'nodes.read'];
      const ran = await run(
        ['robot', '--environment', environmentId, ...permissions, '--expires-in-days', '30'],
        headgate,
      );
      expect(ran.code, ran.stderr).to.equal(0);
      expect(ran.stdout).to.match(/^svc_\S+\n$/);
      const call = restClient(test.url, ran.stdout.trim());
      expect((await call('GET', '/pipelines')).status).to.equal(200);
      expect((await call('GET', '/secrets')).status).to.equal(403);
      const [row] = await test
        .db('audit_log')
        .where({ action: 'serviceAccount.created', actor_type: 'system' });
      expect(row).to.include({ environment_id: environmentId });
      expect(JSON.stringify(row)).not.to.include(ran.stdout.trim());
    });
  });

  describe('migrate', () => {
    it('brings a new database up to date, says what ran, and then that nothing has to', async () => {
      const name = `migrate_${process.pid}_${randomBytes(4).toString('hex')}`;
      const url = new URL(test.databaseUrl);
      const client = new pg.Client({ connectionString: url.href });
      client.on('error', () => {});
      await client.connect();
      await client.query(`create database ${name}`);
      url.pathname = `/${name}`;
      try {
        const first = await headgate(['migrate'], { env: { HEADGATE_DATABASE_URL: url.href } });
        expect(first.code, first.stderr).to.equal(0);
        expect(first.stdout)
          .to.match(/^ran 0001-foundation$/m)
          .and.to.match(/\d+ migrations ran\.$/m);
        const second = await headgateInProcess(['migrate'], { env: { HEADGATE_DATABASE_URL: url.href } });
        expect([second.code, second.stdout]).to.deep.equal([0, 'The database is up to date.\n']);
      } finally {
        await client.query(`drop database if exists ${name} with (force)`);
        await client.end();
      }
    });
  });

  const ROBOT = ['service-account', 'x', '--environment'];
  const WRONG: { reason: string; args: string[]; env?: () => Record<string, string>; says: string }[] = [
    {
      reason: 'a data directory in which no controller has run',
      args: ['audit', 'verify'],
      env: () => ({ HEADGATE_DATA_DIR: files.folder }),
      says: 'no controller has run',
    },
    { reason: 'an audit log that nothing is to be done with', args: ['audit'], says: 'verify' },
    {
      reason: 'an account that there is not',
      args: ['recover', 'nobody@example.org'],
      says: 'headgate recover: there is no account with the address nobody@example.org\n',
    },
    { reason: 'no account', args: ['recover'], says: 'headgate recover somebody@example.org' },
    { reason: 'no name', args: ['service-account'], says: 'headgate service-account ci' },
    {
      reason: 'no environment',
      args: ['service-account', 'x', '--permission', 'nodes.read'],
      says: '--environment',
    },
    { reason: 'no permission', args: [...ROBOT, 'y'], says: '--permission pipelines.read' },
    {
      reason: 'a permission that there is not',
      args: [...ROBOT, 'y', '--permission', 'all'],
      says: 'not "all"',
    },
    {
      reason: 'an environment that there is not',
      args: [...ROBOT, 'nowhere', '--permission', 'nodes.read'],
      says: 'there is no environment "nowhere"',
    },
    {
      reason: 'a time that is too long',
      args: [...ROBOT, 'y', '--permission', 'nodes.read', '--expires-in-days', '9999'],
      says: '1 to 3650',
    },
    {
      reason: 'variables that make no sense',
      args: ['migrate'],
      env: () => ({ HEADGATE_DATABASE_URL: 'mysql://x' }),
      says: 'must begin with postgres://',
    },
  ];
  it('end with 2 where they cannot begin, and say why', async () => {
    for (const { reason, args, env, says } of WRONG) {
      const ran = await headgateInProcess(args, {
        env: env?.() ?? { HEADGATE_DATABASE_URL: test.databaseUrl },
      });
      expect([ran.code, ran.stdout], reason).to.deep.equal([2, '']);
      expect(ran.stderr, reason).to.include(says);
    }
  });
});
