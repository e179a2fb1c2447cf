/** Opsgenie's alert API v2: an alert is created, and closed, by the alias of its rule. */
import {
  firstOf,
  headlineOf,
  linesOf,
  linkTo,
  type Message,
  oneLine,
  type Rendered,
  shorten,
} from './message.ts';
import { closesIncident, incidentKey, stillOpen } from './pagerduty.ts';

/** Of the fields `message`, `description`, `entity` and a tag. */
const LIMITS = { message: 130, description: 15_000, entity: 512, tag: 50 };

export function renderOpsgenie(message: Message): Rendered {
  const alias = incidentKey(message);
  if (closesIncident(message))
    return {
      type: 'http',
      path: `/${encodeURIComponent(alias)}/close?identifierType=alias`,
      body: JSON.stringify({ source: 'Headgate', note: shorten(headlineOf(message), 1_000) }),
    };
  const first = firstOf(message);
  const { lines, more } = linesOf(message, message.notices.length);
  const description = [...lines, ...(more ? [more] : []), '', linkTo(message.baseUrl, first)].join('\n');
  return {
    type: 'http',
    body: JSON.stringify({
      message: shorten(`${headlineOf(message)}${stillOpen(message)}`, LIMITS.message),
      alias,
      description: shorten(description, LIMITS.description),
      entity: shorten(
        oneLine(first.node?.name ?? first.pipeline?.name ?? first.environment.name),
        LIMITS.entity,
      ),
      source: 'Headgate',
      priority: message.kind === 'test' ? 'P5' : 'P3',
      tags: [first.metric, shorten(oneLine(first.environment.name), LIMITS.tag)],
      details: { team: first.team.name, environment: first.environment.name, rule: first.ruleName },
    }),
  };
}
