/** Reports to the user who has pushed: the result of the push in each environment that follows it, within a time limit. */
import type { Knex } from 'knex';
import { unlessAway } from '../../../controller/database/errors.ts';
import { type Binding, gitPageUrl, listBindings } from '../../../controller/delivery/bindings/index.ts';
import type { PushedRef } from '../../../controller/delivery/repository/index.ts';
import type { Services } from '../../../controller/platform/operation/context.ts';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import type { Lease } from '../../../controller/platform/runtime/lease.ts';
import type { Clock } from '../../loops/clock.ts';
import { LoopStoppedError } from '../../loops/run-loop.ts';
import { type Repository, resolveRef } from '../../source/index.ts';
import { hasDetails } from '../pass-report.ts';
import type { PassResult } from '../pass-types.ts';
import { readLeaderReport } from './leader-report.ts';
import type { PushReport } from './push-report.ts';
import { describeUnfollowed, shortName } from './unfollowed-refs.ts';

export const isEmbedded = ({ repositoryUrl }: Pick<Binding, 'repositoryUrl'>): boolean =>
  repositoryUrl === 'embedded';

export interface AfterPush {
  /** Notes the result of a pass: a file event may start one before the push that caused it asks for one. */
  passEnded(environmentId: string, result: PassResult): void;
  /** The environment no longer follows git. */
  forget(environmentId: string): void;
  /**
   * `since`: when the push began, in the clock's monotonic milliseconds. `refs`: the refs that git accepted, null where they
   * are not known. `refused`: git accepted none of them; then only a repository that cannot be read is reported, and not what
   * other users have pushed.
   */
  report(since: number, refs: readonly PushedRef[] | null, refused?: boolean): Promise<readonly PushReport[]>;
}

export function createAfterPush(options: {
  db: Knex;
  clock: Clock;
  services: Services;
  lease: Pick<Lease, 'epoch'>;
  repository: Repository;
  /** The UI's base URL. */
  uiUrl: string;
  /** For all environments together; the report of one that takes longer refers to its Git page. */
  pushWaitMs: number;
  /** By which a controller that does not lead wakes the loop of the one that does. */
  loopName: string;
  reconcile(environmentId: string, trigger: string): Promise<PassResult>;
}): AfterPush {
  const { db, clock, services, lease, repository, pushWaitMs } = options;
  /** The last pass of each binding that had something to report. */
  const lastPasses = new Map<string, { at: number; result: PassResult }>();

  /** The environments that follow what was pushed, or the reason why none does. */
  async function followersOf(refs: readonly PushedRef[] | null): Promise<(Binding | PushReport)[]> {
    const all = (await listBindings(db)).filter((binding) => binding.mode !== 'off' && isEmbedded(binding));
    if (all.length === 0) return [{ type: 'notice', message: 'no environment is bound to this repository' }];
    if (refs === null) return all;
    const names = new Set(refs.map(({ name }) => name));
    const bindings: Binding[] = [];
    for (const binding of all) {
      const { ref } = binding;
      // A full name matches as it is; where a short one names a branch and a tag, the branch wins.
      const follows =
        names.has(ref) ||
        names.has(`refs/heads/${ref}`) ||
        (names.has(`refs/tags/${ref}`) && (await resolveRef(repository, `refs/heads/${ref}`)) === null);
      if (follows) bindings.push(binding);
    }
    return bindings.length > 0
      ? bindings
      : describeUnfollowed(
          refs,
          all.map(({ ref }) => shortName(ref)),
        ).map((message) => ({ type: 'notice', message }));
  }

  async function reportOfOwnPass(
    since: number,
    { environmentId, environmentName }: Binding,
  ): Promise<PushReport[]> {
    try {
      const result = await options.reconcile(environmentId, 'push');
      const earlier = lastPasses.get(environmentId);
      const fromFileEvent =
        earlier && earlier.at >= since && earlier.result.commit?.sha === result.commit?.sha;
      return reportOf(fromFileEvent ? earlier.result : result);
    } catch (error) {
      return [{ type: 'message', environment: environmentName, message: notApplied(error) }];
    }
  }

  /** Empty where the repository can be read: then git itself has reported why it refused the push. */
  async function reportOfFault({ environmentId }: Binding): Promise<PushReport[]> {
    const result = await options.reconcile(environmentId, 'push');
    return result.error === null ? [] : reportOf(result);
  }

  /** Null where the leader has not reported in time. */
  async function reportOfLeader(since: number, binding: Binding): Promise<PushReport[] | null> {
    await services.bus.publish(db, {
      ...{ type: 'wake', loop: options.loopName, key: binding.environmentId, trigger: 'push' },
    });
    const elapsed = () => clock.monotonic() - since;
    const signal = AbortSignal.timeout(pushWaitMs);
    const report = await readLeaderReport({ db, repository, elapsed, signal }, binding);
    return report && [report];
  }

  return {
    passEnded(environmentId, result) {
      // The first pass over a commit acts on it; a second one finds the same faults and nothing to do.
      const isFirst = lastPasses.get(environmentId)?.result.commit?.sha !== result.commit?.sha;
      if (isFirst && (result.outcome !== 'unchanged' || hasDetails(result.report)))
        lastPasses.set(environmentId, { at: clock.monotonic(), result });
    },
    forget: (environmentId) => void lastPasses.delete(environmentId),
    async report(since, refs, refused = false) {
      const deadline = startDeadline(pushWaitMs);
      try {
        if (refused && lease.epoch() === null) return [];
        const followers = await deadline.race(followersOf(refs));
        if (refused) {
          const bindings = (followers ?? []).filter(isBinding);
          return ((await deadline.race(Promise.all(bindings.map(reportOfFault)))) ?? []).flat();
        }
        if (followers === null)
          return [{ type: 'notice', message: `still working; follow it at ${options.uiUrl}` }];
        const leads = lease.epoch() !== null;
        const reports = followers.map(async (follower): Promise<PushReport[]> => {
          if (!isBinding(follower)) return [follower];
          const report = leads ? reportOfOwnPass(since, follower) : reportOfLeader(since, follower);
          const page = gitPageUrl(options.uiUrl, follower.environmentId);
          return (
            (await deadline.race(report)) ?? [
              {
                ...{ type: 'message', environment: follower.environmentName },
                message: `still working; follow it at ${page}`,
              },
            ]
          );
        });
        return (await Promise.all(reports)).flat();
      } finally {
        deadline.clear();
      }
    },
  };
}

const isBinding = (one: Binding | PushReport): one is Binding => 'environmentId' in one;

const reportOf = ({ report }: PassResult): PushReport[] => (report === null ? [] : [report]);

function notApplied(error: unknown): string {
  if (error instanceof LoopStoppedError) return 'the controller is stopping';
  const known = unlessAway(error);
  const reason = known instanceof DomainError ? ` (${known.message})` : '';
  return `not applied yet, it is tried again${reason}`;
}

/** `race` resolves to null for work that is not done `ms` after the start. */
function startDeadline(ms: number) {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  return {
    race: <T>(work: Promise<T>): Promise<T | null> => Promise.race([work, late]),
    clear: () => clearTimeout(timer),
  };
}
