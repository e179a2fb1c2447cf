/** Slack's incoming webhooks: blocks, and a text for notifications of phones. */
import {
  factsOf,
  firstOf,
  headlineOf,
  linesOf,
  linkTo,
  type Message,
  type Rendered,
  shorten,
} from './message.ts';

/** A section has at most 3,000 characters. */
const MAX_SECTION = 2_900;
const MAX_LINES = 15;
/** Of one line, so that 15 fit. Escaping may lengthen it. */
const MAX_LINE = 180;

const ICONS = { firing: ':red_circle:', resolved: ':large_green_circle:', test: ':bell:' } as const;

/** https://docs.slack.dev/messaging/formatting-message-text#escaping: these three control mentions and links. */
const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } });

export function renderSlack(message: Message): Rendered {
  const headline = escapeSlack(shorten(headlineOf(message), 250));
  const { lines, more } = linesOf(message, MAX_LINES);
  const list: string[] = [];
  for (const line of lines) {
    const next = `• ${escapeSlack(shorten(line, MAX_LINE))}`;
    if ([...list, next].join('\n').length > MAX_SECTION) break;
    list.push(next);
  }
  if (more) list.push(more);
  const facts = factsOf(message).map(([name, value]) => `*${name}:* ${escapeSlack(shorten(value, 150))}`);
  return {
    type: 'http',
    body: JSON.stringify({
      text: headline,
      blocks: [
        section(`${ICONS[message.kind]} *${headline}*`),
        section(list.join('\n')),
        { type: 'context', elements: [{ type: 'mrkdwn', text: facts.join('   ') }] },
        section(`<${escapeSlack(linkTo(message.baseUrl, firstOf(message)))}|Open in Headgate>`),
      ],
    }),
  };
}
