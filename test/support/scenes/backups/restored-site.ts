/** A site with a backup, and what came after it: a restore takes the one away and brings the other back. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BackupRun } from '../../../../schemas/api/backups.ts';
import { GitClient } from '../../clients/git-client.ts';
import { idleManifest } from '../../fixtures/pipelines.ts';
import { ROOT } from '../../harness/controller.ts';
import type { Replica } from '../../harness/serve.ts';
import { until } from '../../harness/until.ts';
import { signIn } from '../../users/person.ts';
import { type Site, type SiteOptions, startSite } from '../site.ts';
import { untilEnded } from './backups.ts';

/** What a controller serves. */
export interface Served {
  teams: string[];
  pipelines: string[];
  /** Where main is, as a clone sees it. */
  commit: string;
}

export interface RestoredSite {
  site: Site;
  git: GitClient;
  filename: string;
  /** At the backup, and later. */
  before: Served;
  after: Served;
  remove(): Promise<void>;
}

/** Signs in, and asks as users and clones do. */
export async function servedBy(site: Site, controller: Replica): Promise<Served> {
  const root = await signIn(controller.url, ROOT.email, ROOT.password);
  const { environmentId } = site;
  const names = async (procedure: string, input?: unknown) =>
    (await root.query<{ name: string }[]>(procedure, input)).map(({ name }) => name).sort();
  const git = new GitClient(site.cloneUrl(controller));
  try {
    const cloned = await git.clone();
    expect(cloned.code, cloned.stderr).to.equal(0);
    const commit = (await git.run('rev-parse', 'origin/main')).stdout.trim();
    return {
      teams: await names('team.list'),
      pipelines: await names('pipeline.list', { environmentId }),
      commit,
    };
  } finally {
    await git.remove();
  }
}

/** Waits until what was pushed is applied. */
export async function pushPipeline(
  { site, git }: Pick<RestoredSite, 'site' | 'git'>,
  name: string,
  to: Replica,
) {
  await git.commit({ [`staging/${name}.yaml`]: idleManifest(name) }, name);
  const pushed = await git.run('push', site.cloneUrl(to), 'main');
  expect(pushed.code, pushed.stderr).to.equal(0);
  const sha = (await git.run('rev-parse', 'HEAD')).stdout.trim();
  await until(
    async () => (await site.db('git_bindings').first('applied_commit'))?.applied_commit?.sha === sha,
    {
      what: 'the commit to be applied',
      timeoutMs: 15_000,
      everyMs: 50,
    },
  );
}

export async function startRestoredSite(options?: SiteOptions): Promise<RestoredSite> {
  const site = await startSite(options);
  const git = new GitClient(site.cloneUrl());
  const remove = async () => {
    await git.remove();
    await site.remove();
  };
  try {
    await git.clone();
    await pushPipeline({ site, git }, 'early', site.controller);
    const before = await servedBy(site, site.controller);
    const api = await site.api();
    const run = await api.mutate<BackupRun>('settings.createBackup');
    expect((await untilEnded(site.db, run)).status).to.equal('COMPLETED');
    await api.mutate('team.create', { name: 'Later' });
    await pushPipeline({ site, git }, 'late', site.controller);
    const after = await servedBy(site, site.controller);
    return { site, git, filename: run.filename, before, after, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** What restores that did not come to their end leave: files beside the repository, and schemas. */
export async function leftoversOf({ dataDir, db }: Site): Promise<string[]> {
  const files = await readdir(join(dataDir, 'git'));
  const schemas: string[] = await db('pg_namespace')
    .whereLike('nspname', 'headgate\\_restore\\_%')
    .pluck('nspname');
  return [...files.filter((name) => /\.restore-|\.bundle$/.test(name)), ...schemas];
}
