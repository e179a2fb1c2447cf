/**
 * The token that Vault is asked with, for as long as it is good: renewed at half of its life, and made anew by a login where
 * that ends. https://developer.hashicorp.com/vault/docs/concepts/tokens
 */

export interface Lease {
  token: string;
  /** Null where it does not end, or where that is not known. */
  ttlMs: number | null;
  renewable: boolean;
  /** Requests that it is good for; null without a limit. */
  uses: number | null;
}

export interface TokenSource {
  /** By a login, or the token that was given. */
  obtain(signal: AbortSignal): Promise<Lease>;
  /** How long it lives from now on; null where Vault does not renew it. */
  renew(token: string): Promise<{ ttlMs: number | null; renewable: boolean } | null>;
  /** Whether another can be obtained when this one ends. */
  isLogin: boolean;
}

export interface HeldToken {
  /** Counts a use. */
  take(signal: AbortSignal): Promise<string>;
  /** Vault does not take this one any longer: the next is obtained anew. */
  drop(token: string): void;
  close(): void;
}

const SHORTEST_MS = 1_000;
/** Timers take 24 days at most. */
const LONGEST_MS = 12 * 3_600_000;
/** A login is given up before its end: a request must not meet it. */
const USED = 0.9;

interface Held {
  lease: Promise<Lease>;
  token: string;
  /** Of `performance.now()`. */
  until: number;
  uses: number | null;
  timer: NodeJS.Timeout | null;
}

export function holdToken(source: TokenSource): HeldToken {
  let held: Held | null = null;

  function drop(mine: Held): void {
    if (mine.timer) clearTimeout(mine.timer);
    if (held === mine) held = null;
  }

  /** At half of what is left, as often as it takes. */
  function plan(mine: Held, ttlMs: number | null, renewable: boolean): void {
    if (ttlMs === null) return;
    if (source.isLogin) mine.until = performance.now() + Math.max(ttlMs * USED, SHORTEST_MS);
    if (!renewable) return;
    const wait = Math.min(Math.max(ttlMs / 2, SHORTEST_MS), LONGEST_MS);
    mine.timer = setTimeout(() => void renew(mine, ttlMs - wait), wait).unref();
  }

  async function renew(mine: Held, leftMs: number): Promise<void> {
    if (held !== mine) return;
    // It counts as a use.
    if (mine.uses !== null) mine.uses -= 1;
    const renewed = await source.renew(mine.token).catch(() => null);
    if (held !== mine) return;
    if (renewed) plan(mine, renewed.ttlMs, renewed.renewable);
    else if (leftMs > SHORTEST_MS) plan(mine, leftMs, true);
  }

  return {
    async take(signal) {
      if (held && (performance.now() >= held.until || held.uses === 0)) drop(held);
      if (!held) {
        const mine: Held = {
          ...{ lease: source.obtain(signal), token: '', until: Number.POSITIVE_INFINITY },
          ...{ uses: null, timer: null },
        };
        held = mine;
        mine.lease.then(
          ({ token, ttlMs, renewable, uses }) => {
            Object.assign(mine, { token, uses });
            if (held === mine) plan(mine, ttlMs, renewable);
          },
          () => drop(mine),
        );
      }
      const mine = held;
      const { token } = await mine.lease;
      if (mine.uses === null) return token;
      // Others have taken the last one meanwhile.
      if (mine.uses <= 0 && source.isLogin) {
        drop(mine);
        return this.take(signal);
      }
      mine.uses -= 1;
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
