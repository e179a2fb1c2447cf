/** Links of accounts to identity providers, by issuer and subject. */
import type { Knex } from 'knex';
import type { User } from '../../access/index.ts';
import { listOidcProviders } from '../provider/provider-store.ts';
import { isOwnerControlled } from './link-decision.ts';

export interface Identity {
  issuer: string;
  subject: string;
}

export async function findLinkedUserId(db: Knex, { issuer, subject }: Identity): Promise<string | null> {
  const row: { user_id: string } | undefined = await db('user_identities')
    .where({ issuer, subject })
    .first('user_id');
  return row?.user_id ?? null;
}

export async function isLinkedAt(db: Knex, issuer: string, userId: string): Promise<boolean> {
  return (await db('user_identities').where({ issuer, user_id: userId }).first('user_id')) !== undefined;
}

export async function insertIdentity(db: Knex, { issuer, subject }: Identity, userId: string): Promise<void> {
  await db('user_identities').insert({ issuer, subject, user_id: userId });
}

/** Deletes the user's links at one issuer, or all. Returns the deleted links. */
export async function deleteIdentities(
  db: Knex,
  userId: string,
  issuer: string | null = null,
): Promise<Identity[]> {
  return db('user_identities')
    .where({ user_id: userId, ...(issuer === null ? {} : { issuer }) })
    .delete(['issuer', 'subject']);
}

/** Deletes all links of an issuer. A user with a password and no other link signs in by password from then on. Returns the user ids, sorted. */
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

/** Null where no account or several accounts match: SCIM does not guarantee a unique `externalId`. */
export async function findScimUserId(db: Knex, subject: string): Promise<string | null> {
  const rows: { user_id: string }[] = await db('scim_users')
    .where({ external_id: subject, deleted_at: null })
    .limit(2)
    .select('user_id');
  return rows.length === 1 ? (rows[0]?.user_id ?? null) : null;
}

/** The account with this `externalId` that SCIM deleted last; it stays locked. */
export async function findDeletedScimUserId(db: Knex, subject: string): Promise<string | null> {
  const row: { user_id: string } | undefined = await db('scim_users')
    .where({ external_id: subject })
    .whereNotNull('deleted_at')
    .orderBy('deleted_at', 'desc')
    .first('user_id');
  return row?.user_id ?? null;
}

/** Whether SCIM manages this account and has not deleted it. */
export async function isManagedByScim(db: Knex, userId: string): Promise<boolean> {
  const row = await db('scim_users').where({ user_id: userId, deleted_at: null }).first('user_id');
  return row !== undefined;
}

/** Whether the user can sign in at one of the configured providers: by a link, or by one that the first sign-in creates. */
export async function canSignInByProvider(db: Knex, user: User): Promise<boolean> {
  const providers = await listOidcProviders(db);
  for (const { issuer } of providers) if (await isLinkedAt(db, issuer, user.id)) return true;
  const managesScim = providers.some(({ options }) => options.keepsScim);
  return managesScim && !isOwnerControlled(user) && (await isManagedByScim(db, user.id));
}
