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
