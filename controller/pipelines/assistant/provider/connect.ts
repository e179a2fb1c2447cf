/** From the stored settings of a team to a client. */
import type { AiProviderKind } from '../../../../schemas/api/pipelines/assistant.ts';
import { sealingContext } from '../../../platform/crypto/sealed-columns.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { messageOf, preconditionFailed } from '../../../platform/operation/errors.ts';
import { createAnthropicClient } from './anthropic-client.ts';
import { ANSWER_DEADLINE_MS, guardedFetch } from './guarded-fetch.ts';
import type { ModelClient } from './model-client.ts';
import { createOpenAiClient } from './openai-client.ts';
import type { ProviderRecord } from './store.ts';

export const VENDOR_URLS: Readonly<Record<AiProviderKind, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
};

export const keyPlace = (id: string): string => sealingContext('ai_providers', id);

export const addressOf = ({ kind, baseUrl }: Pick<ProviderRecord, 'kind' | 'baseUrl'>): string =>
  baseUrl ?? VENDOR_URLS[kind];

/** The key leaves this domain in requests alone. */
export function openKey(ctx: Context, { id, sealedApiKey }: ProviderRecord): string | null {
  if (sealedApiKey === null) return null;
  try {
    return ctx.services.keyring.open(sealedApiKey, keyPlace(id));
  } catch (error) {
    ctx.log.warn({ provider: id, reason: messageOf(error) }, 'the API key of an AI provider does not open');
    throw preconditionFailed(
      'The API key of the AI provider cannot be opened; an ADMIN has to enter it again',
    );
  }
}

export async function connect(
  ctx: Context,
  provider: ProviderRecord,
  { apiKey, retries }: { apiKey: string | null; retries: number },
): Promise<ModelClient> {
  const settings = {
    ...{ baseUrl: addressOf(provider), model: provider.model, apiKey, retries },
    ...{ fetch: guardedFetch(ctx.services.outgoing), deadlineMs: ANSWER_DEADLINE_MS },
  };
  return provider.kind === 'openai' ? createOpenAiClient(settings) : createAnthropicClient(settings);
}
