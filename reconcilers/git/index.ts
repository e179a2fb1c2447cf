/**
 * The git reconciler: on the leader, the state of every binding converges on what its branch holds. Triggers (a push, a file
 * event in the embedded repository, a signal, the timer) only wake it.
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
import type { PushedRef, RepositoryHandle } from '../../controller/delivery/repository/index.ts';
import { messageOf } from '../../controller/platform/operation/errors.ts';
import type { Execute } from '../../controller/platform/operation/operation.ts';
import { backoff, jitter } from '../loops/backoff.ts';
import { createLeaderLoop, type LeaderPass } from '../loops/leader-loop.ts';
import { LoopStoppedError } from '../loops/run-loop.ts';
import { loopParts, type ReconcilerOptions, reconcilerContext } from '../reconciler-context.ts';
import { createSourceCache } from '../source/index.ts';
import { type PassResult, runPass } from './pass.ts';
import { noCounts } from './pass-report.ts';
import type { Remote } from './pass-types.ts';
import { runPushPass } from './push-pass.ts';
import { createAfterPush, isEmbedded } from './push-report/after-push.ts';
import type { PushReport } from './push-report/push-report.ts';
import { openCopies } from './read/copies.ts';
import { createPassMemory, type PassMemory } from './read/pass-memory.ts';
import { recordBrokenPass } from './record/broken-pass.ts';

export const GIT_LOOP = 'git';

export interface GitReconciler {
  /**
   * Wakes the bindings of the embedded repository that follow what was pushed, and reports to the user whose push began at
   * `since` (the clock's monotonic milliseconds), within the limit. `refs` is null where they are not known.
   */
  afterPush(
    since: number,
    refs: readonly PushedRef[] | null,
    refused?: boolean,
  ): Promise<readonly PushReport[]>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface GitReconcilerOptions extends ReconcilerOptions {
  execute: Execute;
  /** The embedded repository's folder. */
  gitdir: string;
  /** The UI's base URL. */
  uiUrl: string;
  pushWaitMs: number;
  /** Called after each pass, with `failed` for one that threw. */
  onPass?(outcome: string, seconds: number): void;
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
  report: null,
  error: null,
};

const NOT_FOLLOWED: PassResult = { ...NOT_LEADING };

export function createGitReconciler(options: GitReconcilerOptions): GitReconciler {
  const { db, clock, log, lease, services } = options;
  const copies = openCopies();
  const repository = copies.of('embedded', options.gitdir);
  const cache = createSourceCache();
  const intervals = new Map<string, number>();
  /** Bindings of remotes, with the number of their failures in a row. */
  const remotes = new Map<string, number>();
  /** By environment. A memory is void once its `key` differs: under another epoch, or of a binding that was changed. */
  const memories = new Map<string, { key: string; memory: PassMemory }>();
  let watcher: FSWatcher | null = null;

  function memoryOf(binding: Binding, epoch: number): PassMemory {
    const { id, mode, repositoryUrl, ref, path, sharedPaths } = binding;
    const key = JSON.stringify([epoch, id, mode, repositoryUrl, ref, path, sharedPaths]);
    const known = memories.get(binding.environmentId);
    if (known?.key === key) return known.memory;
    const memory = createPassMemory();
    memories.set(binding.environmentId, { key, memory });
    return memory;
  }

  async function forget(environmentId: string): Promise<void> {
    intervals.delete(environmentId);
    remotes.delete(environmentId);
    memories.delete(environmentId);
    afterPush.forget(environmentId);
    await copies.forget(environmentId);
  }

  async function measured(run: () => Promise<PassResult>): Promise<PassResult> {
    const startedAt = options.clock.monotonic();
    let outcome = 'failed';
    try {
      const result = await run();
      outcome = result.outcome;
      return result;
    } finally {
      options.onPass?.(outcome, (options.clock.monotonic() - startedAt) / 1_000);
    }
  }

  async function runPassOver(binding: Binding, pass: LeaderPass<Knex>): Promise<PassResult> {
    const { environmentId } = binding;
    const ctx = {
      ...reconcilerContext(options, 'git', pass),
      actor: { type: 'git' as const, commit: '', author: '', environmentId },
    };
    const trigger = pass.triggers.find((one) => one !== 'timer') ?? 'timer';
    const handle = services.repositories.of(binding);
    const copy = copies.of(environmentId, handle.gitdir);
    const remote = handle.kind === 'remote' ? remoteOf(db, binding, handle, pass) : null;
    const push = () => runPushPass({ ctx, binding, repository: copy, cache, trigger });
    const result =
      binding.mode === 'push'
        ? await (remote ? pass.aside(push) : push())
        : await runPass({
            ...{ ctx, binding, cache, trigger, signal: pass.signal, execute: options.execute },
            repository: copy,
            ...(remote ? { remote } : {}),
            memory: memoryOf(binding, pass.epoch),
          });
    afterPush.passEnded(environmentId, result);
    if (!remote) remotes.delete(environmentId);
    else {
      const failed = binding.mode === 'push' ? result.outcome === 'failed' : !remote.wasReached();
      remotes.set(environmentId, failed ? (remotes.get(environmentId) ?? 0) + 1 : 0);
    }
    if (result.outcome !== 'unchanged')
      log.info(
        {
          environment: binding.environmentName,
          ...{ outcome: result.outcome, commit: result.commit?.sha, trigger },
        },
        'git pass',
      );
    return result;
  }

  const loop = createLeaderLoop<PassResult, Knex>({
    ...loopParts(options),
    name: 'git reconciler',
    signalName: GIT_LOOP,
    concurrency: 4,
    deadlineMs: PASS_DEADLINE_MS,
    failure: { key: 'environmentId', message: 'git pass failed' },
    listKeys: () => listFollowers(db),
    async standBy(environmentId) {
      await forget(environmentId);
      return NOT_LEADING;
    },
    async reconcile(environmentId, pass) {
      const binding = await findBinding(db, environmentId);
      if (!binding || binding.mode === 'off' || binding.suspendedAt !== null) {
        await forget(environmentId);
        // Binding, turning on and resuming wake it.
        return NOT_FOLLOWED;
      }
      intervals.set(environmentId, intervalOf(binding.intervalSeconds, binding.manifestPolicy) * 1_000);
      const result = await measured(() => runPassOver(binding, pass));
      // A name may stand for another object now, so manifests that use it are planned again.
      if (result.counts.renamed + result.counts.deleted > 0) loop.wake(environmentId, 'names changed');
      if (result.requeue) loop.wake(environmentId, 'policy changed');
      return result;
    },
    resync(environmentId, result) {
      if (result === NOT_FOLLOWED || result === NOT_LEADING) return null;
      const intervalMs = intervals.get(environmentId) ?? DEFAULT_INTERVAL_MS;
      const failures = remotes.get(environmentId);
      if (failures === undefined) return intervalMs;
      return jitter(failures === 0 ? intervalMs : Math.max(retryAfter(failures), MIN_RETRY_MS));
    },
    onFailure(environmentId, error) {
      const epoch = lease.epoch();
      if (epoch === null || error instanceof LoopStoppedError) return;
      const fence = (tx: Knex) => lease.fence(tx, epoch);
      recordBrokenPass({ db, bus: services.bus, fence, environmentId, error }).catch((reason: unknown) =>
        log.warn({ environmentId, reason: messageOf(reason) }, 'a failed git pass could not be recorded'),
      );
    },
  });

  const afterPush = createAfterPush({
    ...{ db, clock, services, lease, repository },
    ...{ uiUrl: options.uiUrl, pushWaitMs: options.pushWaitMs, loopName: GIT_LOOP },
    reconcile: loop.reconcile,
  });

  async function wakeEmbedded(): Promise<void> {
    for (const environmentId of await listFollowers(db, isEmbedded))
      loop.wake(environmentId, 'repository changed');
  }

  return {
    afterPush: afterPush.report,
    async start() {
      await loop.start();
      // A push over the file system does not come through the API.
      watcher = watch([join(options.gitdir, 'refs'), join(options.gitdir, 'packed-refs')], {
        ignoreInitial: true,
        ignored: (path) => path.endsWith('.lock'),
      });
      watcher.on('all', () => void wakeEmbedded().catch(() => {}));
      watcher.on('error', (error) =>
        log.warn({ reason: messageOf(error) }, 'the repository cannot be watched; the timer goes on'),
      );
    },
    async stop() {
      await watcher?.close();
      await loop.stop();
      await copies.close();
    },
  };
}

const listFollowers = async (
  db: Knex,
  isWanted: (binding: Binding) => boolean = () => true,
): Promise<string[]> =>
  (await listBindings(db)).flatMap((binding) =>
    binding.mode !== 'off' && isWanted(binding) ? binding.environmentId : [],
  );

/** Calls of a slow server are made aside: they hold up the pass of their own binding, and take the place of no other. */
function remoteOf(
  db: Knex,
  binding: Binding,
  handle: RepositoryHandle,
  { aside, signal }: LeaderPass<Knex>,
): Remote & { wasReached(): boolean } {
  let reached = true;
  return {
    async fetch() {
      const fetched = await aside(() =>
        handle.fetch(signal).catch((error: unknown) => {
          reached = false;
          throw error;
        }),
      );
      const redirectedTo = handle.redirectedTo();
      if (redirectedTo !== binding.redirectedTo) await updateRedirect(db, binding.id, redirectedTo);
      return fetched;
    },
    distrust: () => handle.distrust(),
    heads: (branches) => aside(() => handle.heads(branches, signal)),
    meet: (branches) => aside(() => handle.meet(branches, signal)),
    fetchCommit: (sha) => aside(() => handle.fetch(signal, sha)),
    wasReached: () => reached,
  };
}
