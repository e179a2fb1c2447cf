import { AUDIT_LIMIT, AuditAfter, AuditPage } from '../../schemas/api/audit.ts';
import { environmentScope } from '../access/index.ts';
import { query } from '../platform/operation.ts';
import { listAfter } from './store.ts';

export const after = query({
  name: 'audit.after',
  summary: 'What happened in an environment since a cursor, oldest first',
  role: 'VIEWER',
  permission: 'audit.read',
  input: AuditAfter,
  output: AuditPage,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, after = '0', limit = AUDIT_LIMIT.default, action }) {
    // One more than is shown tells whether there are more.
    const found = await listAfter(ctx.db, {
      environmentId,
      after: Number(after),
      limit: limit + 1,
      action,
    });
    const events = found.slice(0, limit);
    const last = events.at(-1);
    return { events, cursor: last ? String(last.seq) : after, hasMore: found.length > limit };
  },
});
