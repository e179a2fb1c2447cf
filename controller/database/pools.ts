/**
 * The pools of a controller. Work of one kind cannot take the connections of another: requests that are slow or many keep
 * nobody from being known, no heartbeat from being stored, and no leader from leading.
 */
import { connect, type Database } from './connect.ts';

export interface Pools {
  /** The renewal of the lease and nothing else. */
  lease: Database;
  /** What keeps nodes and sessions known: heartbeats, log lines, configs, node tokens, sessions, health. Short statements. */
  essential: Database;
  /** What a user or a program asks for. Every statement is cancelled after its limit. */
  requests: Database;
  /** Reconcilers, schedules and jobs, whose statements may be long. */
  background: Database;
  destroy(): Promise<void>;
}

/**
 * The server counts the time of a statement, so a connection that hangs waits for ever; and much waits for its end: one read
 * of the node directory, one batch of heartbeats, one rendering of an environment at a time. So silence is limited too, and
 * for longer than a statement, so that one that runs is never taken for one that hangs. A page that has not come after 15 s
 * is not waited for: proxies commonly give up after 30 s or 60 s. The lease is renewed every second. Background statements
 * may be long; a pass that hangs is aborted before, and its connection comes back by this.
 */
export const POOL_LIMITS = {
  lease: { silenceMs: 10_000 },
  essential: { statementTimeoutMs: 15_000, silenceMs: 20_000 },
  requests: { statementTimeoutMs: 15_000, silenceMs: 25_000 },
  background: { silenceMs: 900_000 },
} as const;

/**
 * Connections of one controller. With 3 for jobs and 1 for the bus there are 27, so that three controllers fit into the 100
 * of a Postgres as it is installed. docs/running.md names the sum.
 */
export const POOL_SIZES = { lease: 1, essential: 4, requests: 10, background: 8 } as const;

export function openPools(url: string): Pools {
  const open = (name: keyof typeof POOL_SIZES) =>
    connect(url, { name: `headgate-${name}`, poolSize: POOL_SIZES[name], ...POOL_LIMITS[name] });
  const pools = {
    lease: open('lease'),
    essential: open('essential'),
    requests: open('requests'),
    background: open('background'),
  };
  return {
    ...pools,
    async destroy() {
      await Promise.all(Object.values(pools).map((pool) => pool.destroy()));
    },
  };
}
