/**
 * The pull request reconciler. On the leader, one loop brings the pull requests of each environment up to date from their
 * forge, plans them and publishes the result; another follows merged commits until they are rolled out. Triggers (webhooks,
 * pushes, git passes, merges, timers) only wake the loops.
 */
import { listBindings } from '../../controller/delivery/bindings/index.ts';
import { createKeyedMutex } from '../../controller/platform/runtime/keyed-mutex.ts';
import type { UiTopic } from '../../schemas/api/ui-events.ts';
import type { Forges } from '../forges/index.ts';
import { openCopies } from '../git/read/copies.ts';
import { createCoalescer } from '../loops/coalesce.ts';
import { createLeaderLoop, type LeaderLoop } from '../loops/leader-loop.ts';
import type { Planner } from '../plan-view/index.ts';
import { loopParts, type ReconcilerOptions, reconcilerContext } from '../reconciler-context.ts';
import { createSourceCache } from '../source/index.ts';
import { createCommitPass } from './commits/commit-pass.ts';
import { createForgeErrors } from './mirror/forge-errors.ts';
import { CHANGED_HERE, type NextPass, type PassWork } from './pass-types.ts';
import { createPullRequestPass } from './pull-request-pass.ts';

export const PULL_REQUESTS_LOOP = 'pull-requests';

export interface PullRequestReconciler {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Makes one pass over the pull requests of an environment, then one over its commits. */
  reconcile(environmentId: string, trigger: string): Promise<void>;
  /** Settles when nothing is due right now. */
  idle(): Promise<void>;
}

export interface PullRequestReconcilerOptions extends ReconcilerOptions {
  forges: Pick<Forges, 'of'>;
  planner: Pick<Planner, 'planOfCommit'>;
}

const PASS_DEADLINE_MS = 5 * 60_000;
/** Plans and checks at the same time, in all environments together. */
const CONCURRENCY = 2;
/** Signals that come within this time cause one pass. */
const GATHER_MS = 250;
/** Nodes report all the time. */
const GATHER_REPORTS_MS = 1_000;
/** A change of these may change what a pull request would do. */
const PLAN_TOPICS: readonly UiTopic[] = ['git', 'promotions', 'secrets', 'certificates'];
/** A change of these may change how far a commit has come. */
const COMMIT_TOPICS: readonly UiTopic[] = ['git', 'pipelines', 'fleet'];

export function createPullRequestReconciler(options: PullRequestReconcilerOptions): PullRequestReconciler {
  const { db, clock, lease, services } = options;
  const copies = openCopies();
  const shared = {
    ...options,
    copies,
    forgeErrors: createForgeErrors(db, clock),
    cache: createSourceCache({ maxFiles: 1_000, maxScopes: 50 }),
  };
  const pulls = createPullRequestPass({ ...shared, mutex: createKeyedMutex() });
  const commits = createCommitPass(shared);

  const loopOf = (name: string, work: PassWork, signalName?: string): LeaderLoop<NextPass> =>
    createLeaderLoop<NextPass, typeof db>({
      ...loopParts(options),
      name,
      ...(signalName === undefined ? {} : { signalName }),
      concurrency: CONCURRENCY,
      deadlineMs: PASS_DEADLINE_MS,
      failure: { key: 'environmentId', message: `a pass over ${name} failed` },
      listKeys: async () =>
        (await listBindings(db)).flatMap(({ environmentId, mode }) => (mode === 'off' ? [] : environmentId)),
      standBy(environmentId) {
        work.forget(environmentId);
        return null;
      },
      reconcile: (environmentId, pass) =>
        work.run(environmentId, { ctx: reconcilerContext(options, name, pass), pass }),
      resync: (_, next) => next,
      forgetEnvironment: work.forget,
    });
  const pullLoop = loopOf('pull requests', pulls, PULL_REQUESTS_LOOP);
  const commitLoop = loopOf('commit statuses', commits);

  const wakes = (loop: LeaderLoop<NextPass>, delayMs: number) =>
    createCoalescer({ clock, delayMs, run: (environmentId) => loop.wake(environmentId, CHANGED_HERE) });
  const planChanges = wakes(pullLoop, GATHER_MS);
  const commitChanges = wakes(commitLoop, GATHER_REPORTS_MS);

  const unsubscribe = services.bus.on('ui', ({ environmentId, topics }) => {
    if (environmentId === null || lease.epoch() === null) return;
    if (topics.some((topic) => PLAN_TOPICS.includes(topic))) planChanges.note(environmentId);
    const onNodes = topics.some((topic) => COMMIT_TOPICS.includes(topic));
    if (onNodes && (topics.includes('git') || commits.follows(environmentId)))
      commitChanges.note(environmentId);
  });

  return {
    start: async () => void (await Promise.all([pullLoop.start(), commitLoop.start()])),
    async stop() {
      unsubscribe();
      planChanges.stop();
      commitChanges.stop();
      await Promise.all([pullLoop.stop(), commitLoop.stop()]);
      await copies.close();
    },
    idle: async () => void (await Promise.all([pullLoop.idle(), commitLoop.idle()])),
    async reconcile(environmentId, trigger) {
      await pullLoop.reconcile(environmentId, trigger);
      await commitLoop.reconcile(environmentId, trigger);
    },
  };
}
