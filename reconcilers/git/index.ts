/**
 * The git reconciler: every binding converges on what its branch says. Triggers (a push, a file event in the embedded
 * repository, a signal, the timer) only wake it up.
 */

import { join } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import type { Knex } from 'knex';
import { unlessAway } from '../../controller/database/errors.ts';
import { type Binding, findBinding, intervalOf, listBindings } from '../../controller/git-sync/index.ts';
import type { Context, Services } from '../../controller/platform/context.ts';
import { DomainError, messageOf } from '../../controller/platform/errors.ts';
import type { Lease } from '../../controller/platform/lease.ts';
import type { Logger } from '../../controller/platform/logger.ts';
import type { Execute } from '../../controller/platform/operation.ts';
import { backoff, jitter } from '../engine/backoff.ts';
import type { Clock } from '../engine/clock.ts';
import { createRunLoop, LoopStoppedError } from '../engine/run-loop.ts';
import { createSourceCache } from '../source/index.ts';
import { openCopies } from './copies.ts';
import { leadersReport } from './leaders-report.ts';
import { createPassMemory, type PassMemory } from './memory.ts';
import { type PassResult, runPass } from './pass.ts';
import { runPushPass } from './push-pass.ts';
import { noCounts } from './report.ts';

export const GIT_LOOP = 'git';

export interface GitReconciler {
  /**
   * Wakes every binding of the embedded repository and answers what to tell the person whose push began at `since`
   * (the clock's monotonic milliseconds), within the limit.
   */
  afterPush(since: number): Promise<readonly string[]>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface GitReconcilerOptions {
  db: Knex;
  clock: Clock;
  log: Logger;
  services: Services;
  execute: Execute;
  lease: Lease;
  /** The embedded repository's folder. */
  gitdir: string;
  /** Where people read on. */
  uiUrl: string;
  pushWaitMs?: number;
}

const PASS_DEADLINE_MS = 5 * 60_000;
const DEFAULT_INTERVAL_MS = 60_000;
const FOLLOWING_ENDS_MS = 300;
/** After a fault of a remote. */
const MIN_RETRY_MS = 5_000;
const retryAfter = backoff({ firstMs: MIN_RETRY_MS, capMs: 5 * 60_000 });
const NOT_LEADING: PassResult = {
  outcome: 'unchanged',
  commit: null,
  counts: noCounts(),
  report: [],
  error: null,
};

export function createGitReconciler(options: GitReconcilerOptions): GitReconciler {
  const { db, log, lease, services } = options;
  const copies = openCopies();
  const repository = copies.of('embedded', options.gitdir);
  const cache = createSourceCache();
  const intervals = new Map<string, number>();
  /** Bindings of remotes, with how often they have failed since it went well. */
  const remotes = new Map<string, number>();
  /** By environment. What was remembered under an earlier leadership, or of a binding that was another, is void. */
  const memories = new Map<string, { of: string; memory: PassMemory }>();

  function memoryOf(binding: Binding, epoch: number): PassMemory {
    const of = JSON.stringify([
      epoch,
      binding.id,
      binding.mode,
      binding.repositoryUrl,
      binding.ref,
      binding.path,
      binding.sharedPaths,
    ]);
    const known = memories.get(binding.environmentId);
    if (known?.of === of) return known.memory;
    const memory = createPassMemory();
    memories.set(binding.environmentId, { of, memory });
    return memory;
  }

  /** The last pass of each binding that had something to tell: a file event may be faster than the push that caused it. */
  const told = new Map<string, { at: number; result: PassResult }>();
  const pushWaitMs = options.pushWaitMs ?? 3_000;
  let watcher: FSWatcher | null = null;

  const loop = createRunLoop<PassResult>({
    name: 'git reconciler',
    clock: options.clock,
    concurrency: 4,
    deadlineMs: PASS_DEADLINE_MS,
    reconcile: async (environmentId, pass) => {
      const epoch = lease.epoch();
      const binding = await findBinding(db, environmentId);
      if (!binding || binding.mode === 'off' || binding.suspendedAt !== null) {
        intervals.delete(environmentId);
        remotes.delete(environmentId);
        memories.delete(environmentId);
        await copies.forget(environmentId);
        return NOT_LEADING;
      }
      intervals.set(environmentId, intervalOf(binding.intervalSeconds, binding.manifestPolicy) * 1_000);
      if (epoch === null) return NOT_LEADING;
      const ctx: Context = {
        db,
        actor: { type: 'git', commit: '', author: '', environmentId },
        clock: options.clock,
        log,
        signal: pass.signal,
        requestId: 'git',
        ipAddress: null,
        services,
        fence: (tx) => lease.fence(tx, epoch),
      };
      const trigger = pass.triggers.find((one) => one !== 'timer') ?? 'timer';
      const handle = services.repositories.of(binding);
      const repository = copies.of(environmentId, handle.gitdir);
      let reached = true;
      // A slow server takes up the time of its own binding, and the place of no other.
      const fetch = () =>
        pass.aside(() =>
          handle.fetch(pass.signal).catch((error: unknown) => {
            reached = false;
            throw error;
          }),
        );
      const push = () => runPushPass({ ctx, binding, repository, cache, trigger });
      const sync = () =>
        runPass({
          ctx,
          execute: options.execute,
          binding,
          repository,
          ...(handle.kind === 'remote' ? { remote: { fetch, distrust: () => handle.distrust() } } : {}),
          cache,
          trigger,
          signal: pass.signal,
          memory: memoryOf(binding, epoch),
        });
      const pushes = binding.mode === 'push';
      const result = await (pushes ? (handle.kind === 'remote' ? pass.aside(push) : push()) : sync());
      // The first pass over a commit is the one that acted; a second finds the same faults and nothing to do.
      const isFirst = told.get(environmentId)?.result.commit?.sha !== result.commit?.sha;
      if (isFirst && (result.outcome !== 'unchanged' || result.report.length > 1))
        told.set(environmentId, { at: options.clock.monotonic(), result });
      if (handle.kind === 'embedded') remotes.delete(environmentId);
      else {
        const failed = pushes ? result.outcome === 'failed' : !reached;
        const failures = failed ? (remotes.get(environmentId) ?? 0) + 1 : 0;
        remotes.set(environmentId, failures);
      }
      if (result.outcome !== 'unchanged') {
        log.info(
          {
            environment: binding.environmentName,
            outcome: result.outcome,
            commit: result.commit?.sha,
            trigger,
          },
          'git pass',
        );
      }
      // What names an object that is another now is resolved anew.
      if (result.counts.renamed + result.counts.deleted > 0) loop.wake(environmentId, 'names changed');
      if (result.again) loop.wake(environmentId, 'policy changed');
      return result;
    },
    resync: (environmentId) => {
      const intervalMs = intervals.get(environmentId) ?? DEFAULT_INTERVAL_MS;
      const failures = remotes.get(environmentId);
      if (failures === undefined) return intervalMs;
      return jitter(failures === 0 ? intervalMs : Math.max(retryAfter(failures), MIN_RETRY_MS));
    },
    onFailure: (environmentId, error, retryInMs) =>
      log.warn(
        { environmentId, reason: messageOf(error), retryInMs: Math.round(retryInMs) },
        'git pass failed',
      ),
  });

  async function wakeAll(trigger: string, which: (binding: Binding) => boolean = () => true): Promise<void> {
    for (const binding of await listBindings(db))
      if (binding.mode !== 'off' && which(binding)) loop.wake(binding.environmentId, trigger);
  }

  /** What became of a push that began at `since`, environment by environment. */
  async function reportsOf(since: number, late: string): Promise<readonly string[]> {
    const bindings = (await listBindings(db)).filter(
      (binding) => binding.mode !== 'off' && isEmbedded(binding),
    );
    if (bindings.length === 0) return ['Headgate: no environment is bound to this repository'];
    if (lease.epoch() === null) {
      for (const { environmentId } of bindings) {
        await services.bus.publish(db, {
          type: 'wake',
          loop: GIT_LOOP,
          key: environmentId,
          trigger: 'push',
        });
      }
      const following = {
        db,
        repository,
        elapsed: () => options.clock.monotonic() - since,
        // Before the whole is given up, so that what the others have told is not lost.
        signal: AbortSignal.timeout(Math.max(pushWaitMs - FOLLOWING_ENDS_MS, 0)),
      };
      const reports = await Promise.all(bindings.map((binding) => leadersReport(following, binding)));
      return [...reports.flatMap((report) => report ?? []), ...(reports.includes(null) ? [late] : [])];
    }
    const reports = bindings.map((binding) =>
      loop.look(binding.environmentId, 'push').then(
        (result) => {
          const earlier = told.get(binding.environmentId);
          const fromFileEvent =
            earlier && earlier.at >= since && earlier.result.commit?.sha === result.commit?.sha;
          return fromFileEvent ? earlier.result.report : result.report;
        },
        (error: unknown) => [`${binding.environmentName}: ${notApplied(error)}`],
      ),
    );
    return (await Promise.all(reports)).flat();
  }

  const off = [
    services.bus.on('wake', (signal) => {
      if (signal.loop === GIT_LOOP) loop.wake(signal.key, signal.trigger);
    }),
    services.bus.on('resync', () => void wakeAll('resync').catch(() => {})),
  ];
  lease.onChange((leading) => {
    if (leading) void wakeAll('leading').catch(() => {});
  });

  return {
    async afterPush(since) {
      const late = `Headgate: still working; follow it at ${options.uiUrl}`;
      return (await withDeadline(reportsOf(since, late), pushWaitMs)) ?? [late];
    },
    async start() {
      await wakeAll('start');
      // Somebody may write to the repository past us (a push over the file system).
      watcher = watch([join(options.gitdir, 'refs'), join(options.gitdir, 'packed-refs')], {
        ignoreInitial: true,
        ignored: (path) => path.endsWith('.lock'),
      });
      watcher.on('all', () => void wakeAll('repository changed', isEmbedded).catch(() => {}));
      watcher.on('error', (error) =>
        log.warn({ reason: messageOf(error) }, 'the repository cannot be watched; the timer goes on'),
      );
    },
    async stop() {
      for (const remove of off) remove();
      await watcher?.close();
      await loop.stop();
      await copies.close();
    },
  };
}

const isEmbedded = ({ repositoryUrl }: Binding) => repositoryUrl === 'embedded';

function notApplied(error: unknown): string {
  if (error instanceof LoopStoppedError) return 'the controller is stopping';
  const known = unlessAway(error);
  const reason = known instanceof DomainError ? ` (${known.message})` : '';
  return `not applied yet, it is tried again${reason}`;
}

async function withDeadline<T>(work: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
