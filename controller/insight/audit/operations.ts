import { NoInput } from '../../../schemas/api/common.ts';
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
} from '../../../schemas/api/insight/audit.ts';
import { environmentScope } from '../../identity/access/index.ts';
import { badRequest } from '../../platform/operation/errors.ts';
import { ownScope, query, type Weight } from '../../platform/operation/operation.ts';
import { listActors, listFilterValues } from './filter-values-queries.ts';
import { type AuditQuery, findEvents, SCIM_TYPES } from './queries.ts';
import { listAfter } from './store.ts';
import { filterScope, viewerOf } from './viewer.ts';

export const after = query({
  name: 'audit.after',
  summary: 'Events of an environment after a cursor, oldest first',
  role: 'VIEWER',
  permission: 'audit.read',
  input: AuditAfter,
  output: AuditPage,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, after = '0', limit = AUDIT_LIMIT.default, action }) {
    // One event beyond the limit shows whether there are more.
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

/** A single subject is read from its index. Any other filter scans up to the limit of a page, so the query is heavy. */
function listWeight({
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
  summary: 'Events of your teams and your own, newest first',
  role: 'VIEWER',
  input: ListAudit,
  output: AuditList,
  weight: listWeight,
  scope: filterScope,
  async run(ctx, { cursor, limit = AUDIT_LIMIT.default, ...filter }) {
    const auditFilter = auditQuery(filter, { cursor, limit });
    const { entries, next } = await findEvents(ctx.db, viewerOf(ctx), auditFilter);
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
  summary:
    'The entity types in the part of the audit log that you see; SCIM is users and groups of SCIM together',
  role: 'VIEWER',
  input: NoInput,
  output: AuditWords,
  scope: () => ownScope,
  async run(ctx) {
    const types = await listFilterValues(ctx.db, viewerOf(ctx), 'entity_type');
    return types.some((type) => SCIM_TYPES.includes(type)) ? [...types, SCIM_ALL].sort() : types;
  },
});

export const users = query({
  name: 'audit.users',
  summary: 'The actors in the part of the audit log that you see: users and service accounts',
  role: 'VIEWER',
  input: NoInput,
  output: AuditUsers,
  scope: () => ownScope,
  run: (ctx) => listActors(ctx.db, viewerOf(ctx)),
});

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;

/** Days, and moments without a zone, are in UTC. */
function parseMoment(field: 'startDate' | 'endDate', text: string): Date {
  const zoned = DAY.test(text) || /(Z|[+-]\d{2}:\d{2})$/.test(text) ? text : `${text}Z`;
  const moment = new Date(zoned);
  if (Number.isNaN(moment.getTime()))
    throw badRequest(`${field} is not a date; write 2026-01-31 or 2026-01-31T09:30:00Z`);
  return moment;
}

/** The end is inclusive: of a day, the whole day; of a moment, its millisecond. */
function parseEnd(text: string): Date {
  const moment = parseMoment('endDate', text);
  return new Date(moment.getTime() + (DAY.test(text) ? DAY_MS : 1));
}

export function auditQuery(
  { startDate, endDate, ...rest }: AuditFilter,
  { cursor, limit }: { cursor?: string | undefined; limit: number },
): AuditQuery {
  return {
    ...rest,
    from: startDate === undefined ? undefined : parseMoment('startDate', startDate),
    to: endDate === undefined ? undefined : parseEnd(endDate),
    before: cursor === undefined ? undefined : Number(cursor),
    limit,
  };
}
