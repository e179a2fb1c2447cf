/** Parsers that are regular expressions: those of the user, and those that Fluentd has names for. */
import type { Section } from '../../section/section.ts';
import { splitRegexp, translateRegexp } from '../../text/regexp.ts';
import { vrlRegexp } from '../../text/vrl.ts';
import type { Draft } from '../draft.ts';
import { conversionLines, indent, type ParserCode, type ParserDefaults, timeLines } from './parser-code.ts';

const CLF_TIME = '%d/%b/%Y:%H:%M:%S %z';

/** In Rust's syntax, after the documentation of each parser. */
const APACHE2 =
  '^(?P<host>[^ ]*) [^ ]* (?P<user>[^ ]*) \\[(?P<time>[^\\]]*)\\] "(?P<method>\\S+)(?: +(?P<path>(?:[^"]|\\\\")*?)(?: +\\S*)?)?" (?P<code>[^ ]*) (?P<size>[^ ]*)(?: "(?P<referer>(?:[^"]|\\\\")*)" "(?P<agent>(?:[^"]|\\\\")*)")?$';
const NGINX =
  '^(?P<remote>[^ ]*) (?P<host>[^ ]*) (?P<user>[^ ]*) \\[(?P<time>[^\\]]*)\\] "(?P<method>\\S+)(?: +(?P<path>[^"]*?)(?: +\\S*)?)?" (?P<code>[^ ]*) (?P<size>[^ ]*)(?: "(?P<referer>[^"]*)" "(?P<agent>[^"]*)"(?:\\s+"?(?P<http_x_forwarded_for>[^"]*)"?)?)?$';
const APACHE_ERROR =
  '^\\[[^ ]* (?P<time>[^\\]]*)\\] \\[(?P<level>[^\\]]*)\\](?: \\[pid (?P<pid>[^\\]]*)\\])?(?: \\[client (?P<client>[^\\]]*)\\])? (?P<message>.*)$';
const CRI = '^(?P<time>[^ ]+) (?P<stream>stdout|stderr) (?P<logtag>[FP]) (?P<message>.*)$';

const OMIT_UNMATCHED =
  'record = compact(record, recursive: false, null: true, string: false, object: false, array: false)';

function regexpCode(source: string, more: readonly string[], isOptional: boolean): ParserCode {
  const after = [...(isOptional ? [OMIT_UNMATCHED] : []), ...more];
  return {
    firstLine: null,
    lines: [
      'event_time = now()',
      `record, failure = parse_regex(text, ${vrlRegexp(source)})`,
      // A block without lines is none in VRL.
      ...(after.length === 0 ? [] : ['if failure == null {', ...indent(after), '}']),
    ],
  };
}

const isOptional = (source: string): boolean => /\)[?*{]|\|/.test(source);

export function regexpParser(section: Section, draft: Draft, defaults: ParserDefaults): ParserCode | null {
  const expression = section.plain('expression') ?? section.plain('format') ?? '';
  const flags = `${section.bool('ignorecase', false) ? 'i' : ''}${section.bool('multiline', false) ? 'm' : ''}`;
  return fromExpression(section, draft, defaults, expression, flags);
}

function fromExpression(
  section: Section,
  draft: Draft,
  defaults: ParserDefaults,
  expression: string,
  moreFlags: string,
): ParserCode | null {
  const { body, flags } = splitRegexp(expression);
  const line = section.lineOf(section.has('expression') ? 'expression' : 'format');
  const translated = translateRegexp(`/${body}/${flags}${moreFlags}`);
  if ('problem' in translated) {
    draft.open(
      `The regular expression has ${translated.problem}, which VRL has no counterpart for; write it otherwise.`,
      line,
    );
    return null;
  }
  if (translated.names.length === 0) {
    draft.open('The regular expression has no named groups, so it makes no record.', line);
    return null;
  }
  const after = [...timeLines(section, draft, defaults), ...conversionLines(section, draft)];
  return regexpCode(translated.source, after, isOptional(translated.source));
}

export function multilineParser(section: Section, draft: Draft, defaults: ParserDefaults): ParserCode | null {
  const formats = Array.from({ length: 20 }, (_, at) => section.plain(`format${at + 1}`)).filter(
    (format) => format !== undefined,
  );
  section.ignore('unmatched_lines');
  const code = fromExpression(
    section,
    draft,
    defaults,
    `/${formats.map((format) => splitRegexp(format).body).join('')}/`,
    'm',
  );
  const first = section.plain('format_firstline');
  if (!code) return null;
  const translated = first === undefined ? null : translateRegexp(first);
  if (translated && 'problem' in translated) {
    draft.open(
      `format_firstline has ${translated.problem}, which has no counterpart.`,
      section.lineOf('format_firstline'),
    );
    return null;
  }
  return { ...code, firstLine: translated?.source ?? null };
}

export function apache2Parser(section: Section, draft: Draft): ParserCode {
  const after = [
    'for_each(["host", "user", "size", "referer", "agent"]) -> |_at, key| {',
    '  if get!(record, [key]) == "-" { record = set!(record, [key], null) }',
    '}',
    'if record.size != null { record.size = to_int(record.size) ?? 0 }',
    'record.code = to_int(record.code) ?? null',
    ...timeLines(section, draft, { timeFormat: CLF_TIME }),
    ...conversionLines(section, draft),
  ];
  return regexpCode(APACHE2, after, false);
}

export const nginxParser = (section: Section, draft: Draft): ParserCode =>
  regexpCode(
    NGINX,
    [...timeLines(section, draft, { timeFormat: CLF_TIME }), ...conversionLines(section, draft)],
    true,
  );

/** Fluentd reads this time by guess; Apache writes it as here, since 2.4 with fractions. */
export const apacheErrorParser = (section: Section, draft: Draft): ParserCode =>
  regexpCode(
    APACHE_ERROR,
    [
      ...timeLines(section, draft, { timeFormat: section.plain('time_format') ?? '%b %d %H:%M:%S.%N %Y' }),
      ...conversionLines(section, draft),
    ],
    true,
  );

/** Logs of containers as the Container Runtime Interface writes them. */
export function criParser(section: Section, draft: Draft): ParserCode {
  const merged = section.bool('merge_cri_fields', true);
  const after = [
    ...timeLines(section, draft, { timeFormat: '%Y-%m-%dT%H:%M:%S.%N%z' }),
    ...(merged ? [] : ['del(record.stream)', 'del(record.logtag)']),
    ...conversionLines(section, draft),
  ];
  return regexpCode(CRI, after, false);
}
