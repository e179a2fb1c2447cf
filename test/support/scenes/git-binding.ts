/** An environment that git describes: a real controller, its embedded repository, and the policy that a test wants. */

import type { OwnedTable } from '../../../controller/delivery/ownership/index.ts';
import { commit, git } from '../clients/fast-import.ts';
import type { TestController } from '../harness/controller.ts';
import { until } from '../harness/until.ts';
import { use } from '../harness/use.ts';
import type { TestEnvironments } from './places.ts';

export interface GitBindingScene extends TestEnvironments {
  test: TestController;
  /** Of the environment in the repository, which it shares with others of the controller. */
  folder: string;
  gitdir: string;
  /** Files below the environment's folder, or from the root where they begin with `/`; null deletes. Answers the commit. */
  push(files: Record<string, string | null>, message?: string): string;
  /** The same, and waits until it was applied. */
  apply(files: Record<string, string | null>): Promise<string>;
  applied(sha: string): Promise<void>;
  /** As the branch has it now. */
  read(path: string, ref?: string): string;
  head(ref?: string): string;
  policy(parts: object): Promise<void>;
  idOf(table: OwnedTable, name: string): Promise<string>;
}

let made = 0;

/** A new environment of the places' team, bound to a folder of its own. */
export async function bindToGit(
  test: TestController,
  places: TestEnvironments,
  files: Record<string, string>,
): Promise<GitBindingScene> {
  const { admin, teamId } = places;
  made += 1;
  const name = `env-${made}`;
  const folder = `environments/${name}`;
  const { id: environmentId } = await admin.mutate<{ id: string }>('environment.create', { teamId, name });
  const { gitdir } = test.controller;
  const placed = (path: string) => (path.startsWith('/') ? path.slice(1) : `${folder}/${path}`);
  const push = (changes: Record<string, string | null>, message = 'By hand') =>
    commit(gitdir, {
      branch: 'main',
      message,
      files: Object.fromEntries(Object.entries(changes).map(([path, text]) => [placed(path), text])),
    });
  const applied = (sha: string) =>
    until(
      async () => {
        const row = await test
          .db('git_bindings')
          .where({ environment_id: environmentId })
          .first('applied_commit');
        return row?.applied_commit?.sha === sha;
      },
      { what: `${sha} was applied`, everyMs: 20 },
    );
  const first = push(files);
  await admin.mutate('gitSync.configure', { environmentId, mode: 'sync', path: folder });
  await applied(first);
  const wake = () =>
    test.controller
      .systemContext('test')
      .services.bus.publish(test.db, { type: 'wake', loop: 'git', key: environmentId, trigger: 'test' });
  return {
    ...places,
    environmentId,
    folder,
    test,
    gitdir,
    push,
    applied,
    async apply(changes) {
      const sha = push(changes);
      await wake();
      await applied(sha);
      return sha;
    },
    // Not through the helper that trims.
    read: (path, ref = 'main') => git(gitdir, 'cat-file', 'blob', `${ref}:${placed(path)}`),
    head: (ref = 'main') => git(gitdir, 'rev-parse', ref),
    async policy(parts) {
      await test
        .db('git_bindings')
        .where({ environment_id: environmentId })
        .update({ policy: JSON.stringify(parts) });
    },
    async idOf(table, name) {
      const row = await test
        .db(table)
        .where({ environment_id: environmentId, name, tombstoned_at: null })
        .first('id');
      if (!row) throw new Error(`no row of ${table} is called ${name}`);
      return row.id;
    },
  };
}

/** One for all cases. Each binding of a repository is read after every commit there, so several cost more than their number. */
export const useGitBinding = (...made: Parameters<typeof bindToGit>) => use(() => bindToGit(...made));
