/**
 * The part of Markdown that people and Headgate write in pull requests, as blocks: after CommonMark
 * (https://spec.commonmark.org/0.31.2/) with tables. What is not known stays the text that it is; nothing becomes HTML.
 */
export type Block =
  | { kind: 'heading' | 'paragraph' | 'quote'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'list'; ordered: boolean; items: string[] }
  | { kind: 'table'; head: string[]; rows: string[][] };

export type Inline =
  | { kind: 'text' | 'code' | 'strong' | 'emphasis'; text: string }
  | { kind: 'link'; text: string; href: string };

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$/;
const BULLET = /^\s*[-*+]\s+(.*)$/;
const NUMBERED = /^\s*\d{1,9}[.)]\s+(.*)$/;
const QUOTE = /^ {0,3}>\s?(.*)$/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const COMMENT = /<!--[\s\S]*?-->/g;

const startsBlock = (line: string): boolean =>
  line.trim() === '' || [FENCE, HEADING, BULLET, NUMBERED, QUOTE].some((start) => start.test(line));

export function blocksOf(markdown: string): Block[] {
  const lines = markdown.replaceAll('\r\n', '\n').replace(COMMENT, '').split('\n');
  const blocks: Block[] = [];
  let at = 0;
  /** Lines as long as they belong together; the first one always does. */
  const take = (belongs: (line: string) => boolean): string[] => {
    const taken = [lines[at] ?? ''];
    for (at += 1; at < lines.length && belongs(lines[at] ?? ''); at += 1) taken.push(lines[at] ?? '');
    return taken;
  };
  while (at < lines.length) {
    const line = lines[at] ?? '';
    const fence = FENCE.exec(line)?.[1];
    if (line.trim() === '') at += 1;
    else if (fence) {
      const [, ...text] = take((next) => !next.trim().startsWith(fence));
      at += 1;
      blocks.push({ kind: 'code', text: text.join('\n') });
    } else if (HEADING.test(line)) {
      blocks.push({ kind: 'heading', text: HEADING.exec(line)?.[1] ?? '' });
      at += 1;
    } else if (QUOTE.test(line)) {
      const quoted = take((next) => QUOTE.test(next)).map((each) => QUOTE.exec(each)?.[1] ?? '');
      blocks.push({ kind: 'quote', text: quoted.join('\n') });
    } else if (BULLET.test(line) || NUMBERED.test(line)) blocks.push(listOf(take, BULLET.test(line)));
    else if (
      line.includes('|') &&
      TABLE_RULE.test(lines[at + 1] ?? '') &&
      (lines[at + 1] ?? '').includes('-')
    ) {
      const [head = '', , ...rows] = take((next) => next.includes('|'));
      blocks.push({ kind: 'table', head: cellsOf(head), rows: rows.map(cellsOf) });
    } else blocks.push({ kind: 'paragraph', text: take((next) => !startsBlock(next)).join('\n') });
  }
  return blocks;
}

/** One level deep; a line without a mark goes on with the entry before it. */
function listOf(take: (belongs: (line: string) => boolean) => string[], bulleted: boolean): Block {
  const mark = bulleted ? BULLET : NUMBERED;
  const other = bulleted ? NUMBERED : BULLET;
  const lines = take((next) => mark.test(next) || (!startsBlock(next) && !other.test(next)));
  const items: string[] = [];
  for (const line of lines) {
    const entry = mark.exec(line)?.[1];
    if (entry === undefined) items.push(`${items.pop() ?? ''}\n${line.trim()}`);
    else items.push(entry);
  }
  return { kind: 'list', ordered: !bulleted, items };
}

/** Cells of a row; `\|` is a bar inside of one. */
const cellsOf = (row: string): string[] =>
  row
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));

const INLINE =
  /\\([!-/:-@[-`{-~])|(`+)(.+?)\2(?!`)|\*\*(\S(?:.*?\S)??)\*\*|(?<![\w*])([*_])(\S(?:.*?\S)??)\5(?![\w*])|!?\[([^\]\n]*)\]\(([^()\s]+)\)|<?(https?:\/\/[^\s<>]+[^\s<>.,;:!?)])>?/gs;

export function inlinesOf(text: string): Inline[] {
  const parts: Inline[] = [];
  const say = (part: Inline): void => {
    const last = parts.at(-1);
    if (part.kind === 'text' && last?.kind === 'text') last.text += part.text;
    else if (part.text !== '') parts.push(part);
  };
  let done = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, escaped, , code, strong, , emphasis, linked, href, bare] = match;
    say({ kind: 'text', text: text.slice(done, match.index) });
    done = match.index + whole.length;
    if (escaped !== undefined) say({ kind: 'text', text: escaped });
    else if (code !== undefined) say({ kind: 'code', text: code });
    else if (strong !== undefined) say({ kind: 'strong', text: unescaped(strong) });
    else if (emphasis !== undefined) say({ kind: 'emphasis', text: unescaped(emphasis) });
    else if (bare !== undefined) say({ kind: 'link', text: bare, href: bare });
    else if (isWeb(href)) say({ kind: 'link', text: unescaped(linked || href), href });
    else say({ kind: 'text', text: whole });
  }
  say({ kind: 'text', text: text.slice(done) });
  return parts;
}

const unescaped = (text: string): string => text.replace(/\\([!-/:-@[-`{-~])/g, '$1');

/** A script or a file of this site is no link that somebody else may put on a page. */
const isWeb = (href: string | undefined): href is string =>
  href !== undefined && URL.canParse(href) && ['https:', 'http:'].includes(new URL(href).protocol);
