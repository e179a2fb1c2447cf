/** The message of Standard Webhooks (https://www.standardwebhooks.com): `{type, timestamp, data}`. */
import type { AlertNotice } from '../notice.ts';
import { firstOf, linkTo, type Message, type Rendered } from './message.ts';

export function renderStandard(message: Message): Rendered {
  const { kind, total, notices, baseUrl } = message;
  const first = firstOf(message);
  const newest = notices.at(-1) ?? first;
  const data =
    total === 1
      ? alertData(first, baseUrl)
      : {
          ...alertData(first, baseUrl),
          events: notices.map((notice) => alertData(notice, baseUrl)),
          total,
        };
  return {
    type: 'http',
    body: JSON.stringify({
      type: kind === 'test' ? 'test' : `alert.${kind}`,
      timestamp: newest.at.toISOString(),
      data,
    }),
  };
}

export const alertData = (notice: AlertNotice, baseUrl: string) => ({
  eventId: notice.eventId,
  status: notice.status,
  ruleId: notice.ruleId,
  ruleName: notice.ruleName,
  metric: notice.metric,
  condition: notice.condition,
  threshold: notice.threshold,
  durationSeconds: notice.durationSeconds,
  value: notice.value,
  environment: notice.environment,
  team: notice.team,
  node: notice.node,
  pipeline: notice.pipeline,
  message: notice.message,
  at: notice.at.toISOString(),
  firedAt: notice.firedAt.toISOString(),
  link: linkTo(baseUrl, notice),
});
