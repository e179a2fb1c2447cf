/**
 * Alertmanager's API v2. Alertmanager forgets an alert that is not sent again before its end: the end of one that fires is
 * some hours ahead, and the loop repeats it every hour. Labels identify an alert, so they hold nothing that may change.
 */
import type { AlertNotice } from '../notice.ts';
import { linkTo, type Message, oneLine, type Rendered } from './message.ts';

export const ALERTS_PATH = '/api/v2/alerts';
/** More than all retries of one delivery take. */
const AHEAD_MS = 4 * 3_600_000;
const TEST_MS = 5 * 60_000;

export function renderAlertmanager(message: Message): Rendered {
  const alerts = message.notices.map((notice) => ({
    labels: labelsOf(notice),
    annotations: { summary: notice.message, description: oneLine(notice.message) },
    startsAt: notice.firedAt.toISOString(),
    endsAt: endOf(message, notice).toISOString(),
    generatorURL: linkTo(message.baseUrl, notice),
  }));
  return { type: 'http', body: JSON.stringify(alerts) };
}

function endOf({ kind, renderedAt }: Message, notice: AlertNotice): Date {
  // Alertmanager refuses an alert that ends before it starts.
  if (kind === 'resolved') return notice.at < notice.firedAt ? notice.firedAt : notice.at;
  return new Date(renderedAt.getTime() + (kind === 'test' ? TEST_MS : AHEAD_MS));
}

function labelsOf({
  ruleName,
  environment,
  team,
  node,
  pipeline,
  metric,
}: AlertNotice): Record<string, string> {
  return {
    alertname: ruleName,
    environment: environment.name,
    team: team.name,
    metric,
    // Nodes may share a name.
    ...(node ? { node: node.name, node_id: node.id } : {}),
    ...(pipeline ? { pipeline: pipeline.name } : {}),
  };
}
