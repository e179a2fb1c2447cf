/** What to tell the person who has pushed: what became of it, environment by environment, within a limit of time. */
import type { Knex } from 'knex';
import { unlessAway } from '../../controller/database/errors.ts';
import { type Binding, listBindings } from '../../controller/git-sync/index.ts';
import type { Services } from '../../controller/platform/context.ts';
import { DomainError } from '../../controller/platform/errors.ts';
import type { Lease } from '../../controller/platform/lease.ts';
import type { Clock } from '../engine/clock.ts';
import { LoopStoppedError } from '../engine/run-loop.ts';
import type { Repository } from '../source/index.ts';
import { leadersReport } from './leaders-report.ts';
import type { PassResult } from './steps.ts';

const FOLLOWING_ENDS_MS = 300;

export const isEmbedded = ({ repositoryUrl }: Pick<Binding, 'repositoryUrl'>): boolean =>
  repositoryUrl === 'embedded';

export interface AfterPush {
  /** A pass has ended: a file event may be faster than the push that caused it. */
  told(environmentId: string, result: PassResult): void;
  /**
   * `since`: when the push began, in the clock's monotonic milliseconds. `names`: branches and tags that were pushed, null where
   * they are not known.
   */
  report(since: number, names: readonly string[] | null): Promise<readonly string[]>;
}

export function createAfterPush(options: {
  db: Knex;
  clock: Clock;
  services: Services;
  lease: Lease;
  repository: Repository;
  /** Where people read on. */
  uiUrl: string;
  pushWaitMs: number;
  /** Of the loop, for controllers that do not lead. */
  loopName: string;
  look(environmentId: string, trigger: string): Promise<PassResult>;
}): AfterPush {
  const { db, clock, services, lease, repository, pushWaitMs } = options;
  /** The last pass of each binding that had something to tell. */
  const told = new Map<string, { at: number; result: PassResult }>();

  async function reportsOf(
    since: number,
    names: readonly string[] | null,
    late: string,
  ): Promise<readonly string[]> {
    const all = (await listBindings(db)).filter((binding) => binding.mode !== 'off' && isEmbedded(binding));
    if (all.length === 0) return ['Headgate: no environment is bound to this repository'];
    const bindings = names === null ? all : all.filter(({ ref }) => names.includes(ref));
    if (bindings.length === 0) return [notFollowed(names ?? [], all)];
    if (lease.epoch() === null) {
      for (const { environmentId } of bindings)
        await services.bus.publish(db, {
          type: 'wake',
          loop: options.loopName,
          key: environmentId,
          trigger: 'push',
        });
      const following = {
        db,
        repository,
        elapsed: () => clock.monotonic() - since,
        // Before the whole is given up, so that what the others have told is not lost.
        signal: AbortSignal.timeout(Math.max(pushWaitMs - FOLLOWING_ENDS_MS, 0)),
      };
      const reports = await Promise.all(bindings.map((binding) => leadersReport(following, binding)));
      return [...reports.flatMap((report) => report ?? []), ...(reports.includes(null) ? [late] : [])];
    }
    const reports = bindings.map(({ environmentId, environmentName }) =>
      options.look(environmentId, 'push').then(
        (result) => {
          const earlier = told.get(environmentId);
          const fromFileEvent =
            earlier && earlier.at >= since && earlier.result.commit?.sha === result.commit?.sha;
          return fromFileEvent ? earlier.result.report : result.report;
        },
        (error: unknown) => [`${environmentName}: ${notApplied(error)}`],
      ),
    );
    return (await Promise.all(reports)).flat();
  }

  return {
    told(environmentId, result) {
      // The first pass over a commit is the one that acted; a second finds the same faults and nothing to do.
      const isFirst = told.get(environmentId)?.result.commit?.sha !== result.commit?.sha;
      if (isFirst && (result.outcome !== 'unchanged' || result.report.length > 1))
        told.set(environmentId, { at: clock.monotonic(), result });
    },
    async report(since, names) {
      const late = `Headgate: still working; follow it at ${options.uiUrl}`;
      return (await withDeadline(reportsOf(since, names, late), pushWaitMs)) ?? [late];
    },
  };
}

const NAMED = 3;

function notFollowed(names: readonly string[], bindings: readonly Pick<Binding, 'ref'>[]): string {
  const pushed = names.slice(0, NAMED).join(', ') + (names.length > NAMED ? ' …' : '');
  const followed = [...new Set(bindings.map(({ ref }) => ref))];
  return `Headgate: no environment follows ${pushed}, nothing is deployed from it; ${followed.slice(0, NAMED).join(', ')} ${followed.length === 1 ? 'is' : 'are'} followed: open a pull request`;
}

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
