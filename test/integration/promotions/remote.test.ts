/** Promotions where the target's repository is on a git server without a forge: it may be away, and the controller may end. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Promotion } from '../../../schemas/api/delivery/promotions.ts';
import { Clone } from '../../support/clients/clone.ts';
import { git } from '../../support/clients/fast-import.ts';
import { drawPipeline, soundGraph } from '../../support/fixtures/graphs.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { testDatabase } from '../../support/harness/postgres.ts';
import { until } from '../../support/harness/until.ts';
import { makeTestEnvironments, refusal, type TestEnvironments } from '../../support/scenes/places.ts';
import { GitServer } from '../../support/servers/git-server.ts';
import { signIn } from '../../support/users/person.ts';

const FOLDER = 'environments/production';

describe('a promotion into a repository on a git server', function () {
  this.timeout(90_000);
  let server: GitServer;
  let gitdir: string;
  let test: TestController;
  let places: TestEnvironments;
  let database: Awaited<ReturnType<typeof testDatabase>>;
  const dataDir = mkdtempSync(join(tmpdir(), 'headgate-promotions-'));

  const start = () => startTestController({ databaseUrl: database.url, dataDir });
  before(async () => {
    server = await GitServer.start();
    gitdir = server.create();
    server.commit({ files: { [`${FOLDER}/pipelines/.keep`]: '' } });
    database = await testDatabase();
    test = await start();
    places = await makeTestEnvironments(test);
    await places.admin.mutate('gitSync.configure', {
      environmentId: places.siblingId,
      mode: 'sync',
      repositoryUrl: server.url(),
      path: FOLDER,
    });
  });
  after(async () => {
    await test?.stop();
    await database?.drop();
    await server?.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  const input = async (name: string) => ({
    pipelineId: (await drawPipeline(places.editor, places.environmentId, soundGraph(), name)).id,
    targetEnvironmentId: places.siblingId,
  });
  const initiate = async (name: string) =>
    (await places.editor.mutate<{ requestId: string }>('promotion.initiate', await input(name))).requestId;
  const branches = () => git(gitdir, 'for-each-ref', '--format=%(refname:short)', 'refs/heads/headgate');
  async function becomes(requestId: string, status: string): Promise<void> {
    let seen: Promotion | undefined;
    await until(
      async () => {
        seen = await places.editor.query<Promotion>('promotion.get', { requestId });
        return seen.status === status;
      },
      { what: () => JSON.stringify(seen), everyMs: 100, timeoutMs: 40_000 },
    );
  }
  async function merge(branch: string): Promise<void> {
    const clone = await Clone.of(gitdir);
    try {
      await clone.git('merge', '--no-ff', '--no-edit', `origin/${branch}`);
      await clone.git('push', '--quiet', 'origin', 'main');
    } finally {
      await clone.remove();
    }
  }

  it('is nothing at all where the server does not take it', async () => {
    server.mischief = () => ({ status: 503 });
    const wanted = await input('away');
    expect(await refusal(places.editor, 'mutation', 'promotion.initiate', wanted)).to.match(
      /^SERVICE_UNAVAILABLE: /,
    );
    server.mischief = () => null;
    expect(await test.db('promotions')).to.deep.equal([]);
    const audit = await test
      .db('audit_log')
      .where({ entity_type: 'Promotion' })
      .orderBy('id')
      .pluck('action');
    expect(audit).to.deep.equal(['promotion.initiated', 'promotion.failed']);
    expect(branches()).to.equal('');
    await places.editor.mutate('promotion.initiate', wanted);
    expect(branches().split('\n')).to.have.length(1);
  });

  it('is pushed there, and found deployed though it was merged while down, and its branch deleted', async () => {
    const names = ['while down', 'while down and deleted'];
    const ids: string[] = [];
    for (const name of names) ids.push(await initiate(name));
    const pushed = names.map((name) => {
      const slug = name.replaceAll(' ', '-');
      const branch = branches()
        .split('\n')
        .find((one) => new RegExp(`^headgate/promote/${slug}-[0-9a-z]{8}$`).test(one)) as string;
      expect(git(gitdir, 'show', `${branch}:${FOLDER}/pipelines/${slug}.yaml`)).to.contain('.seen = true');
      return branch;
    });
    await test.stop();
    for (const branch of pushed) await merge(branch);
    git(gitdir, 'update-ref', '-d', `refs/heads/${pushed[1]}`);
    test = await start();
    places.editor = await signIn(test.url, places.editor.email);
    for (const requestId of ids) await becomes(requestId, 'DEPLOYED');
  });

  it('is cancelled where its branch was deleted there', async () => {
    const requestId = await initiate('deleted');
    const branch = branches()
      .split('\n')
      .find((one) => one.includes('deleted')) as string;
    git(gitdir, 'update-ref', '-d', `refs/heads/${branch}`);
    await test.controller
      .systemContext('test')
      .services.bus.publish(test.db, { type: 'wake', loop: 'git', key: places.siblingId, trigger: 'test' });
    await becomes(requestId, 'CANCELLED');
  });
});
