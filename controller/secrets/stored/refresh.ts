/**
 * Fetches an environment's secrets from its external store. Nodes always get the values in the database: a changed value is
 * written there, and a secret that cannot be fetched keeps its last good value.
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
  muteGitReconciler,
  writeFetched,
} from './fetch-store.ts';

export interface Refreshed {
  /** Names of the secrets with a new value. */
  changed: string[];
  /** How many secrets could not be fetched. */
  failed: number;
  /** Why the store as a whole failed; null where it did not. */
  fault: string | null;
  /** The store throttles our requests. */
  isThrottled: boolean;
  /** Time until the next refresh; null where the store cannot be opened. */
  refreshMs: number | null;
}

/** Null where there is nothing to fetch: the environment does not exist, or has no external store. */
export async function refreshSecrets(ctx: Context, environmentId: string): Promise<Refreshed | null> {
  const state = await readBackend(ctx.db, environmentId);
  if (!state || state.kind === 'BUILTIN') return null;
  const rows = await listFetched(ctx.db, environmentId);
  if (rows.length === 0) return { changed: [], failed: 0, fault: null, isThrottled: false, refreshMs: null };
  const { readings, fault, isThrottled, refreshMs } = await fetchReadings(ctx, environmentId, rows);
  const result = compareReadings(ctx.services.keyring, rows, readings, fault);
  const changed = await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    const now = await lockBackend(tx, environmentId);
    // The environment has another store by now, so these readings do not count.
    if (!now || !sameStore(now, state)) return [];
    await muteGitReconciler(tx);
    const written = new Set(await writeFetched(tx, result.changed));
    await markFetched(tx, result.same);
    await markFailed(tx, result.failed);
    const names = result.changed.filter(({ row }) => written.has(row.id)).map(({ row }) => row.name);
    await publishChanges({ ...ctx, db: tx }, { environmentId, teamId: now.teamId }, state, names);
    const isVisible =
      names.length > 0 || result.failed.length > 0 || result.same.some((row) => row.error !== null);
    if (isVisible) await ctx.services.bus.publish(tx, { type: 'ui', environmentId, topics: ['secrets'] });
    return names;
  });
  const failed = rows.length - result.same.length - result.changed.length;
  return { changed, failed, fault, isThrottled, refreshMs };
}

interface FetchResult {
  readings: ReadonlyMap<string, Reading>;
  fault: string | null;
  isThrottled: boolean;
  refreshMs: number | null;
}

async function fetchReadings(
  ctx: Context,
  environmentId: string,
  rows: readonly FetchedRow[],
): Promise<FetchResult> {
  try {
    const { backend, refreshMs } = await ctx.services.secretStores.open(ctx.db, environmentId);
    const readings = await backend.read(rows, ctx.signal);
    return { readings, fault: null, isThrottled: false, refreshMs };
  } catch (error) {
    const isStoreFault = error instanceof BackendError || error instanceof KeyringError;
    if (!isStoreFault || error instanceof DomainError) throw error;
    return {
      readings: error instanceof BackendError ? error.readings : new Map(),
      fault: error.message,
      isThrottled: error instanceof BackendError && error.fault === 'throttled',
      refreshMs: null,
    };
  }
}

interface Comparison {
  changed: { row: FetchedRow; sealed: string }[];
  same: FetchedRow[];
  /** Only the secrets whose error has changed. */
  failed: { row: FetchedRow; error: string }[];
}

function compareReadings(
  keyring: Keyring,
  rows: readonly FetchedRow[],
  readings: ReadonlyMap<string, Reading>,
  fault: string | null,
): Comparison {
  const result: Comparison = { changed: [], same: [], failed: [] };
  for (const row of rows) {
    const reading = readings.get(row.name) ?? { error: fault ?? 'the store does not answer for it' };
    if ('error' in reading) {
      if (reading.error !== row.error) result.failed.push({ row, error: reading.error });
    } else if (openStored(keyring, row) === reading.value) result.same.push(row);
    else result.changed.push({ row, sealed: keyring.seal(reading.value, sealingContext('secrets', row.id)) });
  }
  return result;
}

/** Null where the stored value cannot be decrypted: then any fetched value replaces it. */
function openStored(keyring: Keyring, row: FetchedRow): string | null {
  try {
    return keyring.open(row.sealed, sealingContext('secrets', row.id));
  } catch {
    return null;
  }
}

async function publishChanges(
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
