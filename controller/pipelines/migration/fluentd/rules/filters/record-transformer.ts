/** `record_transformer`, and `record_modifier`, which does the same with a little more. */
import { EVENT_FIELD, TIME } from '../../event-form.ts';
import type { Section } from '../../section/section.ts';
import { translateRegexp } from '../../text/regexp.ts';
import type { VrlExpression } from '../../text/ruby/values.ts';
import { accessorPath, vrlPath, vrlRegexp, vrlString } from '../../text/vrl.ts';
import type { Draft } from '../draft.ts';
import { recordValue } from './placeholders.ts';

export function recordTransformerRule(section: Section, draft: Draft, name = ''): void {
  section.ignore('enable_ruby', 'auto_typecast');
  const renew = section.bool('renew_record', false);
  const keep = section.array('keep_keys') ?? [];
  if (!section.bool('auto_typecast', true)) {
    draft.difference(
      'Values keep their type: auto_typecast false is not translated.',
      section.lineOf('auto_typecast'),
      'small',
    );
  }
  const timeKey = section.plain('renew_time_key');
  const after = [
    ...(timeKey === undefined ? [] : renewTime(timeKey)),
    ...removal(section.array('remove_keys') ?? []),
  ];
  finish(draft, { fields: fieldsOf(section, draft), keep: renew ? keep : null, before: [], after }, name);
}

export function recordModifierRule(section: Section, draft: Draft): void {
  const whitelist = section.array('whitelist_keys');
  if (section.has('char_encoding'))
    draft.difference(
      'Texts are UTF-8 here; char_encoding is not translated.',
      section.lineOf('char_encoding'),
    );
  const prepare = section.children('prepare_value');
  if (prepare.length > 0 || section.has('prepare_value')) {
    draft.difference(
      'prepare_value is Ruby that is not translated.',
      section.lineOf('prepare_value'),
      'large',
    );
  }
  section.ignore('prepare_value');
  const replacements = section.children('replace').flatMap((replace) => replaceLines(replace, draft));
  const legacy = section.directive.params.filter(
    ({ key }) => !MODIFIER_PARAMS.has(key) && !key.startsWith('@') && key !== 'type',
  );
  section.ignore(...legacy.map(({ key }) => key));
  finish(draft, {
    fields: fieldsOf(section, draft),
    keep: null,
    before: [],
    after: [
      ...replacements,
      ...removal(section.array('remove_keys') ?? []),
      ...(whitelist ? keepOnly(whitelist) : []),
    ],
  });
}

const MODIFIER_PARAMS: ReadonlySet<string> = new Set([
  'remove_keys',
  'whitelist_keys',
  'char_encoding',
  'prepare_value',
]);

function fieldsOf(section: Section, draft: Draft): { key: string; value: VrlExpression }[] {
  return section.children('record').flatMap((record) =>
    record.directive.params.flatMap((param) => {
      record.ignore(param.key);
      const value = recordValue(param, record, draft);
      return value ? [{ key: param.key, value }] : [];
    }),
  );
}

interface Transformation {
  fields: readonly { key: string; value: VrlExpression }[];
  /** The only fields that stay; null for all. */
  keep: readonly string[] | null;
  before: readonly string[];
  after: readonly string[];
}

/** All values are computed from the record as it came, before the first field is set. */
function finish(draft: Draft, { fields, keep, before, after }: Transformation, name = ''): void {
  const readers = fields.filter(({ value }) => value.readsRecord);
  const early = readers.length > 0 && (fields.length > 1 || keep !== null);
  const lines: string[] = [...before];
  const assignments = fields.map(({ key, value }, at) => {
    if (!early || !value.readsRecord) return `${vrlPath([key])} = ${value.code}`;
    lines.push(`new_${at + 1} = ${value.code}`);
    return `${vrlPath([key])} = new_${at + 1}`;
  });
  if (keep !== null) lines.push(...keepOnly(keep));
  lines.push(...assignments, ...after);
  draft.remap(name, lines.length > 0 ? lines : ['.']);
}

export function keepOnly(keys: readonly string[]): string[] {
  return [
    `retained = {${vrlString(EVENT_FIELD)}: ._fluentd}`,
    ...keys.map(
      (key) => `if exists(${vrlPath([key])}) { ${vrlPath([key], 'retained')} = ${vrlPath([key])} }`,
    ),
    '. = retained',
  ];
}

export const removal = (keys: readonly string[]): string[] =>
  keys.map((key) => `del(${vrlPath(accessorPath(key))})`);

/** As Ruby's to_f: what is no number is 0. `get!` gives what may be of any type. */
const renewTime = (key: string): string[] => [
  `renewed = get!(., [${vrlString(key)}])`,
  'if renewed != null {',
  `  ${TIME} = format_timestamp!(from_unix_timestamp!(to_int((to_float(renewed) ?? 0.0) * 1000000000), unit: "nanoseconds"), format: "%+")`,
  '}',
];

/** `<replace>` of record_modifier: `key`, `expression`, `replace`. */
function replaceLines(replace: Section, draft: Draft): string[] {
  const key = replace.plain('key');
  const translated = translateRegexp(replace.plain('expression') ?? '');
  const by = replace.plain('replace') ?? '';
  if (key === undefined || 'problem' in translated || /\\[0-9k]/.test(by)) {
    draft.difference(
      'A <replace> is not translated: its expression has no counterpart.',
      replace.line,
      'large',
    );
    return [];
  }
  const field = vrlPath(accessorPath(key));
  return [
    `if is_string(${field}) { ${field} = replace(string!(${field}), ${vrlRegexp(translated.source)}, ${vrlString(by)}) }`,
  ];
}
