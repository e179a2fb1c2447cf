import {
  AUDIT_LIMIT,
  AuditAfter,
  type AuditFilter,
  AuditList,
  AuditPage,
  AuditUsers,
  AuditWords,
  ListAudit,
  SCIM_ALL,
} from '../../../schemas/api/audit.ts';
import { NoInput } from '../../../schemas/api/common.ts';
import { environmentScope } from '../../identity/access/index.ts';
import { badRequest } from '../../platform/operation/errors.ts';
import { ownScope, query, type Weight } from '../../platform/operation/operation.ts';
import { listActors, listFilterValues } from './filter-values-queries.ts';
import { type AuditQuery, findEvents, SCIM_TYPES } from './queries.ts';
import { listAfter } from './store.ts';
import { filterScope, viewerOf } from './viewer.ts';

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

/** One subject is found down its index; what else is asked for is looked for among as many events as a page may look at. */
function weightOfList({
  environmentId,
  userId,
  teamId,
  action,
  actorType,
  entityType,
  search,
}: ListAudit): Weight {
  const subjects = [environmentId, userId, teamId].filter((subject) => subject !== undefined);
  const others = [action, actorType, entityType, search].filter((other) => other !== undefined);
  return subjects.length > 1 || others.length > 0 ? 'heavy' : 'light';
}

export const list = query({
  name: 'audit.list',
  summary: 'What happened in your teams, and what you did yourself; newest first',
  role: 'VIEWER',
  input: ListAudit,
  output: AuditList,
  weight: weightOfList,
  scope: filterScope,
  async run(ctx, { cursor, limit = AUDIT_LIMIT.default, ...filter }) {
    const asked = auditQuery(filter, { cursor, limit });
    const { entries, next } = await findEvents(ctx.db, viewerOf(ctx), asked);
    return { entries, nextCursor: next === null ? null : String(next) };
  },
});

export const actions = query({
  name: 'audit.actions',
  summary: 'The actions that occur in the part of the audit log that you see',
  role: 'VIEWER',
  input: NoInput,
  output: AuditWords,
  scope: () => ownScope,
  run: (ctx) => listFilterValues(ctx.db, viewerOf(ctx), 'action'),
});

export const entityTypes = query({
  name: 'audit.entityTypes',
  summary: 'What the part of the audit log that you see tells of; SCIM is users and groups of SCIM together',
  role: 'VIEWER',
  input: NoInput,
  output: AuditWords,
  scope: () => ownScope,
  async run(ctx) {
    const words = await listFilterValues(ctx.db, viewerOf(ctx), 'entity_type');
    return words.some((word) => SCIM_TYPES.includes(word)) ? [...words, SCIM_ALL].sort() : words;
  },
});

export const users = query({
  name: 'audit.users',
  summary: 'Who acts in the part of the audit log that you see: people and service accounts',
  role: 'VIEWER',
  input: NoInput,
  output: AuditUsers,
  scope: () => ownScope,
  run: (ctx) => listActors(ctx.db, viewerOf(ctx)),
});

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;

/** Days are those of UTC; a moment without a zone is one of UTC too. */
function momentOf(field: 'startDate' | 'endDate', text: string): Date {
  const zoned = DAY.test(text) || /(Z|[+-]\d{2}:\d{2})$/.test(text) ? text : `${text}Z`;
  const moment = new Date(zoned);
  if (Number.isNaN(moment.getTime()))
    throw badRequest(`${field} is no date; write 2026-01-31 or 2026-01-31T09:30:00Z`);
  return moment;
}

/** An end that is a day is that whole day; one that is a moment ends with its millisecond. */
function endOf(text: string): Date {
  const moment = momentOf('endDate', text);
  return new Date(moment.getTime() + (DAY.test(text) ? DAY_MS : 1));
}

export function auditQuery(
  { startDate, endDate, ...rest }: AuditFilter,
  { cursor, limit }: { cursor?: string | undefined; limit: number },
): AuditQuery {
  return {
    ...rest,
    from: startDate === undefined ? undefined : momentOf('startDate', startDate),
    to: endDate === undefined ? undefined : endOf(endDate),
    before: cursor === undefined ? undefined : Number(cursor),
    limit,
  };
}
