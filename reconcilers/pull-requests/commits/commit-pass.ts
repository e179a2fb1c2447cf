/** One pass over the commits of the branch that one environment follows. */
import { ForgeError } from '../../forges/forge.ts';
import type { Forges } from '../../forges/index.ts';
import type { ForgeErrors } from '../mirror/forge-errors.ts';
import { findActiveBinding, type NextPass, type PassInput } from '../pass-types.ts';
import { followCommits } from './after-merge.ts';

export interface CommitPassOptions {
  forges: Pick<Forges, 'of'>;
  forgeErrors: ForgeErrors;
}

const SOON_MS = 5_000;
/** For commits that have failed or are pending for long: signals wake the loop earlier. */
const LATER_MS = 60_000;
const MAX_SOON_PASSES = 120;

export function createCommitPass({ forges, forgeErrors }: CommitPassOptions) {
  /** By environment, the number of passes over a commit that is not settled. */
  const passes = new Map<string, number>();

  async function run(environmentId: string, { ctx, pass }: PassInput): Promise<NextPass> {
    const binding = await findActiveBinding(ctx.db, environmentId);
    if (binding?.mode !== 'sync') {
      passes.delete(environmentId);
      return null;
    }
    const count = (passes.get(environmentId) ?? 0) + 1;
    passes.set(environmentId, count);
    const mark = forgeErrors.mark();
    const pausedMs = forgeErrors.pausedMs(environmentId);
    try {
      const forge = pausedMs > 0 ? null : forges.of(binding);
      const work = { ctx, binding, forge, leads: pass.leads, aside: pass.aside };
      const { state, refused } = await followCommits(work);
      if (refused !== null) await forgeErrors.succeeded(ctx, binding, mark, refused);
      if (state === 'settled') {
        passes.delete(environmentId);
        return pausedMs > 0 ? pausedMs : null;
      }
      return state === 'failed' || count > MAX_SOON_PASSES ? LATER_MS : SOON_MS;
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      await forgeErrors.failed(ctx, binding, error);
      return Math.max(1, forgeErrors.pausedMs(environmentId));
    }
  }

  return {
    run,
    forget: (environmentId: string) => void passes.delete(environmentId),
    /** Whether a commit of the environment is not settled. */
    follows: (environmentId: string): boolean => passes.has(environmentId),
  };
}
