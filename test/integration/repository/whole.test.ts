/** An environment and its git server, from the binding to the copy: by a whole controller, over ssh and, in short, over HTTPS. */
import { expect } from 'chai';
import type { GitPlan } from '../../../schemas/api/delivery/git-plan.ts';
import type { GitJob, GitSyncStatus } from '../../../schemas/api/delivery/git-sync.ts';
import { git } from '../../support/clients/fast-import.ts';
import { send } from '../../support/clients/http.ts';
import { draftPipeline } from '../../support/clients/rest.ts';
import { AUTHORITY } from '../../support/fixtures/certificates.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { commandLinesDuring } from '../../support/harness/processes.ts';
import { until } from '../../support/harness/until.ts';
import { makeTestEnvironments, type TestEnvironments } from '../../support/scenes/places.ts';
import { everythingStored, writtenForms } from '../../support/scenes/stored-secrets.ts';
import { GitServer } from '../../support/servers/git-server.ts';
import { findSshd, SshServer } from '../../support/servers/ssh-server.ts';

const TOKEN = 'glpat-wh0le/canary+%"\'1';
const FOLDER = 'environments/staging';
/** No timer falls due while the test runs. */
const NEVER_BY_ITSELF = 86_400;
/** Ranges, patterns, options, paths and lines of another protocol. */
const NO_REFS = [
  ...['../../config', '-x', 'a..b', 'a b', 'a\nref-prefix refs/', 'main^{commit}', 'main~1', 'refs/heads/*'],
  ...['a:b', 'refs/heads/../../config', '../heads/main', 'refs/tags/../heads/main'],
];

interface Remote {
  server: GitServer | SshServer;
  binding: object;
  /** What lets the wrong one in nowhere. */
  wrong: object;
  refusedAs: RegExp;
  secrets: readonly string[];
}

const REMOTES: Record<string, () => Promise<Remote | null>> = {
  'over ssh, with a deploy key': async () => {
    if (findSshd() === null) return null;
    const server = await SshServer.start();
    const lines = (key: string) =>
      key.split('\n').filter((line) => line.length > 16 && !line.startsWith('-'));
    const other = server.makeKey('other');
    return {
      server,
      binding: {
        repositoryUrl: server.url(),
        knownHosts: server.knownHosts,
        credentials: { type: 'ssh', privateKey: server.key },
      },
      wrong: { credentials: { type: 'ssh', privateKey: other } },
      refusedAs: /does not accept the key of the binding/,
      // The first lines name the kind of key, and the public half is in them.
      secrets: [...lines(server.key).slice(-3), ...lines(other).slice(-3)],
    };
  },
  'over HTTPS, under a private authority, with a token': async () => {
    const server = await GitServer.start({ tls: true, user: { name: 'bot', password: TOKEN } });
    return {
      server,
      binding: {
        repositoryUrl: server.url(),
        caCertificate: AUTHORITY,
        credentials: { type: 'basic', username: 'bot', password: TOKEN },
      },
      wrong: { credentials: { type: 'basic', username: 'bot', password: `${TOKEN}-wrong` } },
      refusedAs: /does not accept the user name and token/,
      secrets: [TOKEN, `bot:${TOKEN}`, 'glpat-wh0le'],
    };
  },
};

/** What `bindings.test.ts` and `write-back/remote.test.ts` show over HTTP is asked over ssh alone. */
const SSH = 'over ssh, with a deploy key';

for (const [how, open] of Object.entries(REMOTES)) {
  describe(`an environment that is bound ${how}`, function () {
    this.timeout(60_000);
    let remote: Remote;
    let test: TestController;
    let places: TestEnvironments;
    let environmentId: string;
    let hook: string;
    const answers: string[] = [];

    before(async function () {
      const opened = await open();
      if (!opened) return this.skip();
      remote = opened;
      remote.server.create();
      test = await startTestController();
      places = await makeTestEnvironments(test);
      ({ environmentId } = places);
    });
    after(async () => {
      await test?.stop();
      await remote?.server.stop();
    });

    const gitdir = () => remote.server.gitdir();
    const write = (files: Record<string, string | null>, branch = 'main') =>
      remote.server.commit({ branch, files });
    const manifest = (name: string, description?: string) => ({
      [`${FOLDER}/${name}.yaml`]: idleManifest(name, description),
    });
    async function configure(input: object): Promise<GitSyncStatus> {
      const { output, fault, answer } = await places.admin.call<GitSyncStatus>(
        'mutation',
        'gitSync.configure',
        { environmentId, ...input },
      );
      answers.push(answer.text);
      if (!output) throw new Error(fault?.message);
      return output;
    }
    async function status(): Promise<GitSyncStatus> {
      const { output, answer } = await places.viewer.call<GitSyncStatus>('query', 'gitSync.status', {
        environmentId,
      });
      answers.push(answer.text);
      return output as GitSyncStatus;
    }
    async function untilStatus(what: string, is: (status: GitSyncStatus) => boolean): Promise<GitSyncStatus> {
      let last: GitSyncStatus | undefined;
      await until(
        async () => {
          last = await status();
          return is(last);
        },
        {
          what: () => `${what}: ${JSON.stringify({ ...last, manifests: [] })}`,
          everyMs: 50,
          timeoutMs: 30_000,
        },
      );
      return last as GitSyncStatus;
    }
    /** A pass that was asked for now, once it has ended. */
    async function pass(): Promise<GitJob> {
      const { jobId } = await places.editor.mutate<{ jobId: string }>('gitSync.syncNow', { environmentId });
      let job: GitJob | undefined;
      await until(
        async () => {
          const { output, answer } = await places.viewer.call<GitJob[]>('query', 'gitSync.jobs', {
            environmentId,
          });
          answers.push(answer.text);
          job = output?.find(({ id }) => id === jobId);
          return job !== undefined && job.status !== 'pending';
        },
        { what: 'the pass ended', everyMs: 20, timeoutMs: 30_000 },
      );
      return job as GitJob;
    }

    it('only looks at first, since objects are there, and applies what an ADMIN approves', async () => {
      await draftPipeline(places.editor, environmentId, 'by-hand');
      const first = write({ ...manifest('web'), ...manifest('orders') });
      const { webhookUrl } = await configure({
        mode: 'sync',
        path: FOLDER,
        intervalSeconds: NEVER_BY_ITSELF,
        ...remote.binding,
      });
      hook = webhookUrl?.replace(test.controller.url, test.url) ?? '';
      const { waitingPlan } = await untilStatus('the first plan waits', (now) => now.waitingPlan !== null);
      expect(waitingPlan?.guards.filter(({ exceeded }) => exceeded).map(({ guard }) => guard)).to.deep.equal([
        'firstPlan',
      ]);
      expect(await test.db('pipelines').pluck('name')).to.deep.equal(['by-hand']);
      await places.admin.mutate('gitSync.approvePlan', { environmentId, hash: waitingPlan?.hash });
      await untilStatus('the first commit is applied', ({ appliedCommit }) => appliedCommit?.sha === first);
      expect((await test.db('pipelines').pluck('name')).sort()).to.deep.equal(['by-hand', 'orders', 'web']);
    });

    it('plans another branch of the server, that nobody has fetched', async () => {
      git(gitdir(), 'branch', 'try-it', 'main');
      const sha = write({ ...manifest('web', 'changed'), [`${FOLDER}/orders.yaml`]: null }, 'try-it');
      const plan = await places.viewer.query<GitPlan>('gitSync.plan', { environmentId, ref: 'try-it' });
      expect(plan.commit?.sha).to.equal(sha);
      expect(plan.counts).to.include({ update: 1, delete: 1, create: 0 });
      expect((await status()).appliedCommit?.sha).not.to.equal(sha);
      const { fault } = await places.viewer.call('query', 'gitSync.plan', { environmentId, ref: 'nowhere' });
      expect(fault?.message).to.match(/nowhere/);
    });

    it('refuses what is no name of a branch, tag or commit, as in the embedded repository', async () => {
      await places.admin.mutate('gitSync.configure', {
        ...{ environmentId: places.siblingId, mode: 'observe', repositoryUrl: 'embedded' },
      });
      for (const ref of NO_REFS) {
        const answers = await Promise.all(
          [environmentId, places.siblingId].map((id) =>
            places.admin.call('query', 'gitSync.plan', { environmentId: id, ref }),
          ),
        );
        for (const { fault } of answers) {
          expect(fault?.data.code, `${ref}: ${fault?.message}`).to.equal('BAD_REQUEST');
          expect(fault?.message, ref).to.equal(`The repository has no branch, tag or commit "${ref}"`);
        }
      }
      expect(test.log(), 'the copy stayed as it was').not.to.include('is damaged and is fetched again');
      await test.db('git_bindings').where({ environment_id: places.siblingId }).delete();
    });

    if (how === SSH) {
      it('follows a push when the server calls', async () => {
        const second = write(manifest('orders', 'again'));
        expect((await send(hook, { method: 'POST', body: '{"ref":"refs/heads/main"}' })).status).to.equal(
          202,
        );
        const now = await untilStatus(
          'the push is applied',
          ({ appliedCommit }) => appliedCommit?.sha === second,
        );
        expect(now.manifests.map(({ name }) => name).sort()).to.deep.equal(['orders', 'web']);
      });

      it('writes changes by hand there: as a proposal, and as a commit', async () => {
        await configure({ mode: 'sync', policy: { uiEdits: 'propose' } });
        const { id } = await test.db('pipelines').where({ name: 'web' }).first('id');
        const main = git(gitdir(), 'rev-parse', 'main');
        const { proposed } = await places.editor.mutate<{ proposed: { branch: string } }>('pipeline.update', {
          id,
          description: 'proposed',
        });
        expect(git(gitdir(), 'rev-parse', `${proposed.branch}~1`)).to.equal(main);
        expect(git(gitdir(), 'show', `${proposed.branch}:${FOLDER}/web.yaml`)).to.include(
          'description: "proposed"',
        );
        const plan = await places.viewer.query<GitPlan>('gitSync.plan', {
          environmentId,
          ref: proposed.branch,
        });
        expect(plan.counts).to.include({ update: 1, delete: 0, create: 0 });

        await configure({ mode: 'sync', policy: { uiEdits: 'commit' } });
        const { committed } = await places.editor.mutate<{ committed: { sha: string } }>('pipeline.update', {
          id,
          description: 'committed',
        });
        expect(git(gitdir(), 'rev-parse', 'main')).to.equal(committed.sha);
        await untilStatus('the commit is applied', (now) => now.appliedCommit?.sha === committed.sha);
      });
    }

    it('keeps what runs where the server does not let it in any more, and tells why', async () => {
      await configure({ mode: 'sync', ...remote.wrong });
      expect((await pass()).error).to.match(remote.refusedAs);
      expect((await status()).lastError).to.match(/Everything runs on as it was/);
      expect(await test.db('pipelines').whereNotNull('tombstoned_at')).to.deep.equal([]);
      await configure({ mode: 'sync', ...remote.binding });
      expect((await pass()).error).to.equal(null);
    });

    it('takes a copy of the database in mode push', async () => {
      await configure({ mode: 'push', path: 'copies/staging' });
      expect((await pass()).error).to.equal(null);
      const files = git(gitdir(), 'ls-tree', '-r', '--name-only', 'main').split('\n');
      expect(files.filter((path) => path.startsWith('copies/'))).to.deep.equal([
        'copies/staging/.headgate-export.json',
        'copies/staging/pipelines/by-hand.yaml',
        'copies/staging/pipelines/orders.yaml',
        'copies/staging/pipelines/web.yaml',
      ]);
      expect(git(gitdir(), 'fsck', '--strict')).to.equal('');
    });

    it('and shows what lets it in nowhere: database, data directory, log, answers, processes', async () => {
      const seen = await commandLinesDuring(async () => {
        await draftPipeline(places.editor, environmentId, 'late');
        await pass();
      });
      const { sealed_credentials: sealed } = await test.db('git_bindings').first('sealed_credentials');
      expect(sealed).to.be.a('string');
      const everything = [await everythingStored(test), ...answers, ...seen].join('\n');
      expect(everything).to.include(sealed);
      for (const secret of remote.secrets)
        for (const form of writtenForms(secret)) expect(everything.includes(form), form).to.equal(false);
    });
  });
}
