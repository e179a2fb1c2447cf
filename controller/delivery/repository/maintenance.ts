/**
 * Keeps the embedded repository small: loose objects go into packs, and what no ref has reached for two weeks is deleted.
 *
 * Nothing that is needed goes with it. Commits that rows of the database name and no branch or tag reaches get a ref of their
 * own below refs/headgate/keep, which is hidden from clients, for as long as they are named. What is written while it runs
 * may turn out to be an old object that git is about to delete, and has no ref yet: so nobody writes then, neither pushes nor
 * the controller. Refs are not packed: they are read here by a library, file first, which could miss one that is moved between
 * files at that moment.
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
/** Unreached objects wait for their end in one pack, not in a file each. */
const SETTINGS = [
  ['gc.packRefs', 'false'],
  ['gc.cruftPacks', 'true'],
] as const;
const EXPIRY = '2.weeks.ago';
const DEADLINE_MS = 5 * 60_000;
/** Less is not worth the work. */
const MANY_LOOSE = 200;
const MANY_PACKS = 20;
/** A push that has waited this long ends the maintenance, which begins again the next time. */
const GIVE_WAY_MS = 3_000;
const POLL_MS = 250;
/** Whoever dies in a maintenance holds pushes up for no longer than this. */
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

/** Does nothing while anybody pushes, on whichever replica. @throws RepositoryError */
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
    // Whoever was killed in one could not, and git does not pack with half a pack there.
    await sweepHalfPacks(gitdir);
    await keepNamed(git, await listNamedCommits(db));
    await git(['gc', '--quiet', `--prune=${EXPIRY}`]);
    return 'done';
  } catch (error) {
    if (!stop.signal.aborted || options.signal.aborted) throw error;
    log.info('the repository is packed another time: somebody waits to write to it');
    return 'gave-way';
  } finally {
    ended = true;
    await watching;
    // Nobody else makes packs as long as it is ours.
    if (await extendActivity(db, id, LEASE_MS)) await sweepHalfPacks(gitdir);
    await endActivity(db, id);
  }
}

/** What a git that was ended half way has left of its packs. */
async function sweepHalfPacks(gitdir: string): Promise<void> {
  const folder = join(gitdir, 'objects', 'pack');
  for (const name of await readdir(folder).catch(() => []))
    if (/^\.?tmp[-_]/.test(name)) await rm(join(folder, name), { force: true });
}

type Git = (args: readonly string[], input?: string) => Promise<string>;

/** Each commit that is named, there, and in no branch or tag has a ref; the refs of others go. */
async function keepNamed(git: Git, named: readonly string[]): Promise<void> {
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
  const kept = new Set(listed.split('\n').flatMap((name) => (name === '' ? [] : [name.slice(KEEP.length)])));
  const changes = [
    ...[...wanted].filter((sha) => !kept.has(sha)).map((sha) => `update ${KEEP}${sha} ${sha}\n`),
    ...[...kept].filter((sha) => !wanted.has(sha)).map((sha) => `delete ${KEEP}${sha}\n`),
  ];
  if (changes.length > 0) await git(['update-ref', '--stdin'], changes.join(''));
}

/**
 * Does `push` while no maintenance runs, and keeps one from beginning. Waits for 10 s at most; one that runs gives way before.
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
    // Left over, it only holds up the next maintenance until it expires.
    await endActivity(db, id).catch(() => {});
  }
}

/** Writing by the controller itself: into the embedded repository as `duringPush`. A copy of another is packed by nobody. */
export const duringWrite = <T>(
  db: Knex,
  { handle, signal }: { handle: RepositoryHandle; signal: AbortSignal },
  write: () => Promise<T>,
): Promise<T> => (handle.kind === 'embedded' ? duringPush(db, signal, write) : write());
