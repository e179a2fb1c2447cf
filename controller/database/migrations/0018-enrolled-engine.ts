/** What an agent said of its engine when it enrolled: shown until a heartbeat says more. */
import type { Knex } from 'knex';

export const name = '0018-enrolled-engine';

export async function up(db: Knex): Promise<void> {
  await db.raw('ALTER TABLE nodes ADD COLUMN enrolled_engine_version text');
}
