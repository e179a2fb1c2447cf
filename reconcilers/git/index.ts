/**
 * The git reconciler: every binding converges on what its branch says. Triggers (a push, a file event in the embedded
 * repository, a signal, the timer) only wake it up.
 */

import { join } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import type { Knex } from 'knex';
import {
  type Binding,
  findBinding,
  intervalOf,
  listBindings,
  updateRedirect,
} from '../../controller/delivery/bindings/index.ts';
import type { PushedRef } from '../../controller/delivery/repository/index.ts';
import type { Context, Services } from '../../controller/platform/operation/context.ts';
import { messageOf } from '../../controller/platform/operation/errors.ts';
import type { Execute } from '../../controller/platform/operation/operation.ts';
import type { Lease } from '../../controller/platform/runtime/lease.ts';
import type { Logger } from '../../controller/platform/runtime/logger.ts';
import { backoff, jitter } from '../engine/backoff.ts';
import type { Clock } from '../engine/clock.ts';
import { createRunLoop, LoopStoppedError } from '../engine/run-loop.ts';
import { createSourceCache } from '../source/index.ts';
import { type PassResult, runPass } from './pass.ts';
import { noCounts } from './pass-report.ts';
import type { Remote } from './pass-types.ts';
import { runPushPass } from './push-pass.ts';
import { createAfterPush, isEmbedded } from './push-report/after-push.ts';
import { openCopies } from './read/copies.ts';
import { createPassMemory, type PassMemory } from './read/pass-memory.ts';
import { recordBrokenPass } from './record/broken-pass.ts';

export const GIT_LOOP = 'git';

export interface GitReconciler {
  /**
   * Wakes the bindings of the embedded repository that follow what was taken, and answers what to show the user whose push
   * began at `since` (the clock's monotonic milliseconds), within the limit. `refs`: null where they are not known.
   */
  afterPush(since: number, refs: readonly PushedRef[] | null, refused?: boolean): Promise<readonly string[]>;
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
  pushWaitMs: number;
}

const PASS_DEADLINE_MS = 5 * 60_000;
const DEFAULT_INTERVAL_MS = 60_000;
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

const NOT_FOLLOWED: PassResult = { ...NOT_LEADING };

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
        afterPush.forget(environmentId);
        await copies.forget(environmentId);
        // Whoever binds, turns on or resumes it wakes it.
        return NOT_FOLLOWED;
      }
      intervals.set(environmentId, intervalOf(binding.intervalSeconds, binding.manifestPolicy) * 1_000);
      if (epoch === null) {
        memories.delete(environmentId);
        return NOT_LEADING;
      }
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
        pass
          .aside(() =>
            handle.fetch(pass.signal).catch((error: unknown) => {
              reached = false;
              throw error;
            }),
          )
          .then(async (fetched) => {
            const redirectedTo = handle.redirectedTo();
            if (redirectedTo !== binding.redirectedTo) await updateRedirect(db, binding.id, redirectedTo);
            return fetched;
          });
      const remote: Remote = {
        fetch,
        distrust: () => handle.distrust(),
        heads: (branches) => pass.aside(() => handle.heads(branches, pass.signal)),
        meet: (branches) => pass.aside(() => handle.meet(branches, pass.signal)),
        fetchCommit: (sha) => pass.aside(() => handle.fetch(pass.signal, sha)),
      };
      const push = () => runPushPass({ ctx, binding, repository, cache, trigger });
      const sync = () =>
        runPass({
          ctx,
          execute: options.execute,
          binding,
          repository,
          ...(handle.kind === 'remote' ? { remote } : {}),
          cache,
          trigger,
          signal: pass.signal,
          memory: memoryOf(binding, epoch),
        });
      const pushes = binding.mode === 'push';
      const result = await (pushes ? (handle.kind === 'remote' ? pass.aside(push) : push()) : sync());
      afterPush.told(environmentId, result);
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
    resync: (environmentId, result) => {
      if (result === NOT_FOLLOWED) return null;
      const intervalMs = intervals.get(environmentId) ?? DEFAULT_INTERVAL_MS;
      const failures = remotes.get(environmentId);
      if (failures === undefined) return intervalMs;
      return jitter(failures === 0 ? intervalMs : Math.max(retryAfter(failures), MIN_RETRY_MS));
    },
    onFailure(environmentId, error, retryInMs) {
      log.warn(
        { environmentId, reason: messageOf(error), retryInMs: Math.round(retryInMs) },
        'git pass failed',
      );
      const epoch = lease.epoch();
      if (epoch === null || error instanceof LoopStoppedError) return;
      const fence = (tx: Knex) => lease.fence(tx, epoch);
      recordBrokenPass({ db, bus: services.bus, fence, environmentId, error }).catch((reason: unknown) =>
        log.warn({ environmentId, reason: messageOf(reason) }, 'a failed git pass could not be recorded'),
      );
    },
  });

  const afterPush = createAfterPush({
    ...{ db, clock: options.clock, services, lease, repository },
    ...{ uiUrl: options.uiUrl, pushWaitMs: options.pushWaitMs, loopName: GIT_LOOP },
    look: (environmentId, trigger) => loop.look(environmentId, trigger),
  });

  async function wakeAll(trigger: string, which: (binding: Binding) => boolean = () => true): Promise<void> {
    for (const binding of await listBindings(db))
      if (binding.mode !== 'off' && which(binding)) loop.wake(binding.environmentId, trigger);
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
    afterPush: afterPush.report,
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
