/** The identity provider that people sign in at, and who they are to it. */
import type { Knex } from 'knex';
import type { TOKEN_ENDPOINT_AUTH_METHODS } from '../../schemas/api/settings.ts';

export interface OidcSettings {
  issuer: string;
  clientId: string;
  /** Null for a public client. */
  sealedClientSecret: string | null;
  displayName: string | null;
  tokenEndpointAuthMethod: (typeof TOKEN_ENDPOINT_AUTH_METHODS)[number];
}

/** Null while nobody signs in by OIDC. */
export async function readOidcSettings(db: Knex): Promise<OidcSettings | null> {
  const row: OidcSettings | undefined = await db('oidc_settings').first({
    issuer: 'issuer',
    clientId: 'client_id',
    sealedClientSecret: 'sealed_client_secret',
    displayName: 'display_name',
    tokenEndpointAuthMethod: 'token_endpoint_auth_method',
  });
  return row ?? null;
}

/** Until the transaction ends nobody else changes them, and nobody signs in by them. */
export async function lockOidcSettings(tx: Knex): Promise<OidcSettings | null> {
  await tx.raw('LOCK TABLE oidc_settings IN EXCLUSIVE MODE');
  return readOidcSettings(tx);
}

/** Until the transaction ends they stay as they are. Null where they are not those of this issuer and client any more. */
export async function holdOidcSettings(
  tx: Knex,
  { issuer, clientId }: Pick<OidcSettings, 'issuer' | 'clientId'>,
): Promise<OidcSettings | null> {
  await tx.raw('LOCK TABLE oidc_settings IN ROW SHARE MODE');
  const settings = await readOidcSettings(tx);
  return settings?.issuer === issuer && settings.clientId === clientId ? settings : null;
}

export async function writeOidcSettings(tx: Knex, settings: OidcSettings): Promise<void> {
  await tx('oidc_settings')
    .insert({
      id: 'oidc',
      issuer: settings.issuer,
      client_id: settings.clientId,
      sealed_client_secret: settings.sealedClientSecret,
      display_name: settings.displayName,
      token_endpoint_auth_method: settings.tokenEndpointAuthMethod,
      updated_at: tx.fn.now(),
    })
    .onConflict('id')
    .merge();
}

export async function deleteOidcSettings(tx: Knex): Promise<void> {
  await tx('oidc_settings').delete();
}

/** Ends the sessions of everybody who signed in at a provider. Answers whose. */
export async function deleteProviderSessions(tx: Knex): Promise<string[]> {
  const rows: { user_id: string }[] = await tx('sessions').where({ method: 'oidc' }).delete(['user_id']);
  return [...new Set(rows.map(({ user_id }) => user_id))];
}

/** Super admins who can sign in without any provider at `now` in milliseconds: a temporary password ends. */
export async function countSuperAdminsWithPassword(db: Knex, now: number): Promise<number> {
  const row = await db('users')
    .where({ is_super_admin: true, locked_at: null })
    .whereNotNull('password_hash')
    .whereRaw('(password_expires_at IS NULL OR password_expires_at > ?)', [new Date(now)])
    .count({ count: '*' })
    .first();
  return Number(row?.count ?? 0);
}

export async function readSessionOfProvider(
  db: Knex,
  sessionId: string,
): Promise<{ sealedIdToken: string | null } | null> {
  const row: { sealed_id_token: string | null } | undefined = await db('sessions')
    .where({ id: sessionId, method: 'oidc' })
    .first('sealed_id_token');
  return row ? { sealedIdToken: row.sealed_id_token } : null;
}

/** False where it was used before. What is too old to be used is forgotten. */
export async function spendAttempt(
  db: Knex,
  stateHash: Buffer,
  now: Date,
  expiresAt: Date,
): Promise<boolean> {
  await db('oidc_attempts_used').where('expires_at', '<', now).delete();
  const { rowCount } = await db.raw<{ rowCount: number }>(
    'INSERT INTO oidc_attempts_used (state_hash, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING',
    [stateHash, expiresAt],
  );
  return rowCount === 1;
}
