/**
 * A change of the epoch counts as one of a key by this index, and a renewal does not: FOR KEY SHARE on the row of a lease
 * keeps others from taking it, and its holder goes on to renew it.
 */
import type { Knex } from 'knex';

export const name = '0019-lease-epoch-key';

export async function up(db: Knex): Promise<void> {
  await db.raw('ALTER TABLE leases ADD CONSTRAINT leases_key_epoch UNIQUE (key, epoch)');
}
