/** Parsers by the name of their plugin. */
import type { Section } from '../../section/section.ts';
import type { Draft } from '../draft.ts';
import { indent, type ParserCode, type ParserDefaults } from './parser-code.ts';
import {
  apache2Parser,
  apacheErrorParser,
  criParser,
  multilineParser,
  nginxParser,
  regexpParser,
} from './regexp-parsers.ts';
import { syslogParser } from './syslog-parser.ts';
import {
  csvParser,
  grokParser,
  jsonParser,
  keyValueParser,
  ltsvParser,
  noneParser,
  tsvParser,
} from './text-parsers.ts';

type ParserRule = (section: Section, draft: Draft, defaults: ParserDefaults) => ParserCode | null;

export const PARSERS: Readonly<Record<string, ParserRule>> = {
  apache2: apache2Parser,
  apache: apache2Parser,
  apache_error: apacheErrorParser,
  cri: criParser,
  csv: csvParser,
  grok: grokParser,
  json: jsonParser,
  kv: keyValueParser,
  kv_pair: keyValueParser,
  ltsv: ltsvParser,
  multi_format: multiFormatParser,
  multiline: multilineParser,
  multiline_grok: grokParser,
  nginx: nginxParser,
  none: noneParser,
  regexp: regexpParser,
  syslog: (section, draft) => syslogParser(section, draft),
  tsv: tsvParser,
};

/** The parser of a plugin: its `<parse>`, or `format` beside it as before version 1. Null leaves the block open. */
export function parserOf(section: Section, draft: Draft, defaults: ParserDefaults): ParserCode | null {
  const parse = section.child('parse');
  if (parse)
    return parserBy(parse, parse.plugin || parse.plain('format') || defaults.type || '', draft, defaults);
  const format = section.plain('format');
  if (format === undefined && defaults.type === undefined) {
    draft.open('<parse> is missing.', section.line);
    return null;
  }
  return parserBy(section, format ?? defaults.type ?? '', draft, defaults);
}

function parserBy(section: Section, name: string, draft: Draft, defaults: ParserDefaults): ParserCode | null {
  if (name.startsWith('/')) return regexpParser(section, draft, defaults);
  const rule = PARSERS[name];
  if (rule) return rule(section, draft, defaults);
  draft.open(`The parser ${name} is not known; write what it does in VRL.`, section.line);
  return null;
}

/** Several `<pattern>`, of which the first that fits counts. */
function multiFormatParser(section: Section, draft: Draft, defaults: ParserDefaults): ParserCode | null {
  const codes = section
    .children('pattern')
    .map((pattern) => parserBy(pattern, pattern.plain('format') || pattern.plugin, draft, defaults));
  if (codes.length === 0) draft.open('There is no <pattern>.', section.line);
  if (codes.length === 0 || codes.some((code) => code === null)) return null;
  return {
    firstLine: null,
    lines: [
      'event_time = now()',
      'record = {}',
      'failure = "no pattern fits"',
      ...codes.flatMap((code) => ['if failure != null {', ...indent(code?.lines ?? []), '}']),
    ],
  };
}

export type { ParserCode } from './parser-code.ts';
