/**
 * Holds the token for Vault while it is valid: renews it at half of its lifetime, and obtains a new one by a login when it
 * ends. https://developer.hashicorp.com/vault/docs/concepts/tokens
 */

export interface Lease {
  token: string;
  /** Null where the token does not expire, or where its lifetime is unknown. */
  ttlMs: number | null;
  renewable: boolean;
  /** Requests that the token allows; null without a limit. */
  uses: number | null;
}

export interface TokenSource {
  /** Logs in, or returns the token of the setting. All callers share it, so it ends by its own deadline. */
  obtain(): Promise<Lease>;
  /** The remaining lifetime after the renewal; null where Vault does not renew the token. */
  renew(token: string): Promise<{ ttlMs: number | null; renewable: boolean } | null>;
  /** Whether a new token can be obtained when this one ends. */
  isLogin: boolean;
}

export interface HeldToken {
  /** Returns the token and counts a use. The signal ends the wait of this caller only. */
  take(signal: AbortSignal): Promise<string>;
  /** Forgets a token that Vault no longer accepts; the next `take` obtains a new one. */
  drop(token: string): void;
  close(): void;
}

const SHORTEST_MS = 1_000;
/** setTimeout takes 24 days at most. */
const LONGEST_MS = 12 * 3_600_000;
/** The token of a login is used for this part of its lifetime, so that no request meets its end. */
const USABLE_PART = 0.9;

interface Held {
  lease: Promise<Lease>;
  token: string;
  /** By `performance.now()`. */
  until: number;
  uses: number | null;
  timer: NodeJS.Timeout | null;
}

export function holdToken(source: TokenSource): HeldToken {
  let held: Held | null = null;

  function drop(current: Held): void {
    if (current.timer) clearTimeout(current.timer);
    if (held === current) held = null;
  }

  /** Renews at half of the remaining lifetime, again and again. */
  function scheduleRenewal(current: Held, ttlMs: number | null, renewable: boolean): void {
    if (ttlMs === null) return;
    if (source.isLogin) current.until = performance.now() + Math.max(ttlMs * USABLE_PART, SHORTEST_MS);
    if (!renewable) return;
    const wait = Math.min(Math.max(ttlMs / 2, SHORTEST_MS), LONGEST_MS);
    current.timer = setTimeout(() => void renew(current, ttlMs - wait), wait).unref();
  }

  async function renew(current: Held, leftMs: number): Promise<void> {
    if (held !== current) return;
    // Vault counts a renewal as a use.
    if (current.uses !== null) current.uses -= 1;
    const renewed = await source.renew(current.token).catch(() => null);
    if (held !== current) return;
    if (renewed) scheduleRenewal(current, renewed.ttlMs, renewed.renewable);
    else if (leftMs > SHORTEST_MS) scheduleRenewal(current, leftMs, true);
  }

  return {
    async take(signal) {
      signal.throwIfAborted();
      if (held && (performance.now() >= held.until || held.uses === 0)) drop(held);
      if (!held) {
        const current: Held = {
          ...{ lease: source.obtain(), token: '', until: Number.POSITIVE_INFINITY },
          ...{ uses: null, timer: null },
        };
        held = current;
        current.lease.then(
          ({ token, ttlMs, renewable, uses }) => {
            Object.assign(current, { token, uses });
            if (held === current) scheduleRenewal(current, ttlMs, renewable);
          },
          () => drop(current),
        );
      }
      const current = held;
      const { token } = await untilAborted(current.lease, signal);
      if (current.uses === null) return token;
      // Concurrent callers have taken the last use.
      if (current.uses <= 0 && source.isLogin) {
        drop(current);
        return this.take(signal);
      }
      current.uses -= 1;
      return token;
    },
    drop(token) {
      if (held?.token === token) drop(held);
    },
    close() {
      if (held) drop(held);
    },
  };
}

/** The result of `work`, or the reason of the signal where that aborts first. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
