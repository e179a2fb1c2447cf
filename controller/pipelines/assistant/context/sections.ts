/** A context is a list of sections with a title, cut to their size. Pure. */

export interface Section {
  title: string;
  text: string;
  /** Written by engines, nodes or events: it may hold anything, instructions too. */
  isData?: true;
  maxBytes: number;
}

/** Cuts at a line where there is one. */
export function cutTo(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text).subarray(0, maxBytes);
  // Half a character at the end becomes one of these.
  const whole = bytes.toString('utf8').replace(/\ufffd+$/, '');
  const line = whole.lastIndexOf('\n');
  return `${line > maxBytes / 2 ? whole.slice(0, line) : whole}\n… the rest is left out`;
}

/** Data cannot end its own frame. */
const frame = (text: string): string => text.replaceAll(/<(\/?)(data\b)/gi, '‹$1$2');

export function renderSections(sections: readonly Section[]): string {
  return sections
    .filter(({ text }) => text.trim() !== '')
    .map(({ title, text, isData, maxBytes }) => {
      const body = cutTo(text, maxBytes);
      return isData ? `## ${title}\n<data>\n${frame(body)}\n</data>` : `## ${title}\n${body}`;
    })
    .join('\n\n');
}
