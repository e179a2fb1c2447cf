/** Every column that holds sealed texts: what a rotation of keys goes over. Each of these tables has a text `id`. */
export const SEALED_COLUMNS = [
  { table: 'secrets', column: 'sealed_value' },
  { table: 'environments', column: 'sealed_secret_backend_config' },
  { table: 'certificates', column: 'sealed_data' },
  { table: 'git_bindings', column: 'sealed_credentials' },
  { table: 'git_bindings', column: 'sealed_forge_token' },
  { table: 'git_bindings', column: 'sealed_webhook_secret' },
  { table: 'users', column: 'sealed_totp_secret' },
  { table: 'sessions', column: 'sealed_id_token' },
  { table: 'user_identities', column: 'sealed_refresh_token' },
  { table: 'oidc_settings', column: 'sealed_client_secret' },
  { table: 'scim_settings', column: 'sealed_token' },
  { table: 'audit_keys', column: 'sealed_key' },
  { table: 'webhook_endpoints', column: 'sealed_url' },
  { table: 'webhook_endpoints', column: 'sealed_secret' },
  { table: 'webhook_endpoints', column: 'sealed_previous_secret' },
  { table: 'webhook_endpoints', column: 'sealed_headers' },
  { table: 'event_streams', column: 'sealed_headers' },
  { table: 'event_streams', column: 'sealed_signing_secret' },
  { table: 'config_migrations', column: 'sealed_original' },
  { table: 'ai_providers', column: 'sealed_api_key' },
  { table: 'backup_settings', column: 'sealed_secret_access_key' },
] as const;

export type SealedTable = (typeof SEALED_COLUMNS)[number]['table'];
export interface SealedColumn {
  table: SealedTable;
  column: string;
}

/** Those of a table that has several, but for its first: a text of one opens in no other. */
const BOUND_TO_COLUMN: ReadonlySet<string> = new Set([
  ...['sealed_forge_token', 'sealed_webhook_secret', 'sealed_signing_secret'],
  ...['sealed_secret', 'sealed_previous_secret', 'sealed_headers'],
]);

/** Where a sealed text is stored: bound into its encryption, so that it opens nowhere else. */
export const sealingContext = (table: SealedTable, id: string, column?: SealedColumn['column']): string =>
  column !== undefined && BOUND_TO_COLUMN.has(column) ? `${table}.${column}:${id}` : `${table}:${id}`;
