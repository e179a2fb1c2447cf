/**
 * PagerDuty's Events API v2. One rule is one incident: it is triggered as long as any alert of the rule is open, and resolved
 * with the last one. The routing key is added when the message is sent.
 */
import { firstOf, headlineOf, linesOf, linkTo, type Message, type Rendered, shorten } from './message.ts';

const MAX_SUMMARY = 1_024;
const CRITICAL: ReadonlySet<string> = new Set(['node_unreachable', 'pipeline_crashed']);

/** Names the incident. A test has one of its own, so that it does not end another. */
export const incidentKey = (message: Message): string =>
  message.kind === 'test' ? `headgate-test-${message.id}` : `headgate-${firstOf(message).ruleId}`;

/** Whether this message leaves nothing open of its rule. */
export const closesIncident = ({ kind, open }: Message): boolean => kind === 'resolved' && open === 0;

/** Of a message after which others stay open. */
export const stillOpen = ({ kind, open }: Message): string =>
  kind === 'resolved' && open > 0 ? `; ${open} still firing` : '';

export function renderPagerDuty(message: Message): Rendered {
  const first = firstOf(message);
  const dedup_key = incidentKey(message);
  if (closesIncident(message))
    return { type: 'http', body: JSON.stringify({ event_action: 'resolve', dedup_key }) };
  const href = linkTo(message.baseUrl, first);
  const { lines, more } = linesOf(message, message.notices.length);
  const severity = message.kind === 'test' ? 'info' : CRITICAL.has(first.metric) ? 'critical' : 'error';
  return {
    type: 'http',
    body: JSON.stringify({
      event_action: 'trigger',
      dedup_key,
      client: 'Headgate',
      client_url: href,
      links: [{ href, text: 'Open in Headgate' }],
      payload: {
        summary: shorten(`${headlineOf(message)}${stillOpen(message)}`, MAX_SUMMARY),
        source: first.node?.name ?? first.environment.name,
        severity,
        timestamp: first.at.toISOString(),
        component: first.pipeline?.name ?? first.metric,
        group: first.environment.name,
        class: first.metric,
        custom_details: {
          team: first.team.name,
          environment: first.environment.name,
          alerts: more ? [...lines, more] : lines,
        },
      },
    }),
  };
}
