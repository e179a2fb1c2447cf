/** One evaluation of the alert rules of an environment: reads, evaluates, and writes what has changed in one transaction. */
import type { Knex } from 'knex';
import { MAINTENANCE } from '../../../../schemas/alerts/silence-matching.ts';
import { readCells } from '../../../fleet/status/index.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { newId } from '../../../platform/operation/ids.ts';
import type { AlertNotice } from '../../notifications/index.ts';
import { findPlace, type Place, readNotices } from '../events/notices-queries.ts';
import {
  insertChanges,
  listOpenOf,
  markNotified,
  type NewChange,
  openEvents,
  resolveEvents,
  updateOpen,
} from '../events/store.ts';
import { listActiveSilences } from '../silences/store.ts';
import type { CounterWindows } from './counter-windows.ts';
import { readCounters } from './counters-queries.ts';
import { type EvaluatedRule, type Evaluation, evaluateRules, type Known } from './evaluate-rules.ts';
import { eventMessage } from './messages.ts';
import { needsCounters, type Subject, subjectKey } from './series.ts';
import { listAllRules, readStates, writeCounts, writeStates } from './states-store.ts';

/** A subject that fires again within this time after it was resolved has the same event. */
export const REOPEN_MS = 30 * 60_000;

/** A statement for more events, states or changes would hold the event loop. */
const EVENTS_PER_STATEMENT = 1_000;

export interface EvaluateOptions {
  windows: CounterWindows;
  /** Queues what is sent, in the transaction. */
  notify(ctx: Context, notices: readonly AlertNotice[]): Promise<void>;
}

/** False where there is nothing to evaluate until rules or events change. */
export async function evaluateAlerts(
  ctx: Context,
  environmentId: string,
  { windows, notify }: EvaluateOptions,
): Promise<boolean> {
  const now = ctx.clock.now();
  const known = await readKnown(ctx.db, environmentId, new Date(now));
  if (known.rules.length === 0 && known.open.length === 0 && known.states.size === 0) {
    windows.forget(environmentId);
    return false;
  }
  await readWindows(ctx.db, environmentId, known.rules, windows, now);
  const cells = await readCells(ctx, environmentId);
  const found = await evaluateRules(
    known,
    {
      cells,
      rateOnNode: (pipelineId, nodeId, counter) =>
        windows.rateOnNode(environmentId, pipelineId, nodeId, counter, now),
      ratesSettled: windows.isSettled(environmentId, now),
      windowsFull: windows.isFull(environmentId, now),
      listeningSince: ctx.services.listeningSince(),
    },
    now,
  );
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await write({ ...ctx, db: tx }, environmentId, { found, now: new Date(now), notify });
  });
  return true;
}

async function readKnown(db: Knex, environmentId: string, now: Date): Promise<Known> {
  const all = await listAllRules(db, environmentId);
  const rules = all.filter(({ enabled }) => enabled);
  const disabledRules = new Set(all.filter(({ enabled }) => !enabled).map(({ id }) => id));
  const open = await listOpenOf(db, environmentId);
  const states = await readStates(db, environmentId);
  const silences = rules.length > 0 ? await listActiveSilences(db, environmentId, now) : [];
  return { rules, disabledRules, states, open, silences };
}

async function readWindows(
  db: Knex,
  environmentId: string,
  rules: readonly EvaluatedRule[],
  windows: CounterWindows,
  now: number,
): Promise<void> {
  const watched = rules.filter(needsCounters).map(({ pipelineId }) => pipelineId);
  if (watched.length === 0) return windows.forget(environmentId);
  const ids = watched.filter((id) => id !== null);
  const readings = await readCounters(
    db,
    environmentId,
    ids.length < watched.length ? null : [...new Set(ids)],
  );
  windows.observe(environmentId, readings, now);
}

interface Write {
  found: Evaluation;
  now: Date;
  notify: EvaluateOptions['notify'];
}

interface ToSend {
  /** Of events that fire now: what is sent is known without asking for it. */
  fired: AlertNotice[];
  /** Ids of events that fired before, and whose firing or resolution is to be sent. */
  firing: string[];
  resolved: string[];
}

async function write(ctx: Context, environmentId: string, { found, now, notify }: Write): Promise<void> {
  const tx = ctx.db;
  const changes: NewChange[] = [];
  const toSend: ToSend = { fired: [], firing: found.due.map(({ id }) => id), resolved: [] };
  for (let first = 0; first < found.states.length; first += EVENTS_PER_STATEMENT)
    await writeStates(tx, found.states.slice(first, first + EVENTS_PER_STATEMENT));
  const isOther = await writeCounts(tx, found.counts, now);
  const place = found.fired.length > 0 ? await findPlace(tx, environmentId) : null;
  for (let first = 0; place && first < found.fired.length; first += EVENTS_PER_STATEMENT)
    await writeFired(tx, place, found.fired.slice(first, first + EVENTS_PER_STATEMENT), {
      ...{ now, changes, toSend },
    });
  await writeResolved(tx, found, { now, changes, toSend });
  await writeChanged(tx, found, { now, changes });
  await markNotified(
    tx,
    found.due.map(({ id }) => id),
  );
  // In the order in which they fired.
  const notices = [...(await readNotices(tx, toSend, now)), ...toSend.fired];
  if (notices.length > 0) await notify(ctx, notices);
  for (let first = 0; first < changes.length; first += EVENTS_PER_STATEMENT)
    await insertChanges(tx, changes.slice(first, first + EVENTS_PER_STATEMENT));
  if (isOther || changes.length > 0)
    await ctx.services.bus.publish(tx, { type: 'ui', environmentId, topics: ['alerts'] });
}

interface Into {
  now: Date;
  changes: NewChange[];
  toSend: ToSend;
}

async function writeFired(
  tx: Knex,
  place: Place,
  opening: Evaluation['fired'],
  { now, changes, toSend }: Into,
): Promise<void> {
  const fired = opening.map(({ rule, subject, value, mutedBy }) => ({
    ...{ id: newId(), ruleId: rule.id, ruleName: rule.name, metric: rule.metric, condition: rule.condition },
    ...{ threshold: rule.threshold, durationSeconds: rule.durationSeconds, value, mutedBy },
    ...{ subject: subjectKey(subject), node: subject.node, pipeline: subject.pipeline },
    message: messageOf(rule, subject, value),
  }));
  const opened = await openEvents(tx, place.environment.id, fired, {
    at: now,
    reopenAfter: new Date(now.getTime() - REOPEN_MS),
  });
  for (const { id: given, mutedBy, subject: _, node, pipeline, ...event } of fired) {
    const found = opened.get(given);
    if (!found) continue;
    const { id: eventId, again } = found;
    changes.push({ eventId, at: now, kind: again ? 'fired_again' : 'fired', value: event.value });
    if (mutedBy === null)
      toSend.fired.push({
        ...{ eventId, status: 'firing', at: now, firedAt: now, ...event, ...place, pipeline },
        node: node && { id: node.id, name: node.name, labels: node.labels },
      });
    else changes.push(muteChange(eventId, mutedBy, now));
  }
}

const messageOf = (rule: EvaluatedRule, subject: Subject, value: number | null): string =>
  eventMessage({
    ...rule,
    nodeName: subject.node?.name ?? null,
    pipelineName: subject.pipeline?.name ?? null,
    value,
  });

const muteChange = (eventId: string, mutedBy: string | null, at: Date): NewChange => ({
  ...{ eventId, at, kind: mutedBy === null ? 'unmuted' : 'muted' },
  note: mutedBy === MAINTENANCE ? 'the node is in maintenance' : mutedBy,
});

async function writeResolved(tx: Knex, found: Evaluation, { now, changes, toSend }: Into): Promise<void> {
  const byId = new Map(found.resolved.map((one) => [one.event.id, one]));
  const resolved = await resolveEvents(
    tx,
    found.resolved.map(({ event, reason, value }) => ({ id: event.id, reason, value })),
    now,
  );
  for (const { id, notified } of resolved) {
    const { reason = null, value = null } = byId.get(id) ?? {};
    changes.push({ eventId: id, at: now, kind: 'resolved', value, note: reason });
    // Who was sent the firing is sent the end, muted or not.
    if (notified) toSend.resolved.push(id);
  }
}

async function writeChanged(
  tx: Knex,
  { changed }: Evaluation,
  { now, changes }: Omit<Into, 'toSend'>,
): Promise<void> {
  await updateOpen(
    tx,
    changed.map(({ event, rule, subject, value, peak, mutedBy }) => ({
      ...{ id: event.id, value, peak, mutedBy, message: messageOf(rule, subject, value) },
    })),
  );
  for (const { event, mutedBy } of changed)
    if (mutedBy !== event.mutedBy) changes.push(muteChange(event.id, mutedBy, now));
}
