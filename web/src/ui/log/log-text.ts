/** What a line of a log looks like: without a terminal's colours, and whether it can be unfolded. */

const ESC = String.fromCharCode(27);
const BEL = String.fromCharCode(7);

/** Colours and cursor moves (CSI), titles and links (OSC, ended by BEL or ESC \), and two-character escapes. */
const ANSI = new RegExp(
  `${ESC}(?:\\[[0-9;:?]*[ -/]*[@-~]|\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)?|[@-Z\\\\^_])`,
  'g',
);

/** The text without escape sequences; a lone carriage return, as progress bars write it, becomes a space. */
export const plainText = (line: string): string =>
  (line.includes(ESC) ? line.replace(ANSI, '') : line).replace(/\r(?!\n)/g, ' ').trimEnd();

/** Cheap enough for every line: only a click parses. */
export const mayBeJson = (text: string): boolean =>
  (text.startsWith('{') && text.endsWith('}')) || (text.startsWith('[{') && text.endsWith(']'));

/** Indented by two spaces; null where it only looked like JSON. */
export function prettyJson(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}

const clock = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});
const day = new Intl.DateTimeFormat('en-GB', { day: '2-digit', month: 'short' });

/** `14:03:07.512`, with the day in front when it is not today. */
export function lineTime(at: Date, now: Date): string {
  const time = clock.format(at);
  return at.toDateString() === now.toDateString() ? time : `${day.format(at)} ${time}`;
}
