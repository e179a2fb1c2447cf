/**
 * Pull requests, on the leader: each environment's are brought up to date from their forge, checked and told, and the commits
 * that came in are followed until they are rolled out. Triggers (webhooks, pushes, passes of git, merges, timers) only wake it.
 */
import type { Knex } from 'knex';
import { listBindings } from '../../controller/delivery/bindings/index.ts';
import { createKeyedMutex } from '../../controller/delivery/repository/index.ts';
import type { Context, Services } from '../../controller/platform/operation/context.ts';
import { messageOf } from '../../controller/platform/operation/errors.ts';
import type { Lease } from '../../controller/platform/runtime/lease.ts';
import type { Logger } from '../../controller/platform/runtime/logger.ts';
import type { UiTopic } from '../../schemas/api/git-sync.ts';
import type { Clock } from '../engine/clock.ts';
import { createRunLoop, type RunLoop } from '../engine/run-loop.ts';
import type { Forges } from '../forges/index.ts';
import { openCopies } from '../git/read/copies.ts';
import type { Planner } from '../plan-view/index.ts';
import { createSourceCache } from '../source/index.ts';
import { createCommitPass } from './commits/commit-pass.ts';
import { createForgeErrors } from './mirror/forge-errors.ts';
import { CHANGED_HERE, type Leading, type NextPass } from './pass-types.ts';
import { createPullRequestPass } from './pull-request-pass.ts';

export const PULL_REQUESTS_LOOP = 'pull-requests';

export interface PullRequestReconciler {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** One pass over the pull requests of an environment, and one over its commits. */
  look(environmentId: string, trigger: string): Promise<void>;
  /** Settles when nothing is due right now. */
  idle(): Promise<void>;
}

export interface PullRequestReconcilerOptions {
  db: Knex;
  clock: Clock;
  log: Logger;
  services: Services;
  lease: Lease;
  forges: Pick<Forges, 'of'>;
  planner: Pick<Planner, 'planOfCommit'>;
}

const PASS_DEADLINE_MS = 5 * 60_000;
/** Plans and checks at the same time, in all environments together. */
const CONCURRENCY = 2;
/** Signals of this long are one. */
const GATHER_MS = 250;
/** Nodes report all the time. */
const GATHER_REPORTS_MS = 1_000;
const LOOKED_AGAIN: readonly UiTopic[] = ['git', 'promotions', 'secrets', 'certificates'];
const ON_NODES: readonly UiTopic[] = ['git', 'pipelines', 'fleet'];

export function createPullRequestReconciler(options: PullRequestReconcilerOptions): PullRequestReconciler {
  const { db, clock, log, lease, services } = options;
  const copies = openCopies();
  const troubles = createForgeErrors(db, clock);
  const shared = {
    ...options,
    copies,
    troubles,
    cache: createSourceCache({ maxFiles: 1_000, maxScopes: 50 }),
  };
  const pulls = createPullRequestPass({ ...shared, turns: createKeyedMutex() });
  const commits = createCommitPass(shared);

  const loopOf = (
    name: string,
    work: {
      run(environmentId: string, leading: Leading): Promise<NextPass>;
      forget(environmentId: string): void;
    },
  ): RunLoop<NextPass> =>
    createRunLoop<NextPass>({
      name,
      clock,
      concurrency: CONCURRENCY,
      deadlineMs: PASS_DEADLINE_MS,
      async reconcile(environmentId, pass) {
        const epoch = lease.epoch();
        if (epoch === null) {
          work.forget(environmentId);
          return null;
        }
        const ctx: Context = {
          ...{ db, clock, log, services, signal: pass.signal },
          actor: { type: 'system', name },
          requestId: name,
          ipAddress: null,
          fence: (tx) => lease.fence(tx, epoch),
        };
        return work.run(environmentId, { ctx, pass, leads: () => lease.epoch() === epoch });
      },
      resync: (_, next) => next,
      onFailure: (environmentId, error, retryInMs) =>
        log.warn(
          { environmentId, loop: name, reason: messageOf(error), retryInMs: Math.round(retryInMs) },
          'pull requests not looked at',
        ),
    });
  const pullLoop = loopOf('pull requests', pulls);
  const commitLoop = loopOf('commit statuses', commits);

  /** A signal wakes a loop once, however many come while it is gathered. */
  function gathering(loop: RunLoop<NextPass>, ms: number) {
    const waiting = new Map<string, () => void>();
    return {
      note(environmentId: string) {
        if (waiting.has(environmentId)) return;
        const cancel = clock.after(ms, () => {
          waiting.delete(environmentId);
          loop.wake(environmentId, CHANGED_HERE);
        });
        waiting.set(environmentId, cancel);
      },
      stop() {
        for (const cancel of waiting.values()) cancel();
        waiting.clear();
      },
    };
  }
  const gathered = gathering(pullLoop, GATHER_MS);
  const reported = gathering(commitLoop, GATHER_REPORTS_MS);

  async function wakeAll(trigger: string): Promise<void> {
    for (const { environmentId, mode } of await listBindings(db)) {
      if (mode === 'off') continue;
      pullLoop.wake(environmentId, trigger);
      commitLoop.wake(environmentId, trigger);
    }
  }

  const off = [
    services.bus.on('wake', ({ loop, key, trigger }) => {
      if (loop === PULL_REQUESTS_LOOP) pullLoop.wake(key, trigger);
    }),
    services.bus.on('ui', ({ environmentId, topics }) => {
      if (environmentId === null || lease.epoch() === null) return;
      if (topics.some((topic) => LOOKED_AGAIN.includes(topic))) gathered.note(environmentId);
      const onNodes = topics.some((topic) => ON_NODES.includes(topic));
      if (onNodes && (topics.includes('git') || commits.follows(environmentId))) reported.note(environmentId);
    }),
    services.bus.on('environment', ({ environmentId }) => {
      for (const loop of [pullLoop, commitLoop]) loop.forget(environmentId);
      for (const work of [pulls, commits]) work.forget(environmentId);
    }),
    services.bus.on('resync', () => void wakeAll('resync').catch(() => {})),
  ];
  lease.onChange((leading) => {
    if (leading) void wakeAll('leading').catch(() => {});
  });

  return {
    start: () => wakeAll('start'),
    async stop() {
      for (const remove of off) remove();
      gathered.stop();
      reported.stop();
      await Promise.all([pullLoop.stop(), commitLoop.stop()]);
      await copies.close();
    },
    idle: async () => void (await Promise.all([pullLoop.idle(), commitLoop.idle()])),
    async look(environmentId, trigger) {
      await pullLoop.look(environmentId, trigger);
      await commitLoop.look(environmentId, trigger);
    },
  };
}
