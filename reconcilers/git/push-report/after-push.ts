/** What to tell the person who has pushed: what became of it, environment by environment, within a limit of time. */
import type { Knex } from 'knex';
import { unlessAway } from '../../../controller/database/errors.ts';
import { type Binding, gitPageUrl, listBindings } from '../../../controller/delivery/bindings/index.ts';
import type { PushedRef } from '../../../controller/delivery/repository/index.ts';
import type { Services } from '../../../controller/platform/operation/context.ts';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import type { Lease } from '../../../controller/platform/runtime/lease.ts';
import type { Clock } from '../../engine/clock.ts';
import { LoopStoppedError } from '../../engine/run-loop.ts';
import { type Repository, resolveRef } from '../../source/index.ts';
import type { PassResult } from '../pass-types.ts';
import { leadersReport } from './leader-report.ts';
import { describeUnfollowed, shortName } from './unfollowed-refs.ts';

export const isEmbedded = ({ repositoryUrl }: Pick<Binding, 'repositoryUrl'>): boolean =>
  repositoryUrl === 'embedded';

export interface AfterPush {
  /** A pass has ended: a file event may be faster than the push that caused it. */
  told(environmentId: string, result: PassResult): void;
  /** The environment follows git no more. */
  forget(environmentId: string): void;
  /**
   * `since`: when the push began, in the clock's monotonic milliseconds. `refs`: those that were taken, null where they are
   * not known. `refused`: git took none of them; only a repository that cannot be read is reported, and nothing that others
   * have pushed.
   */
  report(since: number, refs: readonly PushedRef[] | null, refused?: boolean): Promise<readonly string[]>;
}

export function createAfterPush(options: {
  db: Knex;
  clock: Clock;
  services: Services;
  lease: Lease;
  repository: Repository;
  /** The UI's base URL. */
  uiUrl: string;
  /** For everything together; an environment that takes longer is answered by its Git page. */
  pushWaitMs: number;
  /** Of the loop, for controllers that do not lead. */
  loopName: string;
  look(environmentId: string, trigger: string): Promise<PassResult>;
}): AfterPush {
  const { db, clock, services, lease, repository, pushWaitMs } = options;
  /** The last pass of each binding that had something to tell. */
  const told = new Map<string, { at: number; result: PassResult }>();

  /** The environments that follow what was pushed, or why there is none. */
  async function followersOf(refs: readonly PushedRef[] | null): Promise<Binding[] | readonly string[]> {
    const all = (await listBindings(db)).filter((binding) => binding.mode !== 'off' && isEmbedded(binding));
    if (all.length === 0) return ['Headgate: no environment is bound to this repository'];
    if (refs === null) return all;
    const names = new Set(refs.map(({ name }) => name));
    const bindings: Binding[] = [];
    for (const binding of all) {
      const { ref } = binding;
      // A full name is followed as it stands; of a short one a branch wins over a tag.
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
        );
  }

  async function reportOfOwnPass(
    since: number,
    { environmentId, environmentName }: Binding,
  ): Promise<readonly string[]> {
    try {
      const result = await options.look(environmentId, 'push');
      const earlier = told.get(environmentId);
      const fromFileEvent =
        earlier && earlier.at >= since && earlier.result.commit?.sha === result.commit?.sha;
      return fromFileEvent ? earlier.result.report : result.report;
    } catch (error) {
      return [`${environmentName}: ${notApplied(error)}`];
    }
  }

  /** Nothing where the repository can be read: then git has said itself why it took none of the push. */
  async function reportOfFault({ environmentId }: Binding): Promise<readonly string[]> {
    const result = await options.look(environmentId, 'push');
    return result.error === null ? [] : result.report;
  }

  /** Null where the leader has not reported in time. */
  async function reportOfLeader(since: number, binding: Binding): Promise<readonly string[] | null> {
    await services.bus.publish(db, {
      ...{ type: 'wake', loop: options.loopName, key: binding.environmentId, trigger: 'push' },
    });
    const elapsed = () => clock.monotonic() - since;
    const signal = AbortSignal.timeout(pushWaitMs);
    return leadersReport({ db, repository, elapsed, signal }, binding);
  }

  return {
    told(environmentId, result) {
      // The first pass over a commit is the one that acted; a second finds the same faults and nothing to do.
      const isFirst = told.get(environmentId)?.result.commit?.sha !== result.commit?.sha;
      if (isFirst && (result.outcome !== 'unchanged' || result.report.length > 1))
        told.set(environmentId, { at: clock.monotonic(), result });
    },
    forget: (environmentId) => void told.delete(environmentId),
    async report(since, refs, refused = false) {
      const deadline = startDeadline(pushWaitMs);
      try {
        if (refused && lease.epoch() === null) return [];
        const followers = await deadline.race(followersOf(refs));
        if (refused) {
          const bindings = (followers ?? []).filter((one) => typeof one !== 'string');
          return ((await deadline.race(Promise.all(bindings.map(reportOfFault)))) ?? []).flat();
        }
        if (followers === null) return [`Headgate: still working; follow it at ${options.uiUrl}`];
        const leads = lease.epoch() !== null;
        const reports = followers.map(async (follower) => {
          if (typeof follower === 'string') return [follower];
          const report = leads ? reportOfOwnPass(since, follower) : reportOfLeader(since, follower);
          const page = gitPageUrl(options.uiUrl, follower.environmentId);
          return (
            (await deadline.race(report)) ?? [
              `${follower.environmentName}: still working; follow it at ${page}`,
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

function notApplied(error: unknown): string {
  if (error instanceof LoopStoppedError) return 'the controller is stopping';
  const known = unlessAway(error);
  const reason = known instanceof DomainError ? ` (${known.message})` : '';
  return `not applied yet, it is tried again${reason}`;
}

/** `race` answers null for what is not there when `ms` have passed since the start. */
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
