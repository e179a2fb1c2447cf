/** Configured identity providers, the reports of their sign-ins, and used sign-in attempts. */
import type { Knex } from 'knex';
import type { OidcView, ProviderOptions } from '../../../../schemas/api/identity/identity-providers.ts';
import { optionsOf } from './provider-options.ts';

export interface OidcProvider extends Pick<OidcView, 'id' | 'issuer' | 'clientId' | 'displayName'> {
  tokenEndpointAuthMethod: OidcView['tokenEndpointAuthMethod'];
  /** The client secret or private key; null for a public client. */
  sealedClientSecret: string | null;
  options: ProviderOptions;
  isFromFile: boolean;
}

const COLUMNS = {
  id: 'id',
  issuer: 'issuer',
  clientId: 'client_id',
  sealedClientSecret: 'sealed_client_secret',
  displayName: 'display_name',
  tokenEndpointAuthMethod: 'token_endpoint_auth_method',
  options: 'options',
  isFromFile: 'is_from_file',
};
type Row = Omit<OidcProvider, 'options'> & { options: Partial<ProviderOptions> };
const toProvider = (row: Row): OidcProvider => ({ ...row, options: optionsOf(row.id, row.options) });

/** In the order of the sign-in page. */
export async function listOidcProviders(db: Knex): Promise<OidcProvider[]> {
  const rows: Row[] = await db('oidc_settings').orderBy(['position', 'id']).select(COLUMNS);
  return rows.map(toProvider);
}

/** Without an id, the first provider of the sign-in page. */
export async function findOidcProvider(db: Knex, id: string | null): Promise<OidcProvider | null> {
  const row: Row | undefined = await db('oidc_settings')
    .where(id === null ? {} : { id })
    .orderBy(['position', 'id'])
    .first(COLUMNS);
  return row ? toProvider(row) : null;
}

/** Blocks changes of providers, and sign-ins, until the transaction ends. */
export async function lockOidcProviders(tx: Knex): Promise<OidcProvider[]> {
  await tx.raw('LOCK TABLE oidc_settings IN EXCLUSIVE MODE');
  return listOidcProviders(tx);
}

/** Locks the provider against changes until the transaction ends. Null where it no longer has this issuer and client. */
export async function lockOidcProviderShared(
  tx: Knex,
  { id, issuer, clientId }: Pick<OidcProvider, 'id' | 'issuer' | 'clientId'>,
): Promise<OidcProvider | null> {
  await tx.raw('LOCK TABLE oidc_settings IN ROW SHARE MODE');
  const provider = await findOidcProvider(tx, id);
  return provider?.issuer === issuer && provider.clientId === clientId ? provider : null;
}

export async function writeOidcProvider(
  tx: Knex,
  provider: OidcProvider,
  position: number | null = null,
): Promise<void> {
  await tx('oidc_settings')
    .insert({
      id: provider.id,
      issuer: provider.issuer,
      client_id: provider.clientId,
      sealed_client_secret: provider.sealedClientSecret,
      display_name: provider.displayName,
      token_endpoint_auth_method: provider.tokenEndpointAuthMethod,
      options: JSON.stringify(provider.options),
      is_from_file: provider.isFromFile,
      ...(position === null ? {} : { position }),
      updated_at: tx.fn.now(),
    })
    .onConflict('id')
    .merge();
}

/** Makes the providers of a removed file editable. */
export async function releaseFromFile(tx: Knex): Promise<void> {
  await tx('oidc_settings').where({ is_from_file: true }).update({ is_from_file: false });
}

export async function deleteOidcProvider(tx: Knex, id: string): Promise<void> {
  await tx('oidc_settings').where({ id }).delete();
}

/** Ends all sessions that began at this issuer, and those without a stored issuer. Returns the user ids. */
export async function deleteProviderSessions(tx: Knex, issuer: string): Promise<string[]> {
  const { rows } = await tx.raw<{ rows: { user_id: string }[] }>(
    `DELETE FROM sessions WHERE method = 'oidc' AND COALESCE(provider_issuer, :issuer) = :issuer RETURNING user_id`,
    { issuer },
  );
  return [...new Set(rows.map(({ user_id }) => user_id))];
}

export type ReportKind = 'failure' | 'warning';
export type Reports = Map<string, Partial<Record<ReportKind, { at: Date; message: string }>>>;

const REPORT_LENGTH = 1_000;

/** Replaces the previous report. Nothing is written for a provider that is deleted meanwhile. */
export async function writeReport(
  db: Knex,
  report: { providerId: string; kind: ReportKind; at: Date; message: string },
): Promise<void> {
  await db.raw(
    `INSERT INTO oidc_reports (provider_id, kind, message, at)
     SELECT o.id, :kind, :message, :at FROM oidc_settings o WHERE o.id = :providerId
     ON CONFLICT (provider_id, kind) DO UPDATE SET message = excluded.message, at = excluded.at`,
    { ...report, message: report.message.slice(0, REPORT_LENGTH) },
  );
}

export async function clearReport(db: Knex, providerId: string, kind: ReportKind): Promise<void> {
  await db('oidc_reports').where({ provider_id: providerId, kind }).delete();
}

/** Reports by provider id. */
export async function readReports(db: Knex): Promise<Reports> {
  const rows: { provider_id: string; kind: ReportKind; message: string; at: Date }[] =
    await db('oidc_reports').select();
  const reports: Reports = new Map();
  for (const { provider_id, kind, message, at } of rows)
    reports.set(provider_id, { ...reports.get(provider_id), [kind]: { at, message } });
  return reports;
}

export interface StoredProviderSession {
  sealedIdToken: string | null;
  /** Null for a session that is older than this column. */
  issuer: string | null;
}

export async function readStoredProviderSession(
  db: Knex,
  sessionId: string,
): Promise<StoredProviderSession | null> {
  const row: StoredProviderSession | undefined = await db('sessions')
    .where({ id: sessionId, method: 'oidc' })
    .first({ sealedIdToken: 'sealed_id_token', issuer: 'provider_issuer' });
  return row ?? null;
}

/** Consumes a single-use value; false where it was used before. It also deletes expired values. */
export async function consumeAttempt(
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
