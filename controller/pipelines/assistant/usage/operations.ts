import { AiUsage, GetAiUsage } from '../../../../schemas/api/pipelines/assistant.ts';
import { teamScope } from '../../../identity/access/index.ts';
import { query } from '../../../platform/operation/operation.ts';
import { findProvider } from '../provider/store.ts';
import { HOUR_MS } from './limits.ts';
import { dayOf, monthOf } from './periods.ts';
import { countRequests, listUsage, sumTokens } from './store.ts';

const DAY_MS = 24 * HOUR_MS;
const DEFAULT_DAYS = 31;
/** More than any limit. */
const MOST_COUNTED = 10_000;

export const usage = query({
  name: 'ai.usage',
  summary: 'The tokens that a team has used of its AI provider, by day and user, and what is left',
  role: 'VIEWER',
  input: GetAiUsage,
  output: AiUsage,
  scope: (ctx, { teamId }) => teamScope(ctx, teamId),
  async run(ctx, { teamId, days = DEFAULT_DAYS }) {
    const now = ctx.clock.now();
    const [day, month] = [dayOf(now), monthOf(now)];
    const provider = await findProvider(ctx.db, teamId);
    const used = await sumTokens(ctx.db, teamId, { day: day.start, month: month.start });
    const userId = ctx.actor.type === 'user' ? ctx.actor.userId : null;
    const since = new Date(now - HOUR_MS);
    const { count } = await countRequests(ctx.db, { teamId, userId, since, limit: MOST_COUNTED });
    const first = new Date(day.start.getTime() - (days - 1) * DAY_MS);
    return {
      day: { used: used.day, limit: provider?.tokensPerDay ?? null, resetsAt: day.end },
      month: { used: used.month, limit: provider?.tokensPerMonth ?? null, resetsAt: month.end },
      requests: { used: count, limit: provider?.requestsPerUserPerHour ?? null },
      entries: await listUsage(ctx.db, teamId, first),
    };
  },
});
