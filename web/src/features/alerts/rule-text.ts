/** An alert rule in words, with units: what the numbers mean depends on the metric. */
import type { AlertRule } from '../../../../schemas/api/insight/alerts.ts';
import { formatDuration } from '../../ui/text/format.ts';

type Metric = AlertRule['metric'];
type Rule = Pick<AlertRule, 'metric' | 'condition' | 'threshold' | 'durationSeconds'>;

/** What a rule may watch, to choose from. */
export const METRICS = [
  { value: 'cpu_usage', word: 'CPU usage' },
  { value: 'memory_usage', word: 'Memory usage' },
  { value: 'disk_usage', word: 'Disk usage' },
  { value: 'error_rate', word: 'Errors a second' },
  { value: 'discarded_rate', word: 'Discarded events a second' },
  { value: 'node_unreachable', word: 'A node is unreachable' },
  { value: 'pipeline_crashed', word: 'A pipeline has crashed' },
] as const satisfies readonly { value: Metric; word: string }[];

/** Measured in per cent or in events a second. */
const AMOUNTS: Partial<Record<Metric, { name: string; unit: string }>> = {
  cpu_usage: { name: 'CPU usage', unit: ' %' },
  memory_usage: { name: 'Memory usage', unit: ' %' },
  disk_usage: { name: 'Disk usage', unit: ' %' },
  error_rate: { name: 'Errors', unit: '/s' },
  discarded_rate: { name: 'Discarded events', unit: '/s' },
};

/** Either so or not: 1 or 0. */
const FACTS: Partial<Record<Metric, { yes: string; no: string }>> = {
  node_unreachable: { yes: 'Node is unreachable', no: 'Node is reachable' },
  pipeline_crashed: { yes: 'Pipeline has crashed', no: 'Pipeline has not crashed' },
};

/** Has no amount: its threshold is 1, as it is so or not. */
export const isFact = (metric: Metric): boolean => FACTS[metric] !== undefined;

/** Behind the number: ` %` or `/s`. */
export const unitOf = (metric: Metric): string => AMOUNTS[metric]?.unit ?? '';

/** What rules on the metric look at, one by one. */
export function watchedNoun(metric: Metric): { one: string; many: string } {
  if (metric === 'error_rate' || metric === 'discarded_rate')
    return { one: 'deployed pipeline', many: 'deployed pipelines' };
  if (metric === 'pipeline_crashed') return { one: 'pipeline on a node', many: 'pipelines on nodes' };
  return { one: 'node', many: 'nodes' };
}

/** `90 %`, `0.25/s`; empty for a metric that is so or not. */
export const amountText = (metric: Metric, value: number, digits = 6): string => {
  if (isFact(metric)) return '';
  return `${value.toLocaleString('en', { maximumFractionDigits: digits })}${unitOf(metric)}`;
};

const COMPARED: Record<AlertRule['condition'], string> = { gt: 'above', lt: 'below', eq: 'exactly' };

function holds({ condition, threshold }: Rule, value: number): boolean {
  if (condition === 'gt') return value > threshold;
  return condition === 'lt' ? value < threshold : value === threshold;
}

/** A value that is 0 or 1 never meets the condition. */
export const isNeverMet = (rule: Rule): boolean => isFact(rule.metric) && !holds(rule, 1) && !holds(rule, 0);

/** Short times stay in seconds, as they are written in the manifest. */
function during(seconds: number): string {
  if (seconds === 0) return '';
  return ` for ${seconds < 120 ? `${seconds} s` : formatDuration(seconds)}`;
}

/** `above 90 %`; empty for a metric that is so or not. */
export const limitText = ({ metric, condition, threshold }: Omit<Rule, 'durationSeconds'>): string =>
  isFact(metric) ? '' : `${COMPARED[condition]} ${amountText(metric, threshold)}`;

/** `CPU usage above 90 % for 60 s`. */
export function ruleText(rule: Rule): string {
  const fact = FACTS[rule.metric];
  if (fact) {
    const [whenSo, whenNot] = [holds(rule, 1), holds(rule, 0)];
    if (whenSo !== whenNot) return `${whenSo ? fact.yes : fact.no}${during(rule.durationSeconds)}`;
    return `${fact.yes}: ${whenSo ? 'always met' : 'never met'}, as it is 0 or 1`;
  }
  const { name, unit } = AMOUNTS[rule.metric] ?? { name: rule.metric, unit: '' };
  const amount = rule.threshold.toLocaleString('en', { maximumFractionDigits: 6 });
  return `${name} ${COMPARED[rule.condition]} ${amount}${unit}${during(rule.durationSeconds)}`;
}
