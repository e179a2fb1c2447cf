/**
 * How many bytes of log lines each node may have stored in an hour, counted by this controller alone. What was spent comes
 * back steadily over the hour, so that a node that writes too much is still heard of, with less. Nothing is held of a node
 * that has spent nothing for a while.
 */
export interface ByteBudget {
  /** Null while the node has some left. `isFirst` of the refusals in a row. */
  refusal(nodeId: string): { retryAfterSeconds: number; isFirst: boolean } | null;
  /** What is to be stored, which may be more than is left: the next has to wait for longer then. */
  spend(nodeId: string, bytes: number): void;
  /** What was spent and then not stored. */
  giveBack(nodeId: string, bytes: number): void;
  size(): number;
}

interface Account {
  /** Bytes that have not come back yet, as of `at`. */
  spent: number;
  at: number;
  refused: boolean;
}

const HOUR_MS = 3_600_000;
/** Who was refused comes again once a minute's worth is left, and not for every line. */
const MINUTES_IN_HOUR = 60;
const SWEEP_MS = 60_000;

/** `perHour` is asked each time: it is a setting. `now` in milliseconds that never jump. */
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
    giveBack(nodeId, bytes) {
      const account = accounts.get(nodeId);
      if (account) Object.assign(account, { spent: Math.max(0, spentBy(account) - bytes), at: now() });
    },
    size: () => accounts.size,
  };
}
