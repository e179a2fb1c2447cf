/** One sentence on an event: what is wrong, and where. Pure. */
import { type Condition, holds } from './step.ts';

export interface EventText extends Condition {
  nodeName: string | null;
  pipelineName: string | null;
  value: number | null;
}

const number = new Intl.NumberFormat('en', { maximumSignificantDigits: 3, useGrouping: false });
const COMPARISONS = { gt: 'above', lt: 'below', eq: 'exactly' } as const;
const USAGES: Readonly<Record<string, string>> = {
  cpu_usage: 'CPU usage',
  memory_usage: 'Memory usage',
  disk_usage: 'Disk usage',
};

export function eventMessage(event: EventText): string {
  const { metric, nodeName, pipelineName, value, threshold, condition, durationSeconds } = event;
  const node = nodeName ?? 'a node';
  const pipeline = pipelineName ?? 'a pipeline';
  const forTime = durationSeconds > 0 ? ` for ${durationText(durationSeconds)}` : '';
  const compared = `${COMPARISONS[condition]} ${number.format(threshold)}`;
  // A rule may ask for the opposite: a node that is reachable, an engine that has not crashed.
  // The value may be that of the end already; only where both values meet the condition it says which one does.
  const isOpposite = holds(event, 1) && holds(event, 0) ? value === 0 : !holds(event, 1);
  if (metric === 'node_unreachable')
    return `${node} is ${isOpposite ? 'reachable' : 'unreachable'}${forTime}`;
  if (metric === 'pipeline_crashed')
    return `${pipeline} ${isOpposite ? 'has not crashed' : 'crashed'} on ${node}${forTime}`;
  const usage = USAGES[metric];
  const amount = value === null ? 'unknown' : number.format(value);
  if (usage) return `${usage} of ${node} is ${amount} % (${compared} %${forTime})`;
  const noun = metric === 'error_rate' ? 'errors' : 'events';
  const verb = metric === 'error_rate' ? 'reports' : 'discards';
  return `${pipeline} ${verb} ${amount} ${noun}/s (${compared}/s${forTime})`;
}

export function durationText(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${number.format(seconds / 60)} min`;
  return `${number.format(seconds / 3_600)} h`;
}
