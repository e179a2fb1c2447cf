/**
 * Who uses the embedded PostgreSQL: every controller keeps a connection with a shared advisory lock, which PostgreSQL
 * drops when that controller dies, however it dies. A process that leaves and then gets the exclusive lock was the last.
 */
import type pg from 'pg';
import { isConnectionRefused, openClient } from './connection.ts';

// An advisory lock of the database `headgate`.
const MEMBERS = 7_236_002;
const QUERY_TIMEOUT_MS = 10_000;

export interface Membership {
  /** Aborted when the connection is lost. */
  lost: AbortSignal;
  /** Gives it up. True for the last one, which keeps new processes waiting until `end`. */
  leave(): Promise<boolean>;
  end(): Promise<void>;
}

/** Waits while the last of the former members ends PostgreSQL; its connection breaks then, and this throws. */
export async function becomeMember(url: string): Promise<Membership> {
  const client = await openMember(url);
  try {
    await client.query('SELECT pg_advisory_lock_shared($1)', [MEMBERS]);
  } catch (error) {
    await client.end().catch(() => undefined);
    throw isConnectionRefused(error);
  }
  const broken = new AbortController();
  client.once('end', () => broken.abort());
  return {
    lost: broken.signal,
    async leave() {
      await client.query('SELECT pg_advisory_unlock_shared($1)', [MEMBERS]);
      return isAlone(client);
    },
    end: () => client.end().catch(() => undefined),
  };
}

/** For one whose own membership was lost: whether there is no member. */
export async function hasNoMembers(url: string): Promise<boolean> {
  const client = await openMember(url);
  try {
    return await isAlone(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function openMember(url: string): Promise<pg.Client> {
  return openClient(url, { application_name: 'headgate-member', query_timeout: QUERY_TIMEOUT_MS });
}

async function isAlone(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ alone: boolean }>('SELECT pg_try_advisory_lock($1) AS alone', [
    MEMBERS,
  ]);
  return rows[0]?.alone === true;
}
