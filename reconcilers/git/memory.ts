/**
 * What a reconciler remembers of one binding between passes, so that a commit which changes one file of ten thousand reads
 * one row and not ten thousand. It holds while this process leads, and is dropped as soon as anybody else changes what it
 * was read from: triggers leave a note of that (migration 0002).
 */

import { configVariables } from '../../controller/certificates/index.ts';
import {
  type Binding,
  followNames,
  type InventoryRecord,
  isLeftBehind,
  readInventory,
} from '../../controller/git-sync/index.ts';
import { takeObjectChanges, writeAsReconciler } from '../../controller/ownership/index.ts';
import type { Context } from '../../controller/platform/context.ts';
import type { Desired } from '../source/index.ts';
import { identityOf } from './identity.ts';

export interface Remembered {
  inventory: Map<string, InventoryRecord>;
  secrets: ReadonlySet<string>;
}

export interface PassMemory {
  /** What the database holds, as it is now. */
  read(ctx: Pick<Context, 'db' | 'fence'>, binding: Binding): Promise<Remembered>;
  /** The desired state after which nothing was left to do; null once anything has changed in the database since. */
  settled: Desired | null;
  /** What the pass has written. */
  recorded(writes: readonly InventoryRecord[], removals: readonly { kind: string; nameKey: string }[]): void;
  /** To be called when a pass did not come to its end: nobody knows what of it was written. */
  forget(): void;
}

export function createPassMemory(): PassMemory {
  let remembered: Remembered | null = null;
  const memory: PassMemory = {
    settled: null,
    async read(ctx, binding) {
      const changed = await takeObjectChanges(ctx.db, binding.environmentId);
      if (remembered && !changed) return remembered;
      memory.forget();
      const read = await readAll(ctx, binding);
      remembered = read;
      return read;
    },
    recorded(writes, removals) {
      for (const removal of removals) remembered?.inventory.delete(identityOf(removal));
      for (const write of writes) remembered?.inventory.set(identityOf(write), write);
    },
    forget() {
      remembered = null;
      memory.settled = null;
    },
  };
  return memory;
}

/** One after the other: the notes were taken away before, so what is read is never older than they are. */
async function readAll(ctx: Pick<Context, 'db' | 'fence'>, binding: Binding): Promise<Remembered> {
  const { db } = ctx;
  let records = await readInventory(db, binding.id);
  const behind = records.filter(isLeftBehind);
  if (behind.length > 0) {
    await db.transaction(async (tx) => {
      await ctx.fence?.(tx);
      await writeAsReconciler(tx);
      await followNames(tx, binding.id, behind);
    });
    records = await readInventory(db, binding.id);
  }
  const secrets = await configVariables(db, binding.environmentId);
  return { inventory: new Map(records.map((record) => [identityOf(record), record])), secrets };
}
