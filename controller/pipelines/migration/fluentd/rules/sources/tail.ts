/** `in_tail`: follows files. */
import type { Section } from '../../section/section.ts';
import { translateTimeFormat } from '../../text/time-format.ts';
import { escapeDollar, stringContent } from '../../text/vrl.ts';
import type { Draft } from '../draft.ts';
import { parserOf } from '../parsers/index.ts';
import { addSource, copyField, parsedMessage, staticTag, tagParam } from './source-event.ts';

const IGNORED = [
  ...[
    'pos_file',
    'pos_file_compaction_interval',
    'read_lines_limit',
    'enable_watch_timer',
    'enable_stat_watcher',
  ],
  ...['open_on_every_update', 'skip_refresh_on_startup', 'ignore_repeated_permission_error', 'path_timezone'],
  ...['follow_inodes', 'glob_policy', 'read_bytes_limit_per_second', 'encoding', 'emit_unmatched_lines'],
];

const GLOB = /[*?[\]{}]/;

export function tailRule(section: Section, draft: Draft): void {
  section.ignore(...IGNORED);
  const { include, exclude } = pathsOf(section, draft);
  if (include.length === 0) {
    draft.open('path is missing.', section.line);
    return;
  }
  const code = parserOf(section, draft, {});
  if (!code) return;
  const readFromHead = section.bool('read_from_head', false);
  const lineBytes = section.size('max_line_size');
  const recent = section.time('limit_recently_modified');
  const charset = section.plain('from_encoding');
  section.ignore('rotate_wait');
  const config = {
    include,
    ...(exclude.length > 0 ? { exclude } : {}),
    read_from: readFromHead ? 'beginning' : 'end',
    ...refresh(section),
    ...(lineBytes === undefined ? {} : { max_line_bytes: lineBytes }),
    ...(recent === undefined ? {} : { ignore_older_secs: Math.ceil(recent) }),
    ...(charset === undefined ? {} : { encoding: { charset: charset.toLowerCase() } }),
    ...multiline(section, draft, code.firstLine),
  };
  if (section.has('pos_file')) {
    draft.info(
      'The engine has positions of its own: at its first start it reads from where read_from says, not from pos_file.',
      section.lineOf('pos_file'),
    );
  }
  const lines = [
    ...parsedMessage(code, section.bool('emit_unmatched_lines', false)),
    ...copyField(section.plain('path_key'), 'string!(.file)'),
  ];
  addSource(draft, { type: 'file', config, lines, tag: tagOf(section, draft, include) });
}

/** New files are looked for; the engine does so every second. */
function refresh(section: Section): Record<string, unknown> {
  const seconds = section.time('refresh_interval');
  return seconds === undefined || seconds < 1 ? {} : { glob_minimum_cooldown_ms: Math.round(seconds * 1000) };
}

function pathsOf(section: Section, draft: Draft): { include: string[]; exclude: string[] } {
  const delimiter = section.plain('path_delimiter') ?? ',';
  const split = (text: string) => text.split(delimiter).map((path) => path.trim());
  const include = split(section.text('path') ?? '').filter((path) => path !== '');
  const exclude = (section.array('exclude_path') ?? []).map(escapeDollar);
  const line = section.lineOf('path');
  return {
    include: include.map((path) => datedPath(path, line, draft)),
    exclude: exclude.map((path) => datedPath(path, line, draft)),
  };
}

/** A path with a date is a new one each day; the engine follows whatever fits a pattern. */
function datedPath(path: string, line: number, draft: Draft): string {
  if (!path.includes('%')) return path;
  if (translateTimeFormat(path, 'format') === null) return path;
  draft.difference('The date in the path became *: files of all dates are followed.', line, 'small');
  return path.replace(/(?:%-?[A-Za-z][-_.]?)+/g, '*');
}

function multiline(section: Section, draft: Draft, firstLine: string | null): Record<string, unknown> {
  const seconds = section.time('multiline_flush_interval');
  if (firstLine === null) return {};
  if (seconds === undefined) {
    draft.difference(
      'A record of several lines ends after 5 s without a further line; Fluentd waits for the next record.',
      section.line,
      'small',
    );
  }
  const start = escapeDollar(firstLine);
  return {
    multiline: {
      ...{ mode: 'halt_before', start_pattern: start, condition_pattern: start },
      timeout_ms: Math.round((seconds ?? 5) * 1000),
    },
  };
}

/** `*` in a tag stands for the path of the file with dots for slashes. */
function tagOf(section: Section, draft: Draft, include: readonly string[]): string {
  const param = tagParam(section);
  if (!param?.value.includes('*')) return staticTag(section, draft);
  const [prefix = '', suffix = ''] = param.value.split('*');
  const [path = ''] = include;
  const isOneFile =
    include.length === 1 && !GLOB.test(path) && !path.includes('$') && param.embeddedRuby.length === 0;
  draft.tags = [
    isOneFile ? [prefix + dotted(path) + suffix] : [prefix, null, suffix].filter((part) => part !== ''),
  ];
  if (param.embeddedRuby.length > 0) draft.tags = [[null]];
  const [vrlPrefix = '', vrlSuffix = ''] = section.vrlContentOf(param).split('*');
  if (isOneFile) return `"${stringContent(prefix + dotted(path) + suffix)}"`;
  const file = `replace(replace(string!(.file), r'[/.]+', "."), r'^\\.', "")`;
  return `"${vrlPrefix}" + ${file}${vrlSuffix === '' ? '' : ` + "${vrlSuffix}"`}`;
}

const dotted = (path: string): string => path.replace(/[/.]+/g, '.').replace(/^\./, '');
