/** The assistant: the provider of a team, what it has used, conversations, and what they propose. */
import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { Id, Input, Nullable, Timestamp } from '../common.ts';

/** `openai` is any endpoint that speaks OpenAI's chat completions. */
export const AI_PROVIDER_KINDS = ['openai', 'anthropic'] as const;
export const AiProviderKind = Type.Enum([...AI_PROVIDER_KINDS]);
export type AiProviderKind = Static<typeof AiProviderKind>;

const Url = Type.String({ minLength: 1, maxLength: 2_000 });
const Printable = (maxLength: number) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: worded('^[\\x21-\\x7e]+$', 'must have letters, digits and signs of ASCII, and no blanks'),
  });

export const AI_LIMITS = {
  requestsPerUserPerHour: { default: 60, minimum: 1, maximum: 1_000 },
  tokensPerDay: { default: 500_000, minimum: 1_000, maximum: 1_000_000_000 },
  tokensPerMonth: { default: 5_000_000, minimum: 1_000, maximum: 10_000_000_000 },
  timeoutSeconds: { default: 60, minimum: 5, maximum: 300 },
} as const;
const limit = ({ minimum, maximum }: { minimum: number; maximum: number }) =>
  Type.Integer({ minimum, maximum });
const Limits = {
  /** Of one user, in any sixty minutes. */
  requestsPerUserPerHour: limit(AI_LIMITS.requestsPerUserPerHour),
  /** Of the team, by days and months of UTC: the budget. */
  tokensPerDay: limit(AI_LIMITS.tokensPerDay),
  tokensPerMonth: limit(AI_LIMITS.tokensPerMonth),
  /** How long the provider may be silent. */
  timeoutSeconds: limit(AI_LIMITS.timeoutSeconds),
};

export const OfTeam = Input({ teamId: Id });

export const AiProvider = Type.Object({
  kind: AiProviderKind,
  /** Null for the vendor's own. */
  baseUrl: Nullable(Type.String()),
  model: Type.String(),
  /** Whether there is a key; its value is never returned. */
  hasApiKey: Type.Boolean(),
  ...Limits,
  updatedAt: Timestamp,
});
export type AiProvider = Static<typeof AiProvider>;
/** Null where the team has none. */
export const AiProviderState = Type.Object({ provider: Nullable(AiProvider) });

export const UpdateAiProvider = Input({
  teamId: Id,
  kind: AiProviderKind,
  baseUrl: Type.Optional(Nullable(Url)),
  model: Printable(200),
  /** Absent keeps the key, null removes it. A key goes to the address alone for which it was given. */
  apiKey: Type.Optional(Nullable(Printable(1_000))),
  requestsPerUserPerHour: Type.Optional(Limits.requestsPerUserPerHour),
  tokensPerDay: Type.Optional(Limits.tokensPerDay),
  tokensPerMonth: Type.Optional(Limits.tokensPerMonth),
  timeoutSeconds: Type.Optional(Limits.timeoutSeconds),
});
export type UpdateAiProvider = Static<typeof UpdateAiProvider>;

export const AiProviderTest = Type.Object({
  ok: Type.Boolean(),
  /** A sentence. */
  message: Type.String(),
  milliseconds: Type.Integer(),
});
export type AiProviderTest = Static<typeof AiProviderTest>;

export const GetAiUsage = Input({
  teamId: Id,
  /** Days of UTC, with today. */
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 31, default: 31 })),
});

const Budget = Type.Object({
  used: Type.Integer(),
  /** Null where the team has no provider. */
  limit: Nullable(Type.Integer()),
  /** When all of it is free again. */
  resetsAt: Timestamp,
});

export const AiUsage = Type.Object({
  /** Tokens of the team, with those that are reserved for answers under way. */
  day: Budget,
  month: Budget,
  /** Requests of the caller in the last sixty minutes. */
  requests: Type.Object({ used: Type.Integer(), limit: Nullable(Type.Integer()) }),
  /** By day and user, the newest day first. */
  entries: Type.Array(
    Type.Object({
      /** `2026-01-31`, of UTC. */
      day: Type.String(),
      /** Null for a user who was deleted. */
      userId: Nullable(Type.String()),
      userName: Nullable(Type.String()),
      requests: Type.Integer(),
      inputTokens: Type.Integer(),
      outputTokens: Type.Integer(),
    }),
  ),
});
export type AiUsage = Static<typeof AiUsage>;
