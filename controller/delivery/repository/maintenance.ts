/**
 * Keeps the embedded repository small: packs loose objects, and deletes what no ref has reached for two weeks.
 *
 * Nothing that is needed is deleted. A commit that rows of the database refer to and no branch or tag reaches gets a ref of its
 * own below refs/headgate/keep, which is hidden from clients, for as long as they refer to it. A write during the maintenance
 * could reuse an old object that git is about to delete and that has no ref yet, so neither pushes nor the controller write
 * then. Refs are not packed: a library reads them, loose files first, and could miss one that moves between files meanwhile.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { DomainError } from '../../platform/operation/errors.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import {
  beginActivity,
  endActivity,
  extendActivity,
  listNamedCommits,
  wantedForMs,
} from './activity-store.ts';
import { gitEnvironment } from './embedded.ts';
import type { RepositoryHandle } from './handle.ts';
import { runGit } from './process/git-run.ts';
import { RepositoryError } from './repository-error.ts';

const KEEP = 'refs/headgate/keep/';
/** Unreached objects wait for their deletion in one pack, not in a file each. */
const SETTINGS = [
  ['gc.packRefs', 'false'],
  ['gc.cruftPacks', 'true'],
] as const;
const EXPIRY = '2.weeks.ago';
const DEADLINE_MS = 5 * 60_000;
/** Below both numbers maintenance is not worth the work. */
const MANY_LOOSE = 200;
const MANY_PACKS = 20;
/** A push that has waited this long aborts the maintenance, which starts again the next time. */
const GIVE_WAY_MS = 3_000;
const POLL_MS = 250;
/** A process that dies in a maintenance blocks pushes no longer than this. */
const LEASE_MS = 60_000;
const POLLS_PER_EXTENSION = 40;

const PUSH_MS = 11 * 60_000;
const PUSH_WAIT_MS = 10_000;
const RETRY_AFTER_SECONDS = 10;

export interface MaintenanceOptions {
  db: Knex;
  gitdir: string;
  log: Logger;
  signal: AbortSignal;
}

export type MaintenanceOutcome = 'done' | 'not-needed' | 'pushes' | 'gave-way';

/** Does nothing while somebody pushes on any replica. @throws RepositoryError */
export async function maintainRepository(options: MaintenanceOptions): Promise<MaintenanceOutcome> {
  const { db, gitdir, log } = options;
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const git = async (args: readonly string[], input = ''): Promise<string> => {
    const env = { ...gitEnvironment(gitdir, SETTINGS), GIT_DIR: gitdir };
    const end = await runGit(args, { cwd: gitdir, env, signal, deadlineMs: DEADLINE_MS, input });
    if (end.code !== 0)
      throw new RepositoryError(
        'copy',
        `git ${args[0]} failed: ${end.late ? 'it took too long' : end.stderr.trim().slice(0, 300)}`,
      );
    return end.stdout;
  };
  const counted = await git(['count-objects', '-v']);
  const count = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(counted)?.[1] ?? 0);
  if (count('count') < MANY_LOOSE && count('packs') < MANY_PACKS) return 'not-needed';
  const id = await beginActivity(db, 'maintenance', LEASE_MS);
  if (id === null) return 'pushes';
  let ended = false;
  const watching = (async () => {
    for (let polls = 1; !ended; polls += 1) {
      await sleep(POLL_MS);
      if (polls % POLLS_PER_EXTENSION === 0 && !(await extendActivity(db, id, LEASE_MS))) stop.abort();
      if (((await wantedForMs(db, id)) ?? 0) > GIVE_WAY_MS) stop.abort();
    }
  })().catch(() => stop.abort());
  try {
    // A killed maintenance leaves half a pack, with which git does not pack.
    await sweepHalfPacks(gitdir);
    await updateKeepRefs(git, await listNamedCommits(db));
    await git(['gc', '--quiet', `--prune=${EXPIRY}`]);
    return 'done';
  } catch (error) {
    if (!stop.signal.aborted || options.signal.aborted) throw error;
    log.info('the packing of the repository was aborted for a push that waits; it starts again later');
    return 'gave-way';
  } finally {
    ended = true;
    await watching;
    // While the activity is ours, nobody else makes packs.
    if (await extendActivity(db, id, LEASE_MS)) await sweepHalfPacks(gitdir);
    await endActivity(db, id);
  }
}

/** Deletes the temporary packs of a git that was killed. */
async function sweepHalfPacks(gitdir: string): Promise<void> {
  const folder = join(gitdir, 'objects', 'pack');
  for (const name of await readdir(folder).catch(() => []))
    if (/^\.?tmp[-_]/.test(name)) await rm(join(folder, name), { force: true });
}

type Git = (args: readonly string[], input?: string) => Promise<string>;

/** Gives each commit in `named` that exists outside of branches and tags a ref; deletes the refs of others. */
async function updateKeepRefs(git: Git, named: readonly string[]): Promise<void> {
  const wanted = new Set<string>();
  if (named.length > 0) {
    const unreached = await git(
      ['rev-list', '--ignore-missing', '--stdin', '--not', '--branches', '--tags'],
      named.map((sha) => `${sha}\n`).join(''),
    );
    const lost = new Set(unreached.split('\n'));
    for (const sha of named) if (lost.has(sha)) wanted.add(sha);
  }
  const listed = await git(['for-each-ref', '--format=%(refname)', KEEP]);
  const existing = new Set(
    listed.split('\n').flatMap((name) => (name === '' ? [] : [name.slice(KEEP.length)])),
  );
  const changes = [
    ...[...wanted].filter((sha) => !existing.has(sha)).map((sha) => `update ${KEEP}${sha} ${sha}\n`),
    ...[...existing].filter((sha) => !wanted.has(sha)).map((sha) => `delete ${KEEP}${sha}\n`),
  ];
  if (changes.length > 0) await git(['update-ref', '--stdin'], changes.join(''));
}

/**
 * Runs `push` while no maintenance runs, and keeps one from starting. Waits for at most 10 s; a running maintenance is aborted
 * before that.
 * @throws DomainError UNAVAILABLE with `retryAfterSeconds`
 */
export async function duringPush<T>(db: Knex, signal: AbortSignal, push: () => Promise<T>): Promise<T> {
  const since = performance.now();
  let id = await beginActivity(db, 'push', PUSH_MS);
  while (id === null) {
    if (performance.now() - since > PUSH_WAIT_MS)
      throw new DomainError(
        'UNAVAILABLE',
        `The repository is being packed; try again in ${RETRY_AFTER_SECONDS} s`,
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    await sleep(POLL_MS, undefined, { signal });
    id = await beginActivity(db, 'push', PUSH_MS);
  }
  try {
    return await push();
  } finally {
    // A row that stays only delays the next maintenance until it expires.
    await endActivity(db, id).catch(() => {});
  }
}

/** For writes by the controller itself: to the embedded repository as `duringPush`. No maintenance runs on a mirror. */
export const duringWrite = <T>(
  db: Knex,
  { handle, signal }: { handle: RepositoryHandle; signal: AbortSignal },
  write: () => Promise<T>,
): Promise<T> => (handle.kind === 'embedded' ? duringPush(db, signal, write) : write());
