/**
 * Limits the bytes of log lines that each node may store per hour, as counted by this controller alone. Spent bytes are
 * refunded steadily over the hour, so a node that writes too much still stores some of its lines. A node whose bytes are all
 * refunded takes no memory.
 */
export interface ByteBudget {
  /** Null while the node has bytes left. `isFirst` is true for the first of several rejections in a row. */
  refusal(nodeId: string): { retryAfterSeconds: number; isFirst: boolean } | null;
  /** Counts bytes that will be stored. They may exceed what is left; then the next request waits longer. */
  spend(nodeId: string, bytes: number): void;
  /** Refunds bytes that were counted and then not stored. */
  refund(nodeId: string, bytes: number): void;
  size(): number;
}

interface Account {
  /** Bytes that are not refunded yet, as of `at`. */
  spent: number;
  at: number;
  refused: boolean;
}

const HOUR_MS = 3_600_000;
/** A rejected node retries when the bytes of one minute are available, and not for every line. */
const MINUTES_IN_HOUR = 60;
const SWEEP_MS = 60_000;

/** `perHour` is read each time, since it is a setting. `now` must be monotonic, in milliseconds. */
export function createByteBudget(perHour: () => number, now: () => number): ByteBudget {
  const accounts = new Map<string, Account>();
  let sweptAt = now();

  const spentBy = ({ spent, at }: Account): number =>
    Math.max(0, spent - ((now() - at) / HOUR_MS) * perHour());

  function sweep(): void {
    if (now() - sweptAt < SWEEP_MS) return;
    sweptAt = now();
    for (const [nodeId, account] of accounts) if (spentBy(account) === 0) accounts.delete(nodeId);
  }

  return {
    refusal(nodeId) {
      sweep();
      const account = accounts.get(nodeId);
      if (!account) return null;
      const limit = perHour();
      const spent = spentBy(account);
      const isFirst = !account.refused;
      account.refused = spent >= limit;
      if (!account.refused) return null;
      const waitMs = ((spent - limit + limit / MINUTES_IN_HOUR) / limit) * HOUR_MS;
      return { retryAfterSeconds: Math.ceil(Math.min(waitMs, HOUR_MS) / 1_000), isFirst };
    },
    spend(nodeId, bytes) {
      sweep();
      const account = accounts.get(nodeId);
      const spent = (account ? spentBy(account) : 0) + bytes;
      accounts.set(nodeId, { spent, at: now(), refused: account?.refused ?? false });
    },
    refund(nodeId, bytes) {
      const account = accounts.get(nodeId);
      if (account) Object.assign(account, { spent: Math.max(0, spentBy(account) - bytes), at: now() });
    },
    size: () => accounts.size,
  };
}
