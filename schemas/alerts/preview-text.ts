/** What an alert rule would have done, in one sentence: the same in the web UI, on the command line and in pull requests. */

import type { ChangePreview } from '../api/delivery/git-plan.ts';
import { PREVIEW_DAYS } from '../api/insight/alerts.ts';

/** One engine runs for each pipeline on each node. */
const nounOf = (metric: ChangePreview['metric']): string =>
  metric === 'pipeline_crashed' ? 'engine' : metric.endsWith('_rate') ? 'pipeline' : 'node';

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

export function previewText({ metric, series, firings, subjects, firingNow }: ChangePreview): string {
  const noun = nounOf(metric);
  const days = `in the last ${PREVIEW_DAYS} days`;
  if (series === 0)
    return `what it would have done is not known: nothing that it looks at was recorded ${days}`;
  if (firings === 0) return `would not have fired on any of ${counted(series, noun)} ${days}`;
  return `would have fired ${counted(firings, 'time')} on ${subjects} of ${counted(series, noun)} ${days}, now on ${firingNow}`;
}
