/**
 * One embedded PostgreSQL for all controllers of a data directory. The first starts it, the others adopt it, any of them
 * starts it again when it dies, always on the same port, and the last one to leave stops it.
 *
 * A member that wrongly believes itself the last (the others' connections were just lost) does no lasting harm: the others
 * start it again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { backoff } from '../../../reconcilers/loops/backoff.ts';
import { messageOf } from '../../platform/operation/errors.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import { databaseUrl } from './connection.ts';
import { createDiskWatch } from './disk-watch.ts';
import { type EmbeddedPostgresOptions, prepareCluster, START_TIMEOUT_MS } from './embedded-postgres.ts';
import { clusterDir, type Location } from './location.ts';
import { becomeMember, hasNoMembers, type Membership } from './membership.ts';
import { identify, readPidFile, stopPostmaster } from './postmaster.ts';
import { type Running, type Start, serving } from './serving-postgres.ts';

export interface SharedPostgres {
  /** Of the database `headgate`, password included: never log it. It stays the same until `leave`. */
  url: string;
  /** The folder that holds the cluster. */
  location: string;
  /** PostgreSQL may refuse changes for want of space. */
  diskFull(): boolean;
  /** Stops watching, and PostgreSQL itself where nobody else uses it. May be called again. */
  leave(): Promise<void>;
}

export interface JoinOptions extends Omit<EmbeddedPostgresOptions, 'log'> {
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** By itself it would try again without a pause, and without a word to us. */
const SETTINGS = { restart_after_crash: 'off' };
const WATCH_MS = 250;
const DISK_MS = 5_000;
/** After this long, what happened before is no reason to wait with the next start. */
const STEADY_MS = 30_000;
const RETRY_MS = 100;
const JOIN_TRIES = 20;
const delayAfter = backoff({ firstMs: 1_000, capMs: 30_000 });
/** A full disk is waited for: what is tried costs little, and space may come back at any time. */
const FULL_DISK_CAP_MS = 5_000;

/**
 * Starts PostgreSQL on the data directory or joins those who use it already, and keeps it running.
 * Throws EmbeddedPostgresError with one line that says what to do.
 */
export async function joinEmbeddedPostgres(options: JoinOptions): Promise<SharedPostgres> {
  const { log } = options;
  const { location, start } = await prepareCluster({
    ...options,
    log: (message) => log.info(message),
    settings: { ...SETTINGS, ...options.settings },
  });
  const first = await join(location, start);
  const url = databaseUrl(first.running.port, start.password);
  const stop = new AbortController();
  const supervisor = createSupervisor({
    location,
    start: { ...start, port: first.running.port, signal: stop.signal },
    log,
    stop: stop.signal,
  });
  const ended = supervisor.run(first);
  const watched = supervisor.watchDisk();
  let leaving: Promise<void> | undefined;

  async function leave(): Promise<void> {
    stop.abort();
    const [membership] = await Promise.all([ended, watched]);
    try {
      const file = (await isLast(url, membership)) ? await readPidFile(clusterDir(location)) : undefined;
      if (file) await stopPostmaster(file.pid, clusterDir(location));
    } finally {
      await membership?.end();
    }
  }

  return {
    url,
    location: location.dir,
    diskFull: supervisor.diskFull,
    leave() {
      leaving ??= leave();
      return leaving;
    },
  };
}

/** Who cannot ask, since PostgreSQL hangs or is gone, takes itself for the last. */
async function isLast(url: string, membership: Membership | null): Promise<boolean> {
  try {
    if (membership) return await membership.leave();
  } catch {
    // Lost just now: asked once more on a connection of its own.
  }
  return hasNoMembers(url).catch(() => true);
}

interface Joined {
  running: Running;
  membership: Membership;
}

async function join(location: Location, start: Start): Promise<Joined> {
  for (let tries = 1; ; tries += 1) {
    const running = await serving(location, start);
    try {
      return { running, membership: await becomeMember(databaseUrl(running.port, start.password)) };
    } catch (error) {
      // The last of those before us was just stopping it.
      if (tries >= JOIN_TRIES || Date.now() > start.deadline) throw error;
      await sleep(RETRY_MS);
    }
  }
}

interface SupervisorOptions {
  location: Location;
  start: Start;
  log: JoinOptions['log'];
  stop: AbortSignal;
}

function createSupervisor({ location, start, log, stop }: SupervisorOptions) {
  const cluster = clusterDir(location);
  const disk = createDiskWatch(location.dir, (message, full) =>
    full ? log.error(message) : log.info(message),
  );
  let failures = 0;

  async function isUp(pid: number): Promise<boolean> {
    const file = await readPidFile(cluster);
    if (file?.pid !== pid || file.status === 'stopping') return false;
    const identity = await identify(pid, cluster);
    return identity === 'ours' || identity === 'unknown';
  }

  /** Until the postmaster is gone or going, our connection is lost, or we are to stop. */
  async function untilTrouble({ running, membership }: Joined): Promise<void> {
    const interrupted = AbortSignal.any([stop, membership.lost]);
    while (!interrupted.aborted && (await isUp(running.pid))) await pause(WATCH_MS, interrupted);
  }

  /** Null when we are to stop meanwhile. */
  async function restore(former: Running): Promise<Joined | null> {
    const since = performance.now();
    if (failures > 0) await pause(delayAfter(failures), stop);
    while (!stop.aborted) {
      try {
        const joined = await join(location, { ...start, deadline: Date.now() + START_TIMEOUT_MS });
        const { pid, adopted } = joined.running;
        const ms = Math.round(performance.now() - since);
        if (pid === former.pid) log.info({ pid, ms }, 'connected to PostgreSQL again');
        else if (adopted) log.info({ pid, ms }, 'another controller has started PostgreSQL again');
        else log.info({ pid, ms }, 'PostgreSQL runs again');
        return joined;
      } catch (error) {
        if (stop.aborted) break;
        failures += 1;
        const cap = (await disk.look()) ? FULL_DISK_CAP_MS : Number.POSITIVE_INFINITY;
        const ms = Math.min(delayAfter(failures), cap);
        log.error(
          { reason: messageOf(error), retryInSeconds: ms / 1000 },
          'PostgreSQL does not start yet, it is tried again',
        );
        await pause(ms, stop);
      }
    }
    return null;
  }

  return {
    diskFull: disk.full,
    async watchDisk(): Promise<void> {
      while (!stop.aborted) {
        await disk.look();
        await pause(DISK_MS, stop);
      }
    },
    /** Answers the membership at the end; null where there was none at that moment. */
    async run(joined: Joined): Promise<Membership | null> {
      let upSince = Number.NEGATIVE_INFINITY;
      for (let current = joined; ; ) {
        await untilTrouble(current);
        if (stop.aborted) return current.membership;
        const { pid } = current.running;
        if (await isUp(pid)) log.warn({ pid }, 'the connection to PostgreSQL was lost');
        else log.warn({ pid }, 'PostgreSQL ended unexpectedly, it is started again');
        await current.membership.end();
        failures = performance.now() - upSince > STEADY_MS ? 0 : failures + 1;
        const restored = await restore(current.running);
        if (!restored) return null;
        current = restored;
        upSince = performance.now();
      }
    },
  };
}

/** Ends early, without a word, when `signal` says so. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
