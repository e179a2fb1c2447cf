/** The form of a provider: texts as they are typed, and what is sent of them. */
import {
  AI_LIMITS,
  type AiProvider,
  type AiProviderKind,
  type UpdateAiProvider,
} from '../../../../../schemas/api/pipelines/assistant.ts';
import { wholeNumber } from '../server/whole-number.ts';

export interface ProviderDraft {
  kind: AiProviderKind;
  baseUrl: string;
  model: string;
  apiKey: string;
  requestsPerUserPerHour: string;
  tokensPerDay: string;
  tokensPerMonth: string;
  timeoutSeconds: string;
}

export const LIMIT_NAMES = [
  'requestsPerUserPerHour',
  'tokensPerDay',
  'tokensPerMonth',
  'timeoutSeconds',
] as const;

export function draftOf(provider: AiProvider | null): ProviderDraft {
  const limits = Object.fromEntries(
    LIMIT_NAMES.map((name) => [name, String(provider?.[name] ?? AI_LIMITS[name].default)]),
  ) as Record<(typeof LIMIT_NAMES)[number], string>;
  return {
    kind: provider?.kind ?? 'openai',
    baseUrl: provider?.baseUrl ?? '',
    model: provider?.model ?? '',
    apiKey: '',
    ...limits,
  };
}

/** Null where a number is wrong or the model is missing. An empty key keeps the one that is stored. */
export function inputOf(teamId: string, draft: ProviderDraft): UpdateAiProvider | null {
  const limits: Partial<Record<(typeof LIMIT_NAMES)[number], number>> = {};
  for (const name of LIMIT_NAMES) {
    const value = wholeNumber(draft[name], AI_LIMITS[name]);
    if (value === null) return null;
    limits[name] = value;
  }
  const model = draft.model.trim();
  if (model === '') return null;
  const key = draft.apiKey.trim();
  return {
    ...{ teamId, kind: draft.kind, model, baseUrl: draft.baseUrl.trim() || null },
    ...(key === '' ? {} : { apiKey: key }),
    ...limits,
  };
}
