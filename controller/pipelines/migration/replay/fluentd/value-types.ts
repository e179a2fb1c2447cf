/** `types` of parsers: texts that become numbers and the like. */
import type { ConfigDirective } from '../../fluentd/config-tree.ts';
import { NotInterpreted } from './event.ts';
import { boolParam, textParam } from './read-params.ts';

type Convert = (value: string) => unknown;
const TYPES: Readonly<Record<string, Convert>> = {
  string: (value) => value,
  // As Ruby's to_i and to_f: what is no number is 0.
  integer: (value) => Number.parseInt(value.replaceAll('_', ''), 10) || 0,
  float: (value) => Number.parseFloat(value) || 0,
  bool: (value) => ['yes', 'true', '1'].includes(value.toLowerCase()),
};

/** `status:integer,size:integer`, or a hash as JSON. */
export function convertTypes(
  section: ConfigDirective,
): (record: Record<string, unknown>) => Record<string, unknown> {
  const types = typesOf(textParam(section, 'types')?.trim() ?? '');
  const isEmptyNull = boolParam(section, 'null_empty_string', false);
  if (textParam(section, 'null_value_pattern') !== null) throw new NotInterpreted('null_value_pattern');
  return (record) =>
    Object.fromEntries(
      Object.entries(record).map(([key, value]) => {
        if (isEmptyNull && value === '') return [key, null];
        const convert = types.get(key);
        return [key, convert && value !== null ? convert(String(value)) : value];
      }),
    );
}

function typesOf(text: string): Map<string, Convert> {
  const pairs: [string, string][] = text.startsWith('{')
    ? Object.entries(JSON.parse(text) as Record<string, string>)
    : text
        .split(',')
        .filter((pair) => pair.trim() !== '')
        .map((pair) => {
          const [key = '', type = 'string'] = pair.trim().split(':');
          return [key, type];
        });
  return new Map(
    pairs.map(([key, type]) => {
      const convert = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
      if (!convert) throw new NotInterpreted(`the type ${type}`);
      return [key, convert];
    }),
  );
}
