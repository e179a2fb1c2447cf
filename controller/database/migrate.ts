/** Migrations: small, forward only, unchanged once merged. Run at every start, by one replica at a time. */
import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { migrateJobs } from '../platform/jobs.ts';
import { connect } from './connect.ts';
import * as foundation from './migrations/0001-foundation.ts';
import * as kinds from './migrations/0002-alert-rules-and-node-groups.ts';
import * as logs from './migrations/0003-logs.ts';
import * as accounts from './migrations/0004-service-accounts.ts';
import * as editing from './migrations/0005-editing.ts';
import * as fleet from './migrations/0006-fleet.ts';
import * as gitops from './migrations/0007-gitops.ts';
import * as promotions from './migrations/0008-promotions.ts';
import * as people from './migrations/0009-people.ts';

interface Migration {
  name: string;
  up(db: Knex): Promise<void>;
}

const MIGRATIONS: readonly Migration[] = [
  foundation,
  kinds,
  logs,
  accounts,
  editing,
  fleet,
  gitops,
  promotions,
  people,
];

/** Changes when a migration is added: names a migrated template database in tests. */
export const migrationsHash = createHash('sha256')
  .update(MIGRATIONS.map((migration) => `${migration.name}\n${migration.up.toString()}`).join('\n'))
  .digest('hex')
  .slice(0, 12);

const LOCK = 7_236_001;

/** Brings the database at `url` up to date. Answers the names of the migrations that it ran. */
export async function migrate(url: string): Promise<string[]> {
  const db = connect(url, { poolSize: 1, name: 'headgate-migrate' });
  try {
    return await db.transaction(async (tx) => {
      await tx.raw('SELECT pg_advisory_xact_lock(?)', [LOCK]);
      await tx.raw(
        'CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, ran_at timestamptz NOT NULL DEFAULT now())',
      );
      const done = new Set(
        (await tx('schema_migrations').select('name')).map((row: { name: string }) => row.name),
      );
      const ran: string[] = [];
      for (const migration of MIGRATIONS) {
        if (done.has(migration.name)) continue;
        await migration.up(tx);
        await tx('schema_migrations').insert({ name: migration.name });
        ran.push(migration.name);
      }
      return ran;
    });
  } finally {
    await db.destroy();
  }
}

/** Migrates, and the job queue's own schema too where anything is new. Answers the names of the migrations that it ran. */
export async function migrateAll(url: string): Promise<string[]> {
  const ran = await migrate(url);
  const db = connect(url, { poolSize: 1, name: 'headgate-migrate' });
  const { rows } = await db.raw("SELECT to_regnamespace('graphile_worker') IS NOT NULL AS there");
  await db.destroy();
  if (ran.length > 0 || !rows[0].there) await migrateJobs(url);
  return ran;
}
