/** Open alerts as problems of an environment, beside what is derived from its state. Pure. */
import type { Problem } from '../../../schemas/api/insight/dashboard.ts';
import type { AlertMetric } from '../../../schemas/manifests/alert-rule.ts';

export interface OpenAlert {
  id: string;
  metric: AlertMetric;
  ruleName: string;
  message: string;
  status: 'firing' | 'acknowledged';
  acknowledgedBy: string | null;
  openedAt: Date;
  /** Further nodes on which the same rule finds the same of the pipeline. */
  others: number;
}

export interface OpenAlerts {
  /** The worst; `total` counts all. */
  listed: readonly OpenAlert[];
  total: number;
  /** Nodes whose silence, and pipelines whose crash, is an alert: neither is a problem a second time. */
  nodeIds: readonly string[];
  pipelineIds: readonly string[];
}

export const NO_ALERTS: OpenAlerts = { listed: [], total: 0, nodeIds: [], pipelineIds: [] };

/** On the scale of the problems that are derived. */
export const ALERT_HARM: Readonly<Record<AlertMetric, number>> = {
  pipeline_crashed: 92,
  node_unreachable: 80,
  discarded_rate: 75,
  error_rate: 62,
  disk_usage: 58,
  memory_usage: 52,
  cpu_usage: 50,
};
/** Somebody looks after it. */
export const ACKNOWLEDGED_HARM = -30;

export const alertProblems = (alerts: readonly OpenAlert[], now: number): Problem[] =>
  alerts.map((alert) => {
    const isAcknowledged = alert.status === 'acknowledged';
    return {
      ...{ key: `alert-${alert.id}`, kind: 'alert', id: alert.id, path: null, line: null },
      tone: isAcknowledged ? 'held' : 'failed',
      title: alert.others === 0 ? alert.message : `${alert.message}, and on ${othersText(alert.others)}`,
      note: noteOf(alert, now),
      harm: ALERT_HARM[alert.metric] + (isAcknowledged ? ACKNOWLEDGED_HARM : 0),
    };
  });

const othersText = (count: number): string => `${count} more ${count === 1 ? 'node' : 'nodes'}`;

function noteOf({ ruleName, status, acknowledgedBy, openedAt }: OpenAlert, now: number): string {
  const since = `Rule ${ruleName}, for ${durationText(now - openedAt.getTime())}`;
  return status === 'acknowledged' ? `${since}; acknowledged by ${acknowledgedBy ?? 'somebody'}` : since;
}

const MINUTE_MS = 60_000;
const UNITS = [
  ['d', 1_440],
  ['h', 60],
  ['min', 1],
] as const;

/** The largest unit. */
function durationText(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  const [unit, size] = UNITS.find(([, length]) => minutes >= length) ?? ['min', 1];
  return minutes < 1 ? 'less than a minute' : `${Math.floor(minutes / size)} ${unit}`;
}
