import { expect } from 'chai';
import { commit, git } from '../../support/clients/fast-import.ts';
import { draftPipeline } from '../../support/clients/rest.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { useTestEnvironments } from '../../support/scenes/places.ts';

const FOLDER = 'copies/staging';

describe('mode push', () => {
  const test = useController();
  const places = useTestEnvironments(test);

  const files = () => git(test.controller.gitdir, 'ls-tree', '-r', '--name-only', 'main').split('\n');
  const read = (path: string) => git(test.controller.gitdir, 'cat-file', 'blob', `main:${FOLDER}/${path}`);
  const head = () => git(test.controller.gitdir, 'rev-parse', 'main');

  /** A pass that began after now has ended. */
  async function pass(): Promise<{ outcome: string; report: string[]; error: string | null }> {
    const { environmentId, editor } = places;
    const { jobId } = await editor.mutate<{ jobId: string }>('gitSync.syncNow', { environmentId });
    type Job = { id: string; status: string; outcome: string; report: string[]; error: string | null };
    let job: Job | undefined;
    await until(
      async () => {
        job = (await editor.query<Job[]>('gitSync.jobs', { environmentId })).find(({ id }) => id === jobId);
        return job !== undefined && job.status !== 'pending';
      },
      { what: 'the pass ended', everyMs: 20 },
    );
    return job as Job;
  }

  it('writes what the database holds, again only what differs, and leaves files of people alone', async () => {
    const { environmentId, editor, admin, teamId } = places;
    const ordersId = await draftPipeline(editor, environmentId, 'orders');
    await draftPipeline(editor, environmentId, 'leaky', { auth: { password: 'hunter2' } });
    await editor.mutate('alert.createRule', {
      environmentId,
      teamId,
      name: 'errors',
      pipelineId: ordersId,
      metric: 'error_rate',
      condition: 'gt',
      threshold: 10,
    });
    commit(test.controller.gitdir, {
      branch: 'main',
      message: 'people',
      files: {
        [`${FOLDER}/pipelines/Orders.yaml`]: '# mine\n',
        'README.md': 'ours\n',
        [`${FOLDER}/notes.txt`]: 'x\n',
      },
    });
    await admin.mutate('gitSync.configure', { environmentId, mode: 'push', path: FOLDER });
    const first = await pass();
    expect(first.error).to.equal(null);
    await until(() => files().includes(`${FOLDER}/.headgate-export.json`), { what: 'the copy was pushed' });
    expect(files()).to.deep.equal([
      'README.md',
      `${FOLDER}/.headgate-export.json`,
      `${FOLDER}/alerts/errors.yaml`,
      `${FOLDER}/notes.txt`,
      `${FOLDER}/pipelines/Orders.yaml`,
      `${FOLDER}/pipelines/orders-2.yaml`,
    ]);
    expect(read('pipelines/Orders.yaml')).to.equal('# mine');
    expect(read('alerts/errors.yaml')).to.contain('pipelineRef: orders');
    expect(git(test.controller.gitdir, 'log', '-1', '--format=%an|%s')).to.equal(
      'Headgate|Copy of staging: 2 written, 0 removed',
    );
    for (const path of files())
      expect(git(test.controller.gitdir, 'cat-file', 'blob', `main:${path}`)).not.to.contain('hunter2');
  }).timeout(60_000);

  it('makes no commit of nothing, tells what it leaves out, and applies nothing', async () => {
    const before = head();
    // What people write there is not read.
    const theirs = commit(test.controller.gitdir, {
      branch: 'main',
      message: 'a manifest',
      files: {
        [`${FOLDER}/pipelines/new.yaml`]:
          'apiVersion: headgate/v1\nkind: Pipeline\nmetadata: { name: new }\nspec: {}\n',
      },
    });
    const { outcome, report } = await pass();
    expect([outcome, head()]).to.deep.equal(['unchanged', theirs]);
    expect(before).not.to.equal(theirs);
    expect(report[1]).to.match(/Pipeline leaky: left out, .*plain secret/);
    expect(await test.db('pipelines').where({ name: 'new' })).to.deep.equal([]);
  }).timeout(60_000);

  it('follows changes, and takes away what it wrote once that is gone', async () => {
    const { environmentId, editor } = places;
    const [rule] = await editor.query<{ id: string }[]>('alert.listRules', { environmentId });
    // The UI owns all of it, so it is changed there.
    await editor.mutate('alert.updateRule', { id: rule?.id, threshold: 11 });
    await pass();
    expect(read('alerts/errors.yaml')).to.contain('threshold: 11');
    await editor.mutate('alert.deleteRule', { id: rule?.id });
    await pass();
    expect(files()).not.to.include(`${FOLDER}/alerts/errors.yaml`);
    expect(files()).to.include(`${FOLDER}/pipelines/Orders.yaml`);
    const status = await editor.query<{ mode: string; lastError: string | null }>('gitSync.status', {
      environmentId,
    });
    expect([status.mode, status.lastError]).to.deep.equal(['push', null]);
  }).timeout(60_000);

  it('believes no index that points elsewhere', async () => {
    commit(test.controller.gitdir, {
      branch: 'main',
      message: 'a forged index',
      files: {
        [`${FOLDER}/.headgate-export.json`]: JSON.stringify({
          files: ['../../README.md', 'notes.txt', '/etc/passwd', 7],
        }),
      },
    });
    await pass();
    expect(files()).to.include('README.md').and.to.include(`${FOLDER}/notes.txt`);
  }).timeout(60_000);
});
