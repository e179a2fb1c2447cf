/** Counts requests against the limits of a user and the budget of a team, before they are sent. */
import type { Context } from '../../../platform/operation/context.ts';
import { DomainError, preconditionFailed } from '../../../platform/operation/errors.ts';
import { newId } from '../../../platform/operation/ids.ts';
import { lockProvider, type ProviderRecord } from '../provider/store.ts';
import { dayOf, monthOf } from './periods.ts';
import { countRequests, finishRequest, insertRequest, sumTokens } from './store.ts';

export const HOUR_MS = 3_600_000;
/** An answer that may be no longer than this is not worth its question. */
const LEAST_TOKENS = 256;

export interface Reservation {
  requestId: string;
  /** What the answer may take at most. */
  maxTokens: number;
  /** Once, with what was really used. */
  finish(used: { inputTokens: number; outputTokens: number }): Promise<void>;
}

export const noProvider = (): DomainError =>
  preconditionFailed(
    'This team has no AI provider; an ADMIN sets one up in the settings of the team (ai.updateProvider)',
    { reason: 'no-ai-provider' },
  );

const userOf = ({ actor }: Context): string | null => (actor.type === 'user' ? actor.userId : null);

const numberText = (value: number) => value.toLocaleString('en-US');
const timeText = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function exhausted(now: number, message: string, freeAt: Date): DomainError {
  const retryAfterSeconds = Math.max(1, Math.ceil((freeAt.getTime() - now) / 1_000));
  return new DomainError('TOO_MANY_REQUESTS', `${message} ${timeText(freeAt)}`, {
    ...{ retryAfterSeconds, freeAt: freeAt.toISOString() },
  });
}

/**
 * In a transaction of its own, so never inside another one.
 *
 * @throws TOO_MANY_REQUESTS with `freeAt`; PRECONDITION_FAILED where the provider was deleted meanwhile
 */
export async function reserve(
  ctx: Context,
  { teamId }: Pick<ProviderRecord, 'teamId'>,
  request: { purpose: string; inputTokens: number; maxTokens: number },
): Promise<Reservation> {
  const now = ctx.clock.now();
  const at = new Date(now);
  const requestId = newId();
  const maxTokens = await ctx.db.transaction(async (tx) => {
    const provider = await lockProvider(tx, teamId);
    if (!provider) throw noProvider();
    await assertRequestLeft(ctx, tx, provider);
    const left = await tokensLeft(ctx, tx, provider);
    const most = Math.min(request.maxTokens, left.tokens - request.inputTokens);
    if (most < Math.min(LEAST_TOKENS, request.maxTokens))
      throw exhausted(
        now,
        left.tokens <= 0
          ? `The team has used its ${numberText(left.limit)} tokens of this ${left.period}; more are free at`
          : `The team has ${numberText(left.tokens)} of its ${numberText(left.limit)} tokens of this ${left.period} left, which is too few for this question; more are free at`,
        left.freeAt,
      );
    await insertRequest(tx, {
      ...{ id: requestId, teamId, userId: userOf(ctx), purpose: request.purpose, at },
      reservedTokens: request.inputTokens + most,
    });
    return most;
  });
  return {
    requestId,
    maxTokens,
    finish: (used) => finishRequest(ctx.db, requestId, { ...used, at: new Date(ctx.clock.now()) }),
  };
}

export async function assertRequestLeft(
  ctx: Context,
  tx: Context['db'],
  provider: ProviderRecord,
): Promise<void> {
  const { teamId, requestsPerUserPerHour: limit } = provider;
  const now = ctx.clock.now();
  const since = new Date(now - HOUR_MS);
  const { count, oldest } = await countRequests(tx, { teamId, userId: userOf(ctx), since, limit });
  if (count < limit || !oldest) return;
  throw exhausted(
    now,
    `You have asked ${numberText(limit)} times in the last hour, which is the limit of this team; ask again at`,
    new Date(oldest.getTime() + HOUR_MS),
  );
}

/** Of the day and the month, what ends first. */
async function tokensLeft(ctx: Context, tx: Context['db'], provider: ProviderRecord) {
  const now = ctx.clock.now();
  const [day, month] = [dayOf(now), monthOf(now)];
  const used = await sumTokens(tx, provider.teamId, { day: day.start, month: month.start });
  const ofDay = {
    ...{ period: 'day', limit: provider.tokensPerDay, freeAt: day.end },
    tokens: provider.tokensPerDay - used.day,
  };
  const ofMonth = {
    ...{ period: 'month', limit: provider.tokensPerMonth, freeAt: month.end },
    tokens: provider.tokensPerMonth - used.month,
  };
  return ofMonth.tokens <= ofDay.tokens ? ofMonth : ofDay;
}
