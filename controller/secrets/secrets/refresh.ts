/**
 * Fetches an environment's secrets from its store. What is served is always what stands in the database: a value that
 * became another one is written there, and what cannot be fetched keeps its last good value.
 */
import { bumpConfigRevision } from '../../fleet/environments/index.ts';
import { type Keyring, KeyringError } from '../../platform/crypto/keyring.ts';
import { sealingContext } from '../../platform/crypto/sealed-columns.ts';
import { writeAudit } from '../../platform/operation/audit-writer.ts';
import type { Context } from '../../platform/operation/context.ts';
import { DomainError } from '../../platform/operation/errors.ts';
import { BackendError, type Reading } from '../backends/backend.ts';
import { type BackendState, sameStore } from './backend-state.ts';
import { lockBackend, readBackend } from './backend-store.ts';
import {
  type FetchedRow,
  listFetched,
  markFailed,
  markFetched,
  writeFetched,
  writeUnnoticed,
} from './fetch-store.ts';

export interface Refreshed {
  /** Names of those that have another value now. */
  changed: string[];
  /** How many have none of now. */
  failed: number;
  /** Why the store as a whole could not be asked; null where it could. */
  fault: string | null;
  /** The store wants to be asked less. */
  isThrottled: boolean;
  /** Until the next look; null where the store cannot be opened. */
  refreshMs: number | null;
}

/** Null where there is nothing to fetch: no environment, or one that keeps its secrets here. */
export async function refreshSecrets(ctx: Context, environmentId: string): Promise<Refreshed | null> {
  const state = await readBackend(ctx.db, environmentId);
  if (!state || state.kind === 'BUILTIN') return null;
  const rows = await listFetched(ctx.db, environmentId);
  if (rows.length === 0) return { changed: [], failed: 0, fault: null, isThrottled: false, refreshMs: null };
  const { readings, fault, isThrottled, refreshMs } = await ask(ctx, environmentId, rows);
  const sorted = sort(ctx.services.keyring, rows, readings, fault);
  const changed = await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    const now = await lockBackend(tx, environmentId);
    // Read from a store that is no longer this environment's.
    if (!now || !sameStore(now, state)) return [];
    await writeUnnoticed(tx);
    const written = new Set(await writeFetched(tx, sorted.changed));
    await markFetched(tx, sorted.same);
    await markFailed(tx, sorted.failed);
    const names = sorted.changed.filter(({ row }) => written.has(row.id)).map(({ row }) => row.name);
    await tell({ ...ctx, db: tx }, { environmentId, teamId: now.teamId }, state, names);
    const seen =
      names.length > 0 || sorted.failed.length > 0 || sorted.same.some((row) => row.error !== null);
    if (seen) await ctx.services.bus.publish(tx, { type: 'ui', environmentId, topics: ['secrets'] });
    return names;
  });
  const failed = rows.length - sorted.same.length - sorted.changed.length;
  return { changed, failed, fault, isThrottled, refreshMs };
}

interface Asked {
  readings: ReadonlyMap<string, Reading>;
  fault: string | null;
  isThrottled: boolean;
  refreshMs: number | null;
}

async function ask(ctx: Context, environmentId: string, rows: readonly FetchedRow[]): Promise<Asked> {
  try {
    const { backend, refreshMs } = await ctx.services.secretStores.open(ctx.db, environmentId);
    const readings = await backend.read(rows, ctx.signal);
    return { readings, fault: null, isThrottled: false, refreshMs };
  } catch (error) {
    const isOfStore = error instanceof BackendError || error instanceof KeyringError;
    if (!isOfStore || error instanceof DomainError) throw error;
    return {
      readings: error instanceof BackendError ? error.readings : new Map(),
      fault: error.message,
      isThrottled: error instanceof BackendError && error.fault === 'throttled',
      refreshMs: null,
    };
  }
}

interface Sorted {
  changed: { row: FetchedRow; sealed: string }[];
  same: FetchedRow[];
  /** Only those whose error is another than before. */
  failed: { row: FetchedRow; error: string }[];
}

function sort(
  keyring: Keyring,
  rows: readonly FetchedRow[],
  readings: ReadonlyMap<string, Reading>,
  fault: string | null,
): Sorted {
  const sorted: Sorted = { changed: [], same: [], failed: [] };
  for (const row of rows) {
    const reading = readings.get(row.name) ?? { error: fault ?? 'the store says nothing of it' };
    if ('error' in reading) {
      if (reading.error !== row.error) sorted.failed.push({ row, error: reading.error });
    } else if (opened(keyring, row) === reading.value) sorted.same.push(row);
    else sorted.changed.push({ row, sealed: keyring.seal(reading.value, sealingContext('secrets', row.id)) });
  }
  return sorted;
}

/** Null for what cannot be opened: any value that is fetched is better than that. */
function opened(keyring: Keyring, row: FetchedRow): string | null {
  try {
    return keyring.open(row.sealed, sealingContext('secrets', row.id));
  } catch {
    return null;
  }
}

async function tell(
  ctx: Context,
  scope: { environmentId: string; teamId: string },
  state: BackendState,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  const { environmentId } = scope;
  await bumpConfigRevision(ctx.db, environmentId);
  await ctx.services.bus.publish(ctx.db, { type: 'config', environmentId, reason: 'secrets fetched' });
  await writeAudit(
    ctx,
    scope,
    [
      {
        entityType: 'Environment',
        entityId: environmentId,
        metadata: { backend: state.kind, names: names.slice(0, 100), count: names.length },
      },
    ],
    'secret.fetched',
  );
}
