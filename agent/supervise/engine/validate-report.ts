/** Reads the report that the engine's `validate` prints on stdout: marks `√`, `~` and `x`, titles over dashed lines. */

/** One entry with the mark `x`. */
export interface Finding {
  /** Readable on its own, on one line, with component and place. */
  text: string;
  /** Where the text names one. */
  component: string | undefined;
}

const MOST_FINDINGS = 20;
const FINDING_CHARS = 1_000;
const REPORT_CHARS = 3_500;
/** Names of a list such as "expected one of …"; the whole list of component types has more than a hundred. */
const LISTED_NAMES = 10;

const MARK = /^([√~x]) /;
const RULE = /^-{4,}$/;

/** Every finding once. Of stderr only the errors count, and only where stdout has none. */
export function parseReport(stdout: readonly string[], stderr: readonly string[] = []): Finding[] {
  const entries = entriesOf(stdout);
  const texts = entries.length > 0 ? entries.map(describe) : stderr.flatMap(loggedError);
  const unique = [...new Set(texts.filter((text) => text !== ''))];
  return unique.slice(0, MOST_FINDINGS).map((text) => ({
    text: shorten(text, FINDING_CHARS),
    component: componentOf(text),
  }));
}

export function joinFindings(findings: readonly Finding[]): string {
  return shorten(findings.map(({ text }) => text).join('; '), REPORT_CHARS);
}

/** Lines of each `x` entry, without its mark. A message may span lines, so an entry ends where the next thing begins. */
function entriesOf(lines: readonly string[]): string[][] {
  const entries: string[][] = [];
  let open: string[] | undefined;
  for (const line of lines) {
    const mark = MARK.exec(line)?.[1];
    if (RULE.test(line)) {
      // The line before it was a title.
      open?.pop();
      open = undefined;
    } else if (mark !== undefined) {
      open = mark === 'x' ? [line.slice(2)] : undefined;
      if (open) entries.push(open);
    } else open?.push(line);
  }
  return entries;
}

function describe(lines: readonly string[]): string {
  const vrl = lines.findIndex((line) => /^error(\[E\d+\])?:/.test(line));
  if (vrl > 0) return `${lines[0]?.trim()} ${describeVrl(lines.slice(vrl))}`;
  const words = lines.map((line) => line.trim()).filter((line) => line !== '');
  const place = /^in `(.+)`$/.exec(words.at(-1) ?? '')?.[1];
  const text = shortenList((place ? words.slice(0, -1) : words).join(' '));
  return place ? `${place}: ${text}` : text;
}

/** `error[E103]: …` with the place in the program and what the compiler says beside its excerpt; not the excerpt. */
function describeVrl(lines: readonly string[]): string {
  const errors: { title: string; labels: string[] }[] = [];
  for (const line of lines) {
    const title = /^(?:error(?:\[E\d+\])?|warning): .*$/.exec(line)?.[0];
    if (title !== undefined) errors.push({ title, labels: [] });
    const error = errors.at(-1);
    const place = /┌─ :(\d+):(\d+)/.exec(line);
    if (!error) continue;
    if (place) error.title += ` at line ${place[1]}, column ${place[2]} of the program`;
    else if (/^\s*│/.test(line)) {
      const label = shortenList(line.replace(/^[\s│^-]+/, '').trim());
      if (error.labels.at(-1)?.endsWith(':')) error.labels.push(`${error.labels.pop()} ${label}`);
      else if (label !== '') error.labels.push(label);
    }
  }
  return errors.map(({ title, labels }) => [title, labels.join(', ')].filter(Boolean).join(': ')).join('; ');
}

const ERROR_LINE = /^\S+Z\s+ERROR (?:[^:]*\{.*\}: ?)?\S+?: (.*)$/;

function loggedError(line: string): string[] {
  const text = ERROR_LINE.exec(line)?.[1] ?? (line.startsWith('error: ') ? line.slice(7) : undefined);
  return text === undefined ? [] : [text.replace(/ internal_log_rate_limit=false$/, '').trim()];
}

function componentOf(text: string): string | undefined {
  return (
    /^(?:Source|Transform|Sink|Enrichment table) "([^"]+)"/.exec(text)?.[1] ??
    /^(?:sources|transforms|sinks|enrichment_tables)\.([^.:\s]+)/.exec(text)?.[1]
  );
}

function shortenList(text: string): string {
  return text.replace(/expected one of (`[^`]*`(?:, (?:or )?`[^`]*`)+)/, (whole, list: string) => {
    const names = list.split(/, (?:or )?/);
    if (names.length <= LISTED_NAMES) return whole;
    return `expected one of ${names.slice(0, LISTED_NAMES).join(', ')} and ${names.length - LISTED_NAMES} more`;
  });
}

const shorten = (text: string, chars: number) =>
  text.length > chars ? `${text.slice(0, chars - 1)}…` : text;
