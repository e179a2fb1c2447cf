/**
 * What a reconciler remembers of one binding between passes, so that a commit which changes one file of ten thousand reads
 * one row and not ten thousand. It holds while this process leads, and is dropped as soon as anybody else changes what it
 * was read from: triggers leave a note of that (migration 0002).
 */

import {
  type Binding,
  followNames,
  type InventoryRecord,
  isLeftBehind,
  readInventory,
  readStoredOperatorInput,
} from '../../../controller/delivery/bindings/index.ts';
import {
  listOwnedByUi,
  takeObjectChanges,
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
  said: OperatorInput;
  /** Living objects that the UI owns. */
  ui: readonly UiObject[];
}

export interface PassMemory {
  /** What the database holds, as it is now. */
  read(ctx: Pick<Context, 'db' | 'fence'>, binding: Binding): Promise<Remembered>;
  /** The desired state after which nothing was left to do; null once anything has changed in the database since. */
  settled: Desired | null;
  /** Where the branches of open proposals stood when somebody looked last. */
  proposals: string;
  /** What the pass has written. */
  recorded(writes: readonly InventoryRecord[], removals: readonly { kind: string; nameKey: string }[]): void;
  /** To be called when a pass did not come to its end: nobody knows what of it was written. */
  forget(): void;
}

export function createPassMemory(): PassMemory {
  let remembered: Remembered | null = null;
  let of = '';
  const memory: PassMemory = {
    settled: null,
    proposals: '',
    async read(ctx, binding) {
      const changed = await takeObjectChanges(ctx.db, binding.environmentId);
      const now = tieOf(binding);
      if (remembered && !changed && now === of) return remembered;
      of = now;
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

/** What of the binding decides about plans: what was settled under another is not settled. */
const tieOf = ({ id, mode, ref, path, sharedPaths, policy, manifestPolicy, begunAt }: Binding): string =>
  JSON.stringify([id, mode, ref, path, sharedPaths, policy, manifestPolicy, begunAt]);

/** One after the other: the notes were taken away before, so what is read is never older than they are. */
async function readAll(ctx: Pick<Context, 'db' | 'fence'>, binding: Binding): Promise<Remembered> {
  const { db } = ctx;
  const records = await readInventory(db, binding.id);
  const behind = records.filter(isLeftBehind);
  if (behind.length === 0) return withTheRest(db, binding, records);
  await db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await writeAsReconciler(tx);
    await followNames(tx, binding.id, behind);
  });
  return readAsItIs(db, binding);
}

/** The same for somebody who only looks: it writes nothing, and takes no notes away. */
export const readAsItIs = async (db: Context['db'], binding: Binding): Promise<Remembered> =>
  withTheRest(db, binding, await readInventory(db, binding.id));

const withTheRest = async (
  db: Context['db'],
  binding: Binding,
  records: readonly InventoryRecord[],
): Promise<Remembered> => ({
  inventory: new Map(records.map((record) => [identityOf(record), record])),
  secrets: await configVariables(db, binding.environmentId),
  said: operatorInputOf(await readStoredOperatorInput(db, binding.id)),
  ui: await listOwnedByUi(db, binding.environmentId),
});
