/**
 * What a reconciler remembers of one binding between passes, so that a commit which changes one file of ten thousand reads
 * one row and not ten thousand. It holds while this process leads, and is dropped as soon as anybody else changes what it
 * was read from: triggers leave a note of that (migration 0002).
 */

import type { Knex } from 'knex';
import { type Binding, type InventoryRecord, readInventory } from '../../controller/git-sync/index.ts';
import { takeObjectChanges } from '../../controller/ownership/index.ts';
import { secretVariables } from '../../controller/secrets/index.ts';
import type { Desired } from '../source/index.ts';
import { identityOf } from './identity.ts';

export interface Remembered {
  inventory: Map<string, InventoryRecord>;
  secrets: ReadonlySet<string>;
}

export interface PassMemory {
  /** What the database holds, as it is now. */
  read(db: Knex, binding: Binding): Promise<Remembered>;
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
    async read(db, binding) {
      const changed = await takeObjectChanges(db, binding.environmentId);
      if (remembered && !changed) return remembered;
      memory.forget();
      const read = await readAll(db, binding);
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
async function readAll(db: Knex, binding: Binding): Promise<Remembered> {
  const records = await readInventory(db, binding.id);
  const secrets = await secretVariables(db, binding.environmentId);
  return { inventory: new Map(records.map((record) => [identityOf(record), record])), secrets };
}
