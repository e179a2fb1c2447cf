/** An adaptive card in the envelope that workflows of Microsoft Teams take ("when a Teams webhook request is received"). */
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

/** A message has at most 28 KB. */
const MAX_LINES = 15;
const MAX_LINE = 300;

const COLORS = { firing: 'Attention', resolved: 'Good', test: 'Accent' } as const;

/** Texts of a card are Markdown: a name must not become a link. */
const escapeMarkdown = (text: string): string => text.replaceAll(/[\\[\]*_~`<>]/g, '\\$&');

export function renderTeams(message: Message): Rendered {
  const { lines, more } = linesOf(message, MAX_LINES);
  const headline = headlineOf(message);
  const list = [
    ...lines.map((line) => `- ${escapeMarkdown(shorten(line, MAX_LINE))}`),
    ...(more ? [more] : []),
  ];
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    fallbackText: escapeMarkdown(shorten(headline, MAX_LINE)),
    body: [
      {
        ...{ type: 'TextBlock', size: 'Large', weight: 'Bolder', wrap: true },
        color: COLORS[message.kind],
        text: escapeMarkdown(shorten(headline, MAX_LINE)),
      },
      { type: 'TextBlock', wrap: true, text: list.join('\n') },
      {
        type: 'FactSet',
        facts: factsOf(message).map(([title, value]) => ({
          title,
          value: escapeMarkdown(shorten(value, 150)),
        })),
      },
    ],
    actions: [
      { type: 'Action.OpenUrl', title: 'Open in Headgate', url: linkTo(message.baseUrl, firstOf(message)) },
    ],
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return {
    type: 'http',
    body: JSON.stringify({
      type: 'message',
      attachments: [{ contentType, contentUrl: null, content: card }],
    }),
  };
}
