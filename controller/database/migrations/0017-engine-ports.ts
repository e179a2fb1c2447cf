/** Where the engine of a pipeline listens on its node: other ports than counted where those were taken. */
import type { Knex } from 'knex';

export const name = '0017-engine-ports';

export async function up(db: Knex): Promise<void> {
  await db.raw('ALTER TABLE node_pipelines ADD COLUMN metrics_port integer, ADD COLUMN api_port integer');
}
