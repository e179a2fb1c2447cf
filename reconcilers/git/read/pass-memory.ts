/**
 * What the reconciler remembers of one binding between passes, so that a commit which changes one file of ten thousand reads
 * one row and not ten thousand. The memory holds while this process leads. It is dropped once anybody else changes the rows
 * that it was read from: database triggers note such changes (migration 0002).
 */
import {
  type Binding,
  type InventoryRecord,
  isUnrecordedRename,
  readInventory,
  readStoredOperatorInput,
  recordRenames,
} from '../../../controller/delivery/bindings/index.ts';
import {
  deleteObjectChanges,
  hasObjectChanges,
  listOwnedByUi,
  writeAsReconciler,
} from '../../../controller/delivery/ownership/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { configVariables } from '../../../controller/secrets/certificates/index.ts';
import type { Desired } from '../../source/index.ts';
import { identityOf } from './identity.ts';
import { type OperatorInput, operatorInputOf, type UiObject } from './overrides.ts';

export interface Remembered {
  inventory: Map<string, InventoryRecord>;
  secrets: ReadonlySet<string>;
  operatorInput: OperatorInput;
  /** Live objects that the UI owns. */
  ui: readonly UiObject[];
}

export interface PassMemory {
  /** The current state of the database. */
  read(ctx: Pick<Context, 'db' | 'fence'>, binding: Binding): Promise<Remembered>;
  /** The desired state after which nothing was left to do; null once anything has changed in the database since. */
  settled: Desired | null;
  /** The heads of the branches of open proposals at the last reading, as one text. */
  proposals: string;
  /** Notes what the pass has written. */
  recorded(writes: readonly InventoryRecord[], removals: readonly { kind: string; nameKey: string }[]): void;
  /** To be called when a pass ends early: it is unknown how much of it was written. */
  forget(): void;
}

export function createPassMemory(): PassMemory {
  let remembered: Remembered | null = null;
  let readUnder = '';
  const memory: PassMemory = {
    settled: null,
    proposals: '',
    async read(ctx, binding) {
      const changed = await takeObjectChanges(ctx, binding.environmentId);
      const now = planningKey(binding);
      if (remembered && !changed && now === readUnder) return remembered;
      readUnder = now;
      memory.forget();
      const read = await readAll(ctx, binding);
      remembered = read;
      return read;
    },
    recorded(writes, removals) {
      for (const removal of removals) remembered?.inventory.delete(identityOf(removal));
      for (const write of writes) remembered?.inventory.set(identityOf(write), write);
      if (!remembered || remembered.ui.length === 0) return;
      const taken = new Set(writes.map(({ objectId }) => objectId));
      remembered = { ...remembered, ui: remembered.ui.filter(({ id }) => !taken.has(id)) };
    },
    forget() {
      remembered = null;
      memory.settled = null;
    },
  };
  return memory;
}

/** The parts of a binding that plans depend on: what was settled under other values is not settled. */
const planningKey = ({
  id,
  mode,
  ref,
  path,
  sharedPaths,
  policy,
  manifestPolicy,
  begunAt,
}: Binding): string => JSON.stringify([id, mode, ref, path, sharedPaths, policy, manifestPolicy, begunAt]);

/**
 * Deletes the notes about changes by others; returns whether there were any. The deletion is fenced: notes that a controller
 * takes after it has lost the lead would be missed by the new leader.
 */
async function takeObjectChanges(
  { db, fence }: Pick<Context, 'db' | 'fence'>,
  environmentId: string,
): Promise<boolean> {
  if (!(await hasObjectChanges(db, environmentId))) return false;
  await db.transaction(async (tx) => {
    await fence?.(tx);
    await deleteObjectChanges(tx, environmentId);
  });
  return true;
}

/** The notes of changes were deleted before this reads, so nothing that it reads is older than they are. */
async function readAll(ctx: Pick<Context, 'db' | 'fence'>, binding: Binding): Promise<Remembered> {
  const { db } = ctx;
  const records = await readInventory(db, binding.id);
  const behind = records.filter(isUnrecordedRename);
  if (behind.length === 0) return withRecords(db, binding, records);
  await db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await writeAsReconciler(tx);
    await recordRenames(tx, binding.id, behind);
  });
  return readWithoutNotes(db, binding);
}

/** The same without side effects, for plans that are only computed: it writes nothing and deletes no notes. */
export const readWithoutNotes = async (db: Context['db'], binding: Binding): Promise<Remembered> =>
  withRecords(db, binding, await readInventory(db, binding.id));

const withRecords = async (
  db: Context['db'],
  binding: Binding,
  records: readonly InventoryRecord[],
): Promise<Remembered> => ({
  inventory: new Map(records.map((record) => [identityOf(record), record])),
  secrets: await configVariables(db, binding.environmentId),
  operatorInput: operatorInputOf(await readStoredOperatorInput(db, binding.id)),
  ui: await listOwnedByUi(db, binding.environmentId),
});
