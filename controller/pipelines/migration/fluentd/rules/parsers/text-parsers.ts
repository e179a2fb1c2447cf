/** Parsers of JSON, of separated values, and of nothing at all. */
import type { Section } from '../../section/section.ts';
import { vrlString, vrlValue } from '../../text/vrl.ts';
import type { Draft } from '../draft.ts';
import { conversionLines, indent, type ParserCode, type ParserDefaults, timeLines } from './parser-code.ts';

const finish = (section: Section, draft: Draft, defaults: ParserDefaults): string[] => [
  ...timeLines(section, draft, defaults),
  ...conversionLines(section, draft),
];

function codeOf(parse: readonly string[], after: readonly string[]): ParserCode {
  const guarded = after.length === 0 ? [] : ['if failure == null {', ...indent(after), '}'];
  return { firstLine: null, lines: ['event_time = now()', ...parse, ...guarded] };
}

export const jsonParser = (section: Section, draft: Draft, defaults: ParserDefaults): ParserCode =>
  codeOf(
    ['record, failure = object(parse_json(text) ?? null)'],
    finish(section, draft, { timeType: 'float', ...defaults }),
  );

export function noneParser(section: Section, draft: Draft): ParserCode {
  section.ignore('estimate_current_event', 'time_key', 'time_format', 'keep_time_key');
  const key = section.plain('message_key') ?? 'message';
  return codeOf([`record = {${vrlString(key)}: text}`, 'failure = null'], conversionLines(section, draft));
}

/** `keys` names the columns. */
function columns(section: Section, draft: Draft): string[] | null {
  const keys = section.array('keys');
  if (keys && keys.length > 0) return keys;
  draft.open('keys is missing, so the columns have no names.', section.line);
  return null;
}

const recordOf = (keys: readonly string[]): string =>
  `record = {${keys.map((key, at) => `${vrlString(key)}: values[${at}]`).join(', ')}}`;

export function csvParser(section: Section, draft: Draft, defaults: ParserDefaults): ParserCode | null {
  section.ignore('parser_type', 'parser_engine');
  const keys = columns(section, draft);
  const delimiter = section.plain('delimiter') ?? ',';
  if (!keys) return null;
  return codeOf(
    [
      'record = {}',
      `values, failure = parse_csv(text, delimiter: ${vrlString(delimiter)})`,
      `if failure == null { ${recordOf(keys)} }`,
    ],
    finish(section, draft, { timeKey: null, ...defaults }),
  );
}

export function tsvParser(section: Section, draft: Draft, defaults: ParserDefaults): ParserCode | null {
  const keys = columns(section, draft);
  const delimiter = section.plain('delimiter') ?? '\t';
  if (!keys) return null;
  return codeOf(
    [
      `values = split(text, ${vrlString(delimiter)}, limit: ${keys.length})`,
      recordOf(keys),
      'failure = null',
    ],
    finish(section, draft, { timeKey: null, ...defaults }),
  );
}

export function ltsvParser(section: Section, draft: Draft, defaults: ParserDefaults): ParserCode {
  const delimiter = section.plain('delimiter') ?? '\t';
  const label = section.plain('label_delimiter') ?? ':';
  if (section.has('delimiter_pattern')) {
    draft.difference(
      'Fields are separated by one text, not by delimiter_pattern.',
      section.lineOf('delimiter_pattern'),
    );
  }
  return codeOf(
    [
      'record = {}',
      // parse_key_value would take quotes and blanks off, and make lists of names that come twice.
      `for_each(split(text, ${vrlString(delimiter)})) -> |_at, pair| {`,
      `  parts = split(pair, ${vrlString(label)}, limit: 2)`,
      '  name = string(parts[0]) ?? ""',
      '  if pair != "" { record = set!(record, [name], parts[1]) }',
      '}',
      'failure = null',
    ],
    finish(section, draft, defaults),
  );
}

export function keyValueParser(section: Section, draft: Draft, defaults: ParserDefaults): ParserCode {
  section.ignore('kv_delimiter', 'kv_char');
  return codeOf(
    ['record, failure = parse_key_value(text)'],
    finish(section, draft, { timeKey: null, ...defaults }),
  );
}

/** Patterns of grok have types behind a second colon; VRL converts by names of its own. */
export function grokParser(section: Section, draft: Draft, defaults: ParserDefaults): ParserCode | null {
  section.ignore('grok_name_key', 'grok_failure_key', 'custom_pattern_path', 'grok_pattern_series');
  const patterns = [section, ...section.children('grok')]
    .flatMap((part) => part.plain('grok_pattern', 'pattern') ?? [])
    .filter((pattern) => pattern !== '');
  if (patterns.length === 0) {
    draft.open('There is no grok_pattern.', section.line);
    return null;
  }
  if (section.has('custom_pattern_path')) {
    draft.difference(
      'Patterns in files of custom_pattern_path are not known to VRL.',
      section.lineOf('custom_pattern_path'),
      'large',
    );
  }
  const list = patterns.map((pattern) => pattern.replace(/(%\{\w+:[^:}]+):[^}]*\}/g, '$1}'));
  draft.difference(
    'Values that grok finds are texts; convert numbers where they are needed.',
    section.line,
    'small',
  );
  return codeOf(
    [`record, failure = object(parse_groks(text, patterns: ${vrlValue(list)}) ?? null)`],
    finish(section, draft, defaults),
  );
}
