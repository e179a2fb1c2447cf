/** An e-mail of text and HTML. What it shows of names and sentences is text, never markup. */
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

const MAX_SUBJECT = 200;

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

export function renderEmail(message: Message): Rendered {
  const headline = headlineOf(message);
  const { lines, more } = linesOf(message, message.notices.length);
  const facts = factsOf(message);
  const link = linkTo(message.baseUrl, firstOf(message));
  const all = more ? [...lines, more] : lines;
  const text = [
    headline,
    '',
    ...all.map((line) => `- ${line}`),
    '',
    ...facts.map(([name, value]) => `${name}: ${value}`),
    '',
    link,
    '',
  ].join('\n');
  const html = `<!doctype html><html><body style="font-family:sans-serif">
<h2 style="font-size:18px">${escapeHtml(headline)}</h2>
<ul>${all.map((line) => `<li>${escapeHtml(line)}</li>`).join('')}</ul>
<table>${facts.map(([name, value]) => `<tr><th align="left">${name}</th><td>${escapeHtml(value)}</td></tr>`).join('')}</table>
<p><a href="${escapeHtml(link)}">Open in Headgate</a></p>
</body></html>
`;
  return { type: 'email', subject: shorten(`[Headgate] ${headline}`, MAX_SUBJECT), text, html };
}
