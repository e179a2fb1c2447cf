/** A silence while it is written, what is wrong with it, and what it would mute. Pure. */
import { isMatched } from '../../../../../schemas/alerts/silence-matching.ts';
import type { AlertEvent } from '../../../../../schemas/api/insight/alerts.ts';
import { type LabelRow, labelsOf, problemOfRows } from '../../../ui/form/label-rows.ts';
import { METRICS } from '../rule-text.ts';

export const ENDS = [
  { value: '1h', word: '1 hour', hours: 1 },
  { value: '4h', word: '4 hours', hours: 4 },
  { value: '1d', word: '1 day', hours: 24 },
  { value: '1w', word: '1 week', hours: 168 },
  { value: 'at', word: 'Until…', hours: 0 },
] as const;

export interface SilenceDraft {
  rows: readonly LabelRow[];
  reason: string;
  end: (typeof ENDS)[number]['value'];
  /** As a `datetime-local` field has it: local time without a zone. */
  endsAt: string;
}

const HOUR_MS = 3_600_000;
const MAX_MS = 366 * 24 * HOUR_MS;
const MAX_MATCHERS = 16;

/** The rows of somebody who begins with nothing. */
export const newDraft = (matchers: Readonly<Record<string, string>>): SilenceDraft => {
  const rows = Object.entries(matchers);
  return { rows: rows.length > 0 ? rows : [['', '']], reason: '', end: '4h', endsAt: '' };
};

/** Null while the time is not one. */
export function endOf({ end, endsAt }: SilenceDraft, now: number): Date | null {
  const hours = ENDS.find(({ value }) => value === end)?.hours ?? 0;
  if (end !== 'at') return new Date(now + hours * HOUR_MS);
  const at = new Date(endsAt);
  return Number.isNaN(at.getTime()) ? null : at;
}

export function endProblem(draft: SilenceDraft, now: number): string {
  if (draft.end !== 'at' || draft.endsAt === '') return '';
  const at = endOf(draft, now);
  if (!at) return 'A date and a time.';
  if (at.getTime() <= now) return 'It lies in the past.';
  return at.getTime() - now > MAX_MS ? 'At most a year from now; disable the rule instead.' : '';
}

export function matchersProblem(rows: readonly LabelRow[]): string {
  const found = problemOfRows(rows);
  if (found) return found;
  const half = rows.find(([key, value]) => (key.trim() === '') !== (value.trim() === ''));
  if (half) return half[0].trim() ? `${half[0].trim()} has no value.` : `“${half[1].trim()}” has no label.`;
  return rows.length > MAX_MATCHERS ? `At most ${MAX_MATCHERS} labels.` : '';
}

/** Complete, without a problem. */
export const isComplete = (draft: SilenceDraft, now: number): boolean =>
  Object.keys(labelsOf(draft.rows)).length > 0 &&
  matchersProblem(draft.rows) === '' &&
  draft.reason.trim() !== '' &&
  endProblem(draft, now) === '' &&
  endOf(draft, now) !== null;

interface LabelledNode {
  id: string;
  labels: Readonly<Record<string, string>>;
}

/** How many of the open events carry every label, and how many there are. */
export function countMuted(
  rows: readonly LabelRow[],
  events: readonly AlertEvent[],
  nodes: readonly LabelledNode[],
): { muted: number; open: number } {
  const matchers = labelsOf(rows);
  const labels = new Map(nodes.map((node) => [node.id, node.labels]));
  const muted =
    Object.keys(matchers).length === 0 || matchersProblem(rows) !== ''
      ? []
      : events.filter((event) => isMatched(matchedEvent(event, labels), matchers));
  return { muted: muted.length, open: events.length };
}

const matchedEvent = (event: AlertEvent, labels: ReadonlyMap<string, LabelledNode['labels']>) => ({
  rule: event.ruleName,
  metric: event.metric,
  node:
    event.nodeId === null
      ? null
      : { name: event.nodeName ?? '', labels: { ...labels.get(event.nodeId) }, maintenance: false },
  pipeline: event.pipelineName === null ? null : { name: event.pipelineName },
});

/** Of the event itself; all others are labels of its node. */
const EVENT_LABELS = ['rule', 'metric', 'node', 'pipeline'] as const;

interface Named {
  name: string;
}

/** What is offered for the keys and the values of a silence. */
export function matcherSuggestions(
  rules: readonly Named[],
  nodes: readonly (Named & LabelledNode)[],
  pipelines: readonly Named[],
): { keys: string[]; valuesOf: (key: string) => string[] } {
  const byKey = new Map<string, Set<string>>();
  const add = (key: string, value: string): void => {
    const values = byKey.get(key) ?? new Set();
    values.add(value);
    byKey.set(key, values);
  };
  for (const { labels } of nodes) for (const [key, value] of Object.entries(labels)) add(key, value);
  const own: Record<(typeof EVENT_LABELS)[number], readonly string[]> = {
    rule: rules.map(({ name }) => name),
    metric: METRICS.map(({ value }) => value),
    node: nodes.map(({ name }) => name),
    pipeline: pipelines.map(({ name }) => name),
  };
  for (const key of EVENT_LABELS) byKey.set(key, new Set(own[key]));
  const others = [...byKey.keys()].filter((key) => !Object.hasOwn(own, key)).sort();
  return {
    keys: [...EVENT_LABELS, ...others],
    valuesOf: (key) => [...(byKey.get(key.trim()) ?? [])].sort((a, b) => a.localeCompare(b)),
  };
}
