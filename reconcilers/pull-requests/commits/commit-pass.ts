/** One pass over the commits that came into the branch of one environment. */
import { ForgeError } from '../../forges/forge.ts';
import type { Forges } from '../../forges/index.ts';
import type { ForgeErrors } from '../mirror/forge-errors.ts';
import { boundTo, type Leading, type NextPass } from '../pass-types.ts';
import { followCommits } from './after-merge.ts';

export interface CommitPassOptions {
  forges: Pick<Forges, 'of'>;
  troubles: ForgeErrors;
}

const SOON_MS = 5_000;
/** What has failed, or has been under way for long, is waited for by signals. */
const LATER_MS = 60_000;
const MANY_LOOKS = 120;

export function createCommitPass({ forges, troubles }: CommitPassOptions) {
  /** How often was looked at what is not settled yet. */
  const looks = new Map<string, number>();

  async function run(environmentId: string, { ctx, pass, leads }: Leading): Promise<NextPass> {
    const binding = await boundTo(ctx.db, environmentId);
    if (binding?.mode !== 'sync') {
      looks.delete(environmentId);
      return null;
    }
    const count = (looks.get(environmentId) ?? 0) + 1;
    looks.set(environmentId, count);
    const mark = troubles.mark();
    const pausedMs = troubles.pausedMs(environmentId);
    try {
      const forge = pausedMs > 0 ? null : forges.of(binding);
      const work = { ctx, binding, forge, leads, aside: pass.aside };
      const { state, refused } = await followCommits(work);
      if (refused !== null) await troubles.went(ctx, binding, mark, refused);
      if (state === 'settled') {
        looks.delete(environmentId);
        return pausedMs > 0 ? pausedMs : null;
      }
      return state === 'failed' || count > MANY_LOOKS ? LATER_MS : SOON_MS;
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      await troubles.failed(ctx, binding, error);
      return Math.max(1, troubles.pausedMs(environmentId));
    }
  }

  return {
    run,
    forget: (environmentId: string) => void looks.delete(environmentId),
    /** Whether something of it is under way. */
    follows: (environmentId: string): boolean => looks.has(environmentId),
  };
}
