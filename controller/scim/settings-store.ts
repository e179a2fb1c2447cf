/** Whether an identity provider may keep users and groups here, and its token. */
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
