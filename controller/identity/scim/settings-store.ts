/** Whether SCIM is on, and its token. */
import type { Knex } from 'knex';

export interface ScimSettings {
  enabled: boolean;
  sealedToken: string | null;
  tokenCreatedAt: Date | null;
  lastUsedAt: Date | null;
}

const OFF: ScimSettings = { enabled: false, sealedToken: null, tokenCreatedAt: null, lastUsedAt: null };

export async function readScimSettings(db: Knex): Promise<ScimSettings> {
  const row: ScimSettings | undefined = await db('scim_settings').first({
    enabled: 'enabled',
    sealedToken: 'sealed_token',
    tokenCreatedAt: 'token_created_at',
    lastUsedAt: 'last_used_at',
  });
  return row ?? OFF;
}

/** Locks the settings until the transaction ends. */
export async function lockScimSettings(tx: Knex): Promise<void> {
  await tx('scim_settings').insert({ id: 'scim' }).onConflict('id').ignore();
  await tx('scim_settings').where({ id: 'scim' }).forUpdate().first('id');
}

/** Turning SCIM off deletes the token. */
export async function writeScimEnabled(tx: Knex, enabled: boolean): Promise<void> {
  await tx('scim_settings')
    .where({ id: 'scim' })
    .update({
      enabled,
      ...(enabled ? {} : { sealed_token: null, token_created_at: null, last_used_at: null }),
    });
}

export async function writeScimToken(
  tx: Knex,
  token: { sealedToken: string; createdAt: Date },
): Promise<void> {
  await tx('scim_settings')
    .where({ id: 'scim' })
    .update({ sealed_token: token.sealedToken, token_created_at: token.createdAt, last_used_at: null });
}

export async function recordScimUse(db: Knex, at: { now: Date; before: Date }): Promise<void> {
  await db('scim_settings')
    .whereNotNull('sealed_token')
    .where((unused) => unused.whereNull('last_used_at').orWhere('last_used_at', '<=', at.before))
    .update({ last_used_at: at.now });
}
