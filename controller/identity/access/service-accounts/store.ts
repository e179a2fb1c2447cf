/** Service accounts of environments. Keys are stored as hashes only. */
import type { Knex } from 'knex';
import type { Permission, ServiceAccount } from '../../../../schemas/api/identity/service-accounts.ts';
import { brokeUnique } from '../../../database/errors.ts';
import { conflict, notFound } from '../../../platform/operation/errors.ts';

const COLUMNS = `
  a.id, a.environment_id AS "environmentId", a.name, a.description, a.permissions,
  a.created_by_id AS "createdById", u.name AS "createdByName", a.created_at AS "createdAt",
  a.expires_at AS "expiresAt", a.revoked_at AS "revokedAt", a.last_used_at AS "lastUsedAt"`;
const FROM = 'FROM service_accounts a LEFT JOIN users u ON u.id = a.created_by_id';

/** Active accounts first. */
export async function listServiceAccounts(db: Knex, environmentId: string): Promise<ServiceAccount[]> {
  const { rows } = await db.raw<{ rows: ServiceAccount[] }>(
    `SELECT ${COLUMNS} ${FROM} WHERE a.environment_id = ?
     ORDER BY a.revoked_at IS NOT NULL, lower(a.name), a.created_at`,
    [environmentId],
  );
  return rows;
}

export async function findServiceAccount(db: Knex, id: string): Promise<ServiceAccount | null> {
  const { rows } = await db.raw<{ rows: ServiceAccount[] }>(`SELECT ${COLUMNS} ${FROM} WHERE a.id = ?`, [id]);
  return rows[0] ?? null;
}

/**
 * Counts revoked accounts too, and lets no other transaction create one until this one ends.
 *
 * @throws NOT_FOUND where the environment is gone
 */
export async function countServiceAccountsLocked(tx: Knex, environmentId: string): Promise<number> {
  const environment = await tx('environments').where({ id: environmentId }).forNoKeyUpdate().first('id');
  if (!environment) throw notFound('Environment');
  const row = await tx('service_accounts')
    .where({ environment_id: environmentId })
    .count({ count: '*' })
    .first();
  return Number(row?.count ?? 0);
}

export async function insertServiceAccount(
  db: Knex,
  account: {
    id: string;
    environmentId: string;
    name: string;
    description: string | null;
    keyHash: Buffer;
    permissions: readonly Permission[];
    createdById: string | null;
    createdAt: Date;
    expiresAt: Date | null;
  },
): Promise<void> {
  try {
    await db('service_accounts').insert({
      id: account.id,
      environment_id: account.environmentId,
      name: account.name,
      description: account.description,
      key_hash: account.keyHash,
      permissions: JSON.stringify(account.permissions),
      created_by_id: account.createdById,
      created_at: account.createdAt,
      expires_at: account.expiresAt,
    });
  } catch (error) {
    if (brokeUnique(error, 'service_accounts_name_unique')) {
      throw conflict(
        `A service account named "${account.name}" exists already in this environment; revoke it first, or choose another name`,
      );
    }
    throw error;
  }
}

/** A second revocation keeps the time of the first. */
export async function revokeServiceAccount(db: Knex, id: string, at: Date): Promise<void> {
  await db('service_accounts').where({ id, revoked_at: null }).update({ revoked_at: at });
}

export async function deleteServiceAccount(db: Knex, id: string): Promise<boolean> {
  return (await db('service_accounts').where({ id }).delete()) > 0;
}

export interface KeyOwner {
  id: string;
  name: string;
  environmentId: string;
  teamId: string;
  keyHash: Buffer;
  permissions: Permission[];
  lastUsedAt: Date | null;
}

/** The account of a key that is neither revoked nor, at `now`, expired. */
export async function findKeyOwner(db: Knex, id: string, now: Date): Promise<KeyOwner | null> {
  const { rows } = await db.raw<{ rows: KeyOwner[] }>(
    `SELECT a.id, a.name, a.environment_id AS "environmentId", e.team_id AS "teamId", a.key_hash AS "keyHash",
       a.permissions, a.last_used_at AS "lastUsedAt"
     FROM service_accounts a JOIN environments e ON e.id = a.environment_id
     WHERE a.id = ? AND a.revoked_at IS NULL AND (a.expires_at IS NULL OR a.expires_at > ?)`,
    [id, now],
  );
  return rows[0] ?? null;
}

/** Writes only where the last use was before `before`, so that concurrent requests make one write. */
export async function recordServiceAccountUse(
  db: Knex,
  id: string,
  use: { now: Date; before: Date },
): Promise<void> {
  await db('service_accounts')
    .where({ id })
    .where((q) => q.whereNull('last_used_at').orWhere('last_used_at', '<=', use.before))
    .update({ last_used_at: use.now });
}
