import { expect } from 'chai';
import type { GitJob, GitSyncStatus, ImportError } from '../../../schemas/api/delivery/git-sync.ts';
import { commit, git } from '../../support/clients/fast-import.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';

describe('jobs of an environment that is bound to git', () => {
  const test = useController();
  const root = useRoot(test);
  let teamId: string;
  let made = 0;
  before(async () => {
    teamId = (await root.mutate<{ id: string }>('team.create', { name: 'team' })).id;
  });

  interface Bound {
    id: string;
    status(): Promise<GitSyncStatus>;
    jobs(filter?: object): Promise<GitJob[]>;
    /** Asks for a pass and waits until its job is finished. */
    sync(): Promise<GitJob>;
    write(files: Record<string, string | null>, message?: string): string;
  }

  async function bind(mode = 'sync'): Promise<Bound> {
    made += 1;
    const name = `env-${made}`;
    const { id } = await root.mutate<{ id: string }>('environment.create', { name, teamId });
    const write: Bound['write'] = (files, message = 'change') =>
      commit(test.controller.gitdir, {
        branch: name,
        message,
        files: Object.fromEntries(Object.entries(files).map(([file, text]) => [`${file}.yaml`, text])),
      });
    write({ first: idleManifest('first') }, 'first');
    const jobs = (filter: object = {}) =>
      root.query<GitJob[]>('gitSync.jobs', { environmentId: id, ...filter });
    await root.mutate('gitSync.configure', { environmentId: id, mode, branch: name, path: '' });
    await until(async () => (await jobs({ status: 'completed' })).length > 0, { what: 'the first pass' });
    return {
      id,
      write,
      jobs,
      status: () => root.query<GitSyncStatus>('gitSync.status', { environmentId: id }),
      async sync() {
        const { jobId } = await root.mutate<{ jobId: string }>('gitSync.syncNow', { environmentId: id });
        let job: GitJob | undefined;
        await until(
          async () => {
            job = (await jobs({ limit: 100 })).find((one) => one.id === jobId);
            return job !== undefined && job.status !== 'pending';
          },
          { what: () => `job ${jobId} to finish: ${JSON.stringify(job)}` },
        );
        if (!job) throw new Error('unreachable');
        return job;
      },
    };
  }

  it('are pending when asked for, and completed by the pass, with commit, counts and report', async () => {
    const env = await bind();
    const sha = env.write({ web: idleManifest('web') }, 'Add web');
    const job = await env.sync();
    expect(job).to.deep.include({ type: 'pass', status: 'completed', error: null });
    expect(job.commit).to.include({ sha, subject: 'Add web', author: 'Ada Example' });
    expect(job.finishedAt).not.to.equal(null);
    // The file event may have been faster than the button; either pass reports what became of the commit.
    const applied = (await env.jobs({ limit: 100 })).filter(
      (one) => one.outcome === 'applied' && one.commit?.sha === sha,
    );
    expect(applied).to.have.length(1);
    expect(applied[0]?.counts.created).to.equal(1);
    expect(applied[0]?.report.join('\n')).to.match(/web: created, version 1/);
    expect((await env.status()).pendingCount).to.equal(0);
  });

  it('that were asked for at once are finished by one pass: the newest with the result, the others as skipped', async () => {
    const env = await bind();
    const { binding } = await test
      .db('git_bindings')
      .where({ environment_id: env.id })
      .first({ binding: 'id' });
    const ids = ['a', 'b', 'c', 'd'].map((id) => `${id}-${env.id}`.slice(0, 60));
    // A file event may come late: until all are there, no pass takes some of them.
    await root.mutate('gitSync.suspend', { environmentId: env.id, reason: 'four are asked for' });
    await test.db('git_jobs').insert(
      ids.map((id, index) => ({
        id,
        binding_id: binding,
        type: 'pass',
        status: 'pending',
        trigger: 'syncNow',
        queued_at: new Date(Date.now() - 10_000 + index),
      })),
    );
    expect((await env.status()).pendingCount).to.equal(4);
    await root.mutate('gitSync.resume', { environmentId: env.id });
    await until(async () => (await env.status()).pendingCount === 0, { what: 'the pass' });
    const asked = (await env.jobs({ limit: 100 })).filter(({ id }) => ids.includes(id));
    expect(asked.map((one) => [one.status, one.outcome])).to.deep.equal([
      ['completed', 'unchanged'],
      ...Array(3).fill(['completed', 'skipped']),
    ]);
  });

  it('are listed newest first, by status, and no more than asked for', async () => {
    const env = await bind();
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.unshift((await env.sync()).id);
    const all = await env.jobs({ limit: 100 });
    expect(all.slice(0, 3).map((one) => one.id)).to.deep.equal(ids);
    expect((await env.jobs({ limit: 2 })).map((one) => one.id)).to.deep.equal(ids.slice(0, 2));
    expect(await env.jobs({ status: 'pending' })).to.deep.equal([]);
    expect(await env.jobs({ status: 'failed' })).to.deep.equal([]);
    expect(await env.jobs({ status: 'completed', limit: 100 })).to.have.length(all.length);
    const refused = await root.call('query', 'gitSync.jobs', { environmentId: env.id, limit: 101 });
    expect(refused.status).to.equal(400);
  });

  it('fail, with what to do, while the branch is gone, and status says so until it is back', async () => {
    const env = await bind();
    const name = `env-${made}`;
    const sha = git(test.controller.gitdir, 'rev-parse', `refs/heads/${name}`);
    git(test.controller.gitdir, 'update-ref', '-d', `refs/heads/${name}`);
    const job = await env.sync();
    expect(job).to.include({ status: 'failed', outcome: 'failed' });
    expect(job.error).to.match(/the branch "env-\d+" does not exist in the repository; push it/);
    const broken = await env.status();
    expect(broken.lastError).to.equal(job.error);
    expect(broken.failedCount).to.be.at.least(1);
    expect(broken.gate[0]?.state).to.equal('failed');
    expect(broken.manifests).to.have.length(1);
    git(test.controller.gitdir, 'update-ref', `refs/heads/${name}`, sha);
    expect((await env.sync()).status).to.equal('completed');
    expect((await env.status()).lastError).to.equal(null);
  });

  it('of a broken manifest are completed as partial, and the import error says where', async () => {
    const env = await bind();
    env.write({ web: 'kind: [' }, 'Break web');
    await env.sync();
    const [found] = await root.query<ImportError[]>('gitSync.importErrors', { environmentId: env.id });
    expect(found).to.include({ path: 'web.yaml', stage: 'parse', line: 1 });
    const status = await env.status();
    expect(status.importErrorCount).to.be.at.least(1);
    expect(status.gate[1]?.state).to.equal('failed');
    expect((await env.jobs({ limit: 100 })).some((one) => one.outcome === 'partial')).to.equal(true);
  });

  it('come by themselves when somebody commits into the repository past the controller', async () => {
    const env = await bind();
    const sha = env.write({ web: idleManifest('web') });
    await until(async () => (await env.status()).appliedCommit?.sha === sha, {
      what: 'the commit to be applied',
    });
  });

  it('are refused where nothing is bound, and what git owned belongs to the UI once the binding is off', async () => {
    const env = await bind();
    await root.mutate('gitSync.configure', { environmentId: env.id, mode: 'off' });
    const refused = await root.call('mutation', 'gitSync.syncNow', { environmentId: env.id });
    expect(refused.status).to.equal(412);
    const pipelines = await test.db('pipelines').where({ environment_id: env.id });
    expect(pipelines.map((one) => [one.name, one.managed_by, one.is_draft, one.tombstoned_at])).to.deep.equal(
      [['first', 'ui', false, null]],
    );
    env.write({ first: null, web: idleManifest('web') });
    await env.status();
    expect(
      await test
        .db('git_manifests')
        .join('git_bindings', 'git_bindings.id', 'binding_id')
        .where({ environment_id: env.id }),
    ).to.deep.equal([]);
  });

  it('of a suspended binding do not act', async () => {
    const env = await bind();
    // By the API: a pass that has begun before it ends without effect.
    await root.mutate('gitSync.suspend', { environmentId: env.id, reason: 'the move' });
    env.write({ web: idleManifest('web') });
    const other = await bind();
    await other.sync();
    expect(await test.db('pipelines').where({ environment_id: env.id }).pluck('name')).to.deep.equal([
      'first',
    ]);
    expect((await env.status()).suspended).to.equal(true);
    await root.mutate('gitSync.resume', { environmentId: env.id });
    await env.sync();
    expect(
      await test.db('pipelines').where({ environment_id: env.id }).orderBy('name').pluck('name'),
    ).to.deep.equal(['first', 'web']);
  });
});
