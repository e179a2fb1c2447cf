/** Where the server of a bound repository redirects to, so that people can bind to the address that holds. */
import type { Knex } from 'knex';

export const name = '0032-redirected-repositories';

export async function up(db: Knex): Promise<void> {
  await db.raw('ALTER TABLE git_bindings ADD COLUMN redirected_to text');
}
