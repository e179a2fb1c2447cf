/** Who somebody is to an identity provider: its name and the subject that it knows them by. */
import type { Knex } from 'knex';
import type { User } from '../../access/index.ts';
import { listOidcProviders } from '../provider/provider-store.ts';
import { isItsOwners } from './link-decision.ts';

export interface Identity {
  issuer: string;
  subject: string;
}

export async function findUserIdOf(db: Knex, { issuer, subject }: Identity): Promise<string | null> {
  const row: { user_id: string } | undefined = await db('user_identities')
    .where({ issuer, subject })
    .first('user_id');
  return row?.user_id ?? null;
}

export async function isKnownTo(db: Knex, issuer: string, userId: string): Promise<boolean> {
  return (await db('user_identities').where({ issuer, user_id: userId }).first('user_id')) !== undefined;
}

export async function insertIdentity(db: Knex, { issuer, subject }: Identity, userId: string): Promise<void> {
  await db('user_identities').insert({ issuer, subject, user_id: userId });
}

/** Of one issuer, or all. Answers those that there were. */
export async function deleteIdentitiesOf(
  db: Knex,
  userId: string,
  issuer: string | null = null,
): Promise<Identity[]> {
  return db('user_identities')
    .where({ user_id: userId, ...(issuer === null ? {} : { issuer }) })
    .delete(['issuer', 'subject']);
}

/** Whose they were, in the order of ids. Who has a password and no other link signs in by it from then on. */
export async function deleteIdentitiesOfIssuer(tx: Knex, issuer: string): Promise<string[]> {
  const rows: { user_id: string }[] = await tx('user_identities').where({ issuer }).delete(['user_id']);
  const userIds = [...new Set(rows.map(({ user_id }) => user_id))].sort();
  await tx.raw(
    `UPDATE users u SET auth_method = 'PASSWORD', updated_at = now()
     WHERE u.id = ANY(?::text[]) AND u.password_hash IS NOT NULL AND u.auth_method = 'OIDC'
       AND NOT EXISTS (SELECT 1 FROM user_identities i WHERE i.user_id = u.id)`,
    [userIds],
  );
  return userIds;
}

export async function isLinked(db: Knex, userId: string): Promise<boolean> {
  return (await db('user_identities').where({ user_id: userId }).first('user_id')) !== undefined;
}

/** Null where there is none, or several: SCIM does not promise that it is unique. */
export async function findKeptByExternalId(db: Knex, subject: string): Promise<string | null> {
  const rows: { user_id: string }[] = await db('scim_users')
    .where({ external_id: subject, deleted_at: null })
    .limit(2)
    .select('user_id');
  return rows.length === 1 ? (rows[0]?.user_id ?? null) : null;
}

/** The account that SCIM has deleted under this id last; its lock stays on it. */
export async function findDeletedByExternalId(db: Knex, subject: string): Promise<string | null> {
  const row: { user_id: string } | undefined = await db('scim_users')
    .where({ external_id: subject })
    .whereNotNull('deleted_at')
    .orderBy('deleted_at', 'desc')
    .first('user_id');
  return row?.user_id ?? null;
}

/** Whether an identity provider keeps this account by SCIM, and has not deleted it. */
export async function isKeptByScim(db: Knex, userId: string): Promise<boolean> {
  const row = await db('scim_users').where({ user_id: userId, deleted_at: null }).first('user_id');
  return row !== undefined;
}

/** Whether somebody can sign in at one of the providers as they are set now: it knows them, or will at their first sign-in. */
export async function hasWayIn(db: Knex, user: User): Promise<boolean> {
  const providers = await listOidcProviders(db);
  for (const { issuer } of providers) if (await isKnownTo(db, issuer, user.id)) return true;
  const joins = providers.some(({ options }) => options.keepsScim);
  return joins && !isItsOwners(user) && (await isKeptByScim(db, user.id));
}
