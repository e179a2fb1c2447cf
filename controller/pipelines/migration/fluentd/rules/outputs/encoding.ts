/** `<format>` of outputs: the encoding of a sink, and what makes a text of a record where no codec does. */
import { EVENT_FIELD, TAG_TEXT, TIME, TIME_VALUE } from '../../event-form.ts';
import type { Section } from '../../section/section.ts';
import { translateTimeFormat } from '../../text/time-format.ts';
import { accessorPath, vrlPath, vrlString } from '../../text/vrl.ts';
import type { Target } from './target.ts';

/** The field in which the engine's text codec looks. */
const TEXT = 'message';
/** Codecs write the record without what belongs to Fluentd's event. */
export const RECORD_ONLY = { except_fields: [EVENT_FIELD] };
export const JSON_ENCODING = { codec: 'json', ...RECORD_ONLY };
const TEXT_ENCODING = { codec: 'text' };

/** Lines that run last, with the encoding. */
export function encodingOf(target: Target, fallback: string): Record<string, unknown> {
  const { section, draft } = target;
  const format = section.child('format');
  const name =
    format?.plugin ||
    format?.plain('format') ||
    section.plain('format') ||
    section.plain('output_data_type') ||
    fallback;
  const from = format ?? section;
  from.ignore('add_newline', 'newline', 'json_parser');
  switch (name) {
    case 'json':
      return JSON_ENCODING;
    case 'single_value': {
      const key = from.plain('message_key') ?? TEXT;
      if (key !== TEXT)
        target.before.push(
          `.${TEXT} = to_string(${vrlPath(accessorPath(key))}) ?? encode_json(${vrlPath(accessorPath(key))})`,
        );
      return TEXT_ENCODING;
    }
    case 'out_file':
      target.before.push(...outFileLines(from, target));
      return TEXT_ENCODING;
    case 'csv':
    case 'tsv':
      return separated(from, target, name);
    case 'ltsv':
      return labeled(from, target);
    case 'stdout':
    case 'hash':
      draft.difference(`The format ${name} is JSON here.`, from.line, 'small');
      return JSON_ENCODING;
    default:
      draft.difference(
        `The format ${name} has no counterpart; records are written as JSON.`,
        from.line,
        'large',
      );
      return JSON_ENCODING;
  }
}

/** Time, tag and record with tabs between, as `out_file` writes by default. */
function outFileLines(format: Section, target: Target): string[] {
  const delimiter = readDelimiter(format.plain('delimiter'));
  const written = format.plain('time_format');
  const translated = written === undefined ? null : translateTimeFormat(written, 'format');
  if (written !== undefined && !translated) {
    target.draft.difference(
      `The time format ${written} has no counterpart.`,
      format.lineOf('time_format'),
      'small',
    );
  }
  format.ignore('localtime', 'utc', 'timezone', 'include_time_key', 'time_key', 'include_tag_key', 'tag_key');
  const time = translated
    ? `format_timestamp!(${TIME_VALUE}, format: ${vrlString(translated.format)})`
    : `format_timestamp!(${TIME_VALUE}, format: "%Y-%m-%dT%H:%M:%S%:z")`;
  const parts = [
    ...(format.bool('output_time', true) ? [`${time} + ${vrlString(delimiter)}`] : []),
    ...(format.bool('output_tag', true) ? [`${TAG_TEXT} + ${vrlString(delimiter)}`] : []),
    'encode_json(record)',
  ];
  return ['record = .', `del(record.${EVENT_FIELD})`, `.${TEXT} = ${parts.join(' + ')}`];
}

function readDelimiter(text: string | undefined): string {
  const names: Readonly<Record<string, string>> = { SPACE: ' ', COMMA: ',', TAB: '\t' };
  return text === undefined ? '\t' : (names[text] ?? text);
}

function separated(format: Section, target: Target, name: string): Record<string, unknown> {
  const fields = format.array('fields') ?? format.array('keys') ?? [];
  const delimiter = readDelimiter(format.plain('delimiter') ?? (name === 'tsv' ? 'TAB' : 'COMMA')).slice(
    0,
    1,
  );
  const quoted = name === 'csv' && format.bool('force_quotes', true);
  if (fields.length === 0)
    target.draft.difference(
      'fields is missing: nothing says which columns are written.',
      format.line,
      'large',
    );
  return {
    codec: 'csv',
    csv: {
      fields: fields.map((field) => vrlPath(accessorPath(field)).slice(1)),
      ...(delimiter === ',' ? {} : { delimiter }),
      quote_style: quoted ? 'always' : 'necessary',
    },
  };
}

function labeled(format: Section, target: Target): Record<string, unknown> {
  const delimiter = readDelimiter(format.plain('delimiter') ?? 'TAB');
  const label = format.plain('label_delimiter') ?? ':';
  format.ignore('replacement');
  target.before.push(
    'record = .',
    `del(record.${EVENT_FIELD})`,
    `.${TEXT} = encode_key_value(record, key_value_delimiter: ${vrlString(label)}, field_delimiter: ${vrlString(delimiter)})`,
  );
  return TEXT_ENCODING;
}

/** Some services want the time of an event in a field that they know. */
export const setTimestamp = (target: Target): void => {
  target.before.push(`.timestamp = parse_timestamp!(${TIME}, format: "%+")`);
};
