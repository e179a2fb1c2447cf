/** A controller that dies when git has taken a change and nobody has told it so: nothing is lost, and nothing happens twice. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { GitSyncStatus } from '../../../schemas/api/delivery/git-sync.ts';
import { git } from '../../support/clients/fast-import.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import type { Replica } from '../../support/harness/serve.ts';
import { until } from '../../support/harness/until.ts';
import { type Site, startSite } from '../../support/scenes/site.ts';
import { GitServer } from '../../support/servers/git-server.ts';

describe('a controller that is killed between its push and its own database', function () {
  this.timeout(120_000);
  let server: GitServer;
  let site: Site;
  let controller: Replica;
  before(async () => {
    server = await GitServer.start();
    server.create();
    const sha = server.commit({ files: { 'prod/web.yaml': idleManifest('web', 'as it was') } });
    site = await startSite();
    ({ controller } = site);
    await configure({ repositoryUrl: server.url(), path: 'prod', policy: { uiEdits: 'commit' } });
    await untilApplied(sha);
  });
  after(async () => {
    await site?.remove();
    await server?.stop();
  });

  const reached = () => join(server.root, 'reached');
  const released = () => join(server.root, 'released');
  /** The server has taken a push, and does not say so before it is released. */
  function holdAnswers(): void {
    for (const file of [reached(), released()]) rmSync(file, { force: true });
    const script = `#!/bin/sh\ntouch '${reached()}'\nwhile [ ! -e '${released()}' ]; do sleep 0.05; done\n`;
    writeFileSync(join(server.gitdir(), 'hooks/post-receive'), script, { mode: 0o755 });
  }
  async function configure(input: object): Promise<void> {
    const { environmentId } = site;
    await (await site.api(controller)).mutate('gitSync.configure', { environmentId, mode: 'sync', ...input });
  }
  async function untilApplied(sha: string): Promise<void> {
    await until(
      async () => {
        const api = await site.api(controller);
        const { environmentId } = site;
        const { appliedCommit } = await api.query<GitSyncStatus>('gitSync.status', { environmentId });
        return appliedCommit?.sha === sha;
      },
      { what: () => `${sha} is applied\n${controller.output()}`, everyMs: 50, timeoutMs: 30_000 },
    );
  }
  const web = () =>
    site
      .db('pipelines as p')
      .join('pipeline_versions as v', 'v.id', 'p.latest_version_id')
      .where('p.name', 'web')
      .first<{
        id: string;
        description: string;
        version: number;
      }>('p.id', 'p.description', 'v.version');
  /** Edits the pipeline, and kills the controller once git has the change. */
  async function editAndKill(description: string): Promise<void> {
    holdAnswers();
    const { id } = (await web()) ?? {};
    const api = await site.api(controller);
    const told = api.mutate('pipeline.update', { id, description }).then(
      () => 'answered',
      () => 'cut off',
    );
    await until(() => existsSync(reached()), { what: 'git has the change', timeoutMs: 20_000 });
    await controller.end('SIGKILL');
    writeFileSync(released(), '');
    expect(await told).to.equal('cut off');
    rmSync(join(server.gitdir(), 'hooks/post-receive'));
    controller = await site.serve();
  }

  it('applies the commit once when it is back, and the audit log says whose it was', async () => {
    const before = git(server.gitdir(), 'rev-parse', 'main');
    await editAndKill('as it is now');
    const sha = git(server.gitdir(), 'rev-parse', 'main');
    expect(git(server.gitdir(), 'rev-parse', 'main~1')).to.equal(before);
    await untilApplied(sha);
    const now = await web();
    expect(now).to.include({ description: 'as it is now', version: 2 });
    const entries = await site.db('audit_log').where({ entity_id: now?.id, commit_sha: sha });
    expect(entries).to.have.length(1);
    expect(entries[0]).to.include({ actor_type: 'git', user_email: 'Administrator' });
    // Whoever was cut off may say it again.
    const api = await site.api(controller);
    await api.mutate('pipeline.update', { id: now?.id, description: 'as it is now' }).catch(() => {});
    expect(git(server.gitdir(), 'rev-parse', 'main')).to.equal(sha);
  });

  it('leaves no proposal in the way of the next: the same edit is proposed anew, and the branch was taken by nobody', async () => {
    await configure({ policy: { uiEdits: 'propose' } });
    const main = git(server.gitdir(), 'rev-parse', 'main');
    await editAndKill('as proposed');
    const { id } = (await web()) ?? {};
    const api = await site.api(controller);
    const { proposed } = await api.mutate<{ proposed: { branch: string; number: number } }>(
      'pipeline.update',
      {
        id,
        description: 'as proposed',
      },
    );
    expect(proposed.number).to.equal(1);
    expect(git(server.gitdir(), 'rev-parse', 'main', `${proposed.branch}~1`).split('\n')).to.deep.equal([
      main,
      main,
    ]);
    const { environmentId } = site;
    expect(await api.query<object[]>('pullRequest.list', { environmentId })).to.have.length(1);
  });
});
