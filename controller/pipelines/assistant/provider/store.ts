import type { Knex } from 'knex';
import type { AiProviderKind } from '../../../../schemas/api/pipelines/assistant.ts';

export interface ProviderRecord {
  id: string;
  teamId: string;
  kind: AiProviderKind;
  /** Null for the vendor's own. */
  baseUrl: string | null;
  model: string;
  sealedApiKey: string | null;
  requestsPerUserPerHour: number;
  tokensPerDay: number;
  tokensPerMonth: number;
  timeoutSeconds: number;
  updatedAt: Date;
}

const COLUMNS = {
  id: 'id',
  teamId: 'team_id',
  kind: 'kind',
  baseUrl: 'base_url',
  model: 'model',
  sealedApiKey: 'sealed_api_key',
  requestsPerUserPerHour: 'requests_per_user_per_hour',
  tokensPerDay: 'tokens_per_day',
  tokensPerMonth: 'tokens_per_month',
  timeoutSeconds: 'timeout_seconds',
  updatedAt: 'updated_at',
} as const;

export async function findProvider(db: Knex, teamId: string): Promise<ProviderRecord | null> {
  const row = await db('ai_providers').where({ team_id: teamId }).first(COLUMNS);
  return (row as ProviderRecord | undefined) ?? null;
}

/** Locks the row until the transaction ends: requests that are counted wait for each other. */
export async function lockProvider(tx: Knex, teamId: string): Promise<ProviderRecord | null> {
  const row = await tx('ai_providers').where({ team_id: teamId }).forUpdate().first(COLUMNS);
  return (row as ProviderRecord | undefined) ?? null;
}

/** Creates or replaces the provider of the team. */
export async function saveProvider(tx: Knex, provider: ProviderRecord): Promise<void> {
  const row = {
    ...{ id: provider.id, team_id: provider.teamId, kind: provider.kind, base_url: provider.baseUrl },
    ...{ model: provider.model, sealed_api_key: provider.sealedApiKey },
    requests_per_user_per_hour: provider.requestsPerUserPerHour,
    tokens_per_day: provider.tokensPerDay,
    tokens_per_month: provider.tokensPerMonth,
    timeout_seconds: provider.timeoutSeconds,
    updated_at: provider.updatedAt,
  };
  const { id, ...changed } = row;
  await tx('ai_providers').insert(row).onConflict('team_id').merge(changed);
}

export const deleteProvider = (tx: Knex, teamId: string): Promise<number> =>
  tx('ai_providers').where({ team_id: teamId }).delete();
