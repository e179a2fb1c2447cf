/** An alert event in words. Pure. */
import { MAINTENANCE } from '../../../../../schemas/alerts/silence-matching.ts';
import type {
  AlertEvent,
  AlertEventChange,
  AlertSilence,
} from '../../../../../schemas/api/insight/alerts.ts';
import type { Tone } from '../../../ui/primitives/tone.ts';
import { formatDuration } from '../../../ui/text/format.ts';
import { amountText, limitText } from '../rule-text.ts';

type EventIcon = 'alerts' | 'user' | 'held' | 'moving' | 'check';

export type EventState = 'firing' | 'acknowledged' | 'muted' | 'resolved';

export const EVENT_STATES: Readonly<Record<EventState, { tone: Tone; icon: EventIcon; word: string }>> = {
  firing: { tone: 'failed', icon: 'alerts', word: 'Firing' },
  acknowledged: { tone: 'held', icon: 'user', word: 'Acknowledged' },
  muted: { tone: 'unknown', icon: 'held', word: 'Muted' },
  resolved: { tone: 'calm', icon: 'check', word: 'Resolved' },
};

export function eventState({ status, mutedBy }: Pick<AlertEvent, 'status' | 'mutedBy'>): EventState {
  if (status === 'resolved') return 'resolved';
  return mutedBy === null ? status : 'muted';
}

/** Open ones in the order in which they need somebody. */
export function groupOpen(
  events: readonly AlertEvent[],
): { state: Exclude<EventState, 'resolved'>; events: AlertEvent[] }[] {
  return (['firing', 'acknowledged', 'muted'] as const)
    .map((state) => ({ state, events: events.filter((event) => eventState(event) === state) }))
    .filter((group) => group.events.length > 0);
}

/** `93.2 %, above 90 %`; empty for what is so or not. */
export function valueText({
  metric,
  condition,
  threshold,
  value,
}: Pick<AlertEvent, 'metric' | 'condition' | 'threshold' | 'value'>): string {
  const limit = limitText({ metric, condition, threshold });
  if (limit === '') return '';
  return value === null ? `no value, ${limit}` : `${amountText(metric, value, 2)}, ${limit}`;
}

/** How long it has fired, or did the last time. */
export function lastedText(
  { openedAt, resolvedAt }: Pick<AlertEvent, 'openedAt' | 'resolvedAt'>,
  now: number,
) {
  const end = resolvedAt?.getTime() ?? now;
  return formatDuration((end - openedAt.getTime()) / 1_000);
}

/** Why an event is muted, and the silence that does it. */
export interface MuteReason {
  text: string;
  silenceId: string | null;
}

export function muteReason(
  mutedBy: string,
  silences: readonly Pick<AlertSilence, 'id' | 'reason'>[],
): MuteReason {
  if (mutedBy === MAINTENANCE) return { text: 'the node is in maintenance', silenceId: null };
  const silence = silences.find(({ id }) => id === mutedBy);
  return { text: silence?.reason ?? 'a silence', silenceId: mutedBy };
}

interface ChangeLine {
  tone: Tone;
  icon: EventIcon;
  title: string;
  /** Behind the title. */
  detail: string;
}

/** One line of the timeline. */
export function changeLine(
  change: AlertEventChange,
  event: Pick<AlertEvent, 'metric'>,
  { since, silences }: { since: Date | null; silences: readonly Pick<AlertSilence, 'id' | 'reason'>[] },
): ChangeLine {
  const { kind, value, note, userEmail } = change;
  const amount = value === null ? '' : amountText(event.metric, value, 2);
  switch (kind) {
    case 'fired':
      return { tone: 'failed', icon: 'alerts', title: 'Fired', detail: amount && `at ${amount}` };
    case 'fired_again':
      return { tone: 'failed', icon: 'alerts', title: 'Fired again', detail: amount && `at ${amount}` };
    case 'acknowledged':
      return {
        ...{ tone: 'held', icon: 'user', title: 'Acknowledged' },
        detail: `by ${userEmail ?? 'somebody'}${note ? `: ${note}` : ''}`,
      };
    case 'muted':
      return { tone: 'unknown', icon: 'held', title: 'Muted', detail: mutedText(note, silences) };
    case 'unmuted':
      return { tone: 'unknown', icon: 'moving', title: 'No longer muted', detail: '' };
    case 'resolved': {
      const lasted = since ? `after ${formatDuration((change.at.getTime() - since.getTime()) / 1_000)}` : '';
      const why = note ?? (amount && `at ${amount}`);
      const detail = [lasted, why].filter(Boolean).join(': ');
      return { tone: 'calm', icon: 'check', title: 'Resolved', detail };
    }
  }
}

/** The note of such a change is a sentence, or the id of a silence. */
function mutedText(note: string | null, silences: readonly Pick<AlertSilence, 'id' | 'reason'>[]): string {
  if (note === null) return '';
  if (note.includes(' ')) return `as ${note}`;
  const reason = silences.find(({ id }) => id === note)?.reason;
  return reason ? `by a silence: ${reason}` : 'by a silence';
}

/** When what the resolved change ends had begun: the firing before it. */
export function firedBefore(changes: readonly AlertEventChange[], index: number): Date | null {
  return (
    changes.slice(0, index).findLast(({ kind }) => kind === 'fired' || kind === 'fired_again')?.at ?? null
  );
}

const HOUR_MS = 3_600_000;
const AFTER_MS = 15 * 60_000;
const MAX_RANGE_MS = 24 * HOUR_MS;

/** The time that charts show of an event: an hour before it, and what follows of at most a day. */
export function chartRange(
  { openedAt, resolvedAt }: Pick<AlertEvent, 'openedAt' | 'resolvedAt'>,
  now: number,
): { from: string; to: string } {
  const from = openedAt.getTime() - HOUR_MS;
  const end = resolvedAt ? resolvedAt.getTime() + AFTER_MS : now;
  const to = Math.max(openedAt.getTime(), Math.min(end, now, from + MAX_RANGE_MS));
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

/** The labels by which a silence mutes this very event. */
export function matchersOf({
  ruleName,
  nodeName,
  pipelineName,
}: Pick<AlertEvent, 'ruleName' | 'nodeName' | 'pipelineName'>): Record<string, string> {
  return {
    rule: ruleName,
    ...(nodeName === null ? {} : { node: nodeName }),
    ...(pipelineName === null ? {} : { pipeline: pipelineName }),
  };
}
