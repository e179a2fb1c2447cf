import { NoInput } from '../../../../schemas/api/common.ts';
import {
  AcknowledgeEvent,
  AlertEvent,
  AlertEventDetail,
  AlertEventId,
  AlertEventPage,
  EVENTS_DEFAULT,
  ListAlertEvents,
  OpenAlertEvents,
} from '../../../../schemas/api/insight/alerts.ts';
import { environmentScope, objectScope } from '../../../identity/access/index.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { badRequest, forbidden, notFound, preconditionFailed } from '../../../platform/operation/errors.ts';
import { mutation, ownScope, query } from '../../../platform/operation/operation.ts';
import { publishAlerts } from '../rules/publish-change.ts';
import {
  type EventCursor,
  findEvent,
  listChanges,
  listOpenEvents,
  listEvents as readEvents,
} from './queries.ts';
import { acknowledgeOpen, insertChanges } from './store.ts';

const cursorText = ({ openedAt, id }: EventCursor): string => `${openedAt.toISOString()}_${id}`;

function parseCursor(text: string): EventCursor {
  const [at = '', id = ''] = text.split('_');
  const openedAt = new Date(at);
  if (Number.isNaN(openedAt.getTime()) || id === '')
    throw badRequest('cursor is not one that an answer gave; leave it out to begin with the newest events');
  return { openedAt, id };
}

export const listEvents = query({
  name: 'alert.listEvents',
  summary: 'What alert rules of an environment have found, newest first',
  role: 'VIEWER',
  permission: 'alerts.read',
  input: ListAlertEvents,
  output: AlertEventPage,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { limit = EVENTS_DEFAULT, cursor, ...filter }) {
    const after = cursor === undefined ? null : parseCursor(cursor);
    // One beyond the limit shows whether there are more.
    const found = await readEvents(ctx.db, filter, { limit: limit + 1, cursor: after });
    const events = found.slice(0, limit);
    const last = events.at(-1);
    return { events, nextCursor: last && found.length > limit ? cursorText(last) : null };
  },
});

export const openEvents = query({
  name: 'alert.openEvents',
  summary: 'Open alerts of all environments that you see',
  role: 'VIEWER',
  input: NoInput,
  output: OpenAlertEvents,
  scope: () => ownScope,
  run(ctx) {
    const { actor } = ctx;
    if (actor.type !== 'user') throw forbidden('Only a signed-in user sees the alerts of all environments');
    return listOpenEvents(ctx.db, actor.isSuperAdmin ? null : [...actor.roles.keys()]);
  },
});

async function getExisting(ctx: Context, id: string): Promise<AlertEvent> {
  const event = await findEvent(ctx.db, id);
  if (!event) throw notFound('Alert event');
  return event;
}

export const getEvent = query({
  name: 'alert.getEvent',
  summary: 'An alert event with its timeline',
  role: 'VIEWER',
  permission: 'alerts.read',
  input: AlertEventId,
  output: AlertEventDetail,
  scope: (ctx, { id }) => objectScope(ctx, 'Alert event', id),
  async run(ctx, { id }) {
    return { ...(await getExisting(ctx, id)), changes: await listChanges(ctx.db, id) };
  },
});

export const acknowledgeEvent = mutation({
  name: 'alert.acknowledgeEvent',
  summary: 'Acknowledge an alert that is firing',
  role: 'EDITOR',
  permission: 'alerts.manage',
  audit: 'alertEvent.acknowledged',
  input: AcknowledgeEvent,
  output: AlertEvent,
  scope: (ctx, { id }) => objectScope(ctx, 'Alert event', id),
  async run(ctx, { id, note }) {
    const at = new Date(ctx.clock.now());
    const by = ctx.actor.type === 'user' ? ctx.actor.email : actorName(ctx);
    if (!(await acknowledgeOpen(ctx.db, id, { at, by }))) {
      const { status } = await getExisting(ctx, id);
      if (status === 'resolved')
        throw preconditionFailed('This alert is resolved already; there is nothing to acknowledge');
      ctx.unchanged();
      return getExisting(ctx, id);
    }
    const text = note?.trim() || null;
    await insertChanges(ctx.db, [{ eventId: id, at, kind: 'acknowledged', note: text, userEmail: by }]);
    const event = await getExisting(ctx, id);
    ctx.audit({
      entityType: 'AlertEvent',
      entityId: id,
      metadata: { name: event.ruleName, message: event.message },
    });
    await publishAlerts(ctx, event.environmentId);
    return event;
  },
});

const actorName = ({ actor }: Context): string => ('name' in actor ? actor.name : actor.type);
