/** `parser`: parses one field of the record. */
import { EVENT_FIELD, TIME } from '../../event-form.ts';
import type { Section } from '../../section/section.ts';
import { accessorPath, vrlPath, vrlString } from '../../text/vrl.ts';
import type { Draft } from '../draft.ts';
import { parserOf } from '../parsers/index.ts';
import { indent } from '../parsers/parser-code.ts';

export function parserFilterRule(section: Section, draft: Draft): void {
  section.ignore('replace_invalid_sequence', 'suppress_parse_error_log', 'emit_invalid_record_to_error');
  const key = section.plain('key_name');
  if (key === undefined) {
    draft.open('key_name is missing.', section.line);
    return;
  }
  const reserve = section.bool('reserve_data', false);
  const reserveTime = section.bool('reserve_time', false);
  const remove = section.bool('remove_key_name_field', false);
  const prefix = section.plain('inject_key_prefix');
  const field = section.plain('hash_value_field');
  const code = parserOf(section, draft, {});
  if (!code) return;
  const path = vrlPath(accessorPath(key));
  const shaped = [
    ...(prefix === undefined ? [] : [`record = map_keys(record) -> |key| { ${vrlString(prefix)} + key }`]),
    ...(field === undefined ? [] : [`record = {${vrlString(field)}: record}`]),
  ];
  const success = [
    ...(reserve && remove ? [`del(${path})`] : []),
    ...(reserveTime ? [] : [`${TIME} = format_timestamp!(event_time, format: "%+")`]),
    ...shaped,
    ...(reserve
      ? ['. = merge(., record)']
      : [`record = merge(record, {${vrlString(EVENT_FIELD)}: ._fluentd})`, '. = record']),
  ];
  const timed = reserveTime ? withoutTime : keepTimeWithoutKey;
  // Without reserve_data Fluentd drops what cannot be parsed.
  draft.remap('', [
    `text, failure = to_string(${path})`,
    `if ${path} == null { failure = "the field is missing" }`,
    'if failure == null {',
    ...indent([...timed(code.lines), 'if failure == null {', ...indent(success), '}']),
    '}',
    ...(reserve ? [] : ['if failure != null { abort }']),
    ...(reserve && field !== undefined ? [`if failure != null { ${vrlPath([field])} = {} }`] : []),
  ]);
  draft.info(
    `Records that cannot be parsed ${reserve ? 'pass as they are' : 'are dropped'}; there is no @ERROR label.`,
    section.line,
  );
}

/** A text without a time has the time of its event. */
const keepTimeWithoutKey = (lines: readonly string[]): string[] =>
  lines.map((line) =>
    line.trim() === 'event_time = now()'
      ? line.replace('now()', `parse_timestamp!(${TIME}, format: "%+")`)
      : line,
  );

/** With reserve_time the event keeps its own time. The one in the text has to be a time all the same. */
const withoutTime = (lines: readonly string[]): string[] =>
  lines
    .filter((line) => !/^ *(?:if failure == null \{ )?event_time = /.test(line))
    .map((line) => line.replace(/^( *)parsed_time, /, '$1_, '));
