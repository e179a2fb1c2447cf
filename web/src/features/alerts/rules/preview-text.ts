/** What a rule would have done, in words. Pure. */
import type { AlertRule, RulePreview } from '../../../../../schemas/api/insight/alerts.ts';
import { plural } from '../../../ui/text/format.ts';
import { watchedNoun } from '../rule-text.ts';

const DAY_MS = 86_400_000;

const times = (count: number): string => (count === 1 ? 'once' : `${count.toLocaleString('en')} times`);

/** `Would have fired 3 times on 2 nodes in the last 7 days; firing now on 0.` */
export function previewText(
  { from, to, series, firings, subjects, firingNow }: RulePreview,
  metric: AlertRule['metric'],
): string {
  const { one, many } = watchedNoun(metric);
  const days = plural(Math.round((to.getTime() - from.getTime()) / DAY_MS), 'day');
  if (series === 0) return `Nothing was recorded in the last ${days} that this rule could look at.`;
  if (firings === 0)
    return `Would not have fired in the last ${days}, over ${plural(series, one, many)}; firing now on 0.`;
  return `Would have fired ${times(firings)} on ${plural(subjects, one, many)} in the last ${days}; firing now on ${firingNow.toLocaleString('en')}.`;
}

export interface Bar {
  x: number;
  width: number;
  isOpen: boolean;
}

/** Where firings lie on a strip of that width; each is at least `least` wide, so that a short one is seen. */
export function barsOf(
  { from, to, events }: Pick<RulePreview, 'from' | 'to' | 'events'>,
  width: number,
  least: number,
): Bar[] {
  const start = from.getTime();
  const scale = width / Math.max(1, to.getTime() - start);
  return events.map(({ firedAt, resolvedAt }) => {
    const x = Math.max(0, (firedAt.getTime() - start) * scale);
    const end = ((resolvedAt ?? to).getTime() - start) * scale;
    const wide = Math.min(width, Math.max(end - x, least));
    return { x: Math.max(0, Math.min(x, width - wide)), width: wide, isOpen: resolvedAt === null };
  });
}

/** Local midnights between the ends, in milliseconds since the epoch. */
export function midnights({ from, to }: Pick<RulePreview, 'from' | 'to'>): number[] {
  const found: number[] = [];
  const day = new Date(from);
  day.setHours(24, 0, 0, 0);
  while (day.getTime() < to.getTime()) {
    found.push(day.getTime());
    day.setDate(day.getDate() + 1);
  }
  return found;
}
