/** Records errors of forges on their bindings, and pauses calls to a forge after an error. */
import type { Knex } from 'knex';
import { type Binding, setForgeError } from '../../../controller/delivery/bindings/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import type { ForgeError } from '../../forges/forge.ts';
import { backoff, jitter } from '../../loops/backoff.ts';
import type { Clock } from '../../loops/clock.ts';

const MESSAGE_CHARACTERS = 500;
/** A forge that asks for a longer pause is called again after this. */
const MAX_PAUSE_MS = 60 * 60_000;
const retryAfter = backoff({ firstMs: 5_000, capMs: 5 * 60_000 });

export interface ForgeErrors {
  /** Milliseconds for which the forge of this binding is not called; 0 where it may be. */
  pausedMs(environmentId: string): number;
  /** A call has failed. */
  failed(ctx: Context, binding: Binding, error: ForgeError): Promise<void>;
  /** To be taken before calls to the forge. */
  mark(): number;
  /**
   * All calls since the mark have succeeded. `refused` is a call that the forge refuses for good. An error that another loop
   * has recorded since the mark stays.
   */
  succeeded(ctx: Context, binding: Binding, mark: number, refused: string | null): Promise<void>;
  forget(environmentId: string): void;
}

export function createForgeErrors(db: Knex, clock: Clock): ForgeErrors {
  const pauses = new Map<string, { until: number; failures: number; mark: number }>();
  let marks = 0;

  async function set({ services, fence }: Context, binding: Binding, message: string | null): Promise<void> {
    if ((binding.forgeError?.message ?? null) === message) return;
    const { id, environmentId } = binding;
    await db.transaction(async (tx) => {
      await fence?.(tx);
      if (await setForgeError(tx, id, message))
        await services.bus.publish(tx, { type: 'ui', environmentId, topics: ['promotions', 'git'] });
    });
  }

  return {
    pausedMs: (environmentId) => Math.max(0, (pauses.get(environmentId)?.until ?? 0) - clock.monotonic()),
    async failed(ctx, binding, error) {
      const { environmentId } = binding;
      const failures = (pauses.get(environmentId)?.failures ?? 0) + 1;
      const requestedMs = error.retryAt === null ? 0 : error.retryAt.getTime() - clock.now();
      const ms = Math.min(MAX_PAUSE_MS, Math.max(requestedMs, jitter(retryAfter(failures))));
      marks += 1;
      pauses.set(environmentId, { until: clock.monotonic() + ms, failures, mark: marks });
      await set(ctx, binding, error.message.slice(0, MESSAGE_CHARACTERS));
    },
    mark: () => marks,
    async succeeded(ctx, binding, mark, refused) {
      if ((pauses.get(binding.environmentId)?.mark ?? 0) > mark) return;
      pauses.delete(binding.environmentId);
      await set(ctx, binding, refused?.slice(0, MESSAGE_CHARACTERS) ?? null);
    },
    forget: (environmentId) => void pauses.delete(environmentId),
  };
}
