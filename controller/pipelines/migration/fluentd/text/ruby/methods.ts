/** Methods of Ruby that have a counterpart in VRL. */
import { translateTimeFormat } from '../time-format.ts';
import { vrlString } from '../vrl.ts';
import { asString, asText, fieldOf, RubyProblem, type VrlExpression, type VrlType } from './values.ts';

type Method = (value: VrlExpression, args: readonly VrlExpression[]) => [code: string, type: VrlType];

/** The text of a literal in double quotes, as it was in Ruby. */
function literalOf(value: VrlExpression | undefined): string {
  if (!value || !/^"(?:[^"\\$]|\\.)*"$/.test(value.code)) throw new RubyProblem();
  return value.code
    .slice(1, -1)
    .replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char === 't' ? '\t' : char));
}

const onString =
  (render: (text: string) => string, type: VrlType = 'string'): Method =>
  (value) => [render(asString(value)), type];

const replacement = (value: VrlExpression | undefined): string => {
  if (value?.type !== 'string' || /\\\\[0-9k]/.test(value.code)) throw new RubyProblem();
  return value.code;
};

const substitute =
  (count: string): Method =>
  (value, [pattern, by]) => {
    if (!pattern) throw new RubyProblem();
    return [`replace(${asString(value)}, ${pattern.code}, ${replacement(by)}${count})`, 'string'];
  };

const compare =
  (name: string): Method =>
  (value, [other]) => {
    if (!other) throw new RubyProblem();
    return [`${name}(${asString(value)}, ${asString(other)})`, 'boolean'];
  };

const METHODS: Readonly<Record<string, Method>> = {
  capitalize: onString((text) => `upcase(slice!(${text}, 0, 1)) + downcase(slice!(${text}, 1))`),
  chomp: onString((text) => `replace(${text}, r'\\r?\\n\\z', "")`),
  downcase: onString((text) => `downcase(${text})`),
  strip: onString((text) => `strip_whitespace(${text})`),
  upcase: onString((text) => `upcase(${text})`),
  gsub: substitute(''),
  sub: substitute(', count: 1'),
  tr: (value, [from, to]) => {
    const source = literalOf(from);
    if (source.length !== 1) throw new RubyProblem();
    return [`replace(${asString(value)}, ${vrlString(source)}, ${replacement(to)})`, 'string'];
  },
  'start_with?': compare('starts_with'),
  'end_with?': compare('ends_with'),
  'include?': (value, [other]) => {
    if (!other) throw new RubyProblem();
    if (value.type === 'array') return [`includes(${value.code}, ${other.code})`, 'boolean'];
    return [`contains(${asString(value)}, ${asString(other)})`, 'boolean'];
  },
  split: (value, [by]) => {
    if (!by || (by.type !== 'string' && !by.code.startsWith("r'"))) throw new RubyProblem();
    return [`split(${asString(value)}, ${by.code})`, 'array'];
  },
  join: (value, [by]) => {
    if (value.type !== 'array') throw new RubyProblem();
    return [`join!(${value.code}, ${by?.type === 'string' ? by.code : '""'})`, 'string'];
  },
  first: (value) =>
    value.type === 'array' ? [`${value.code}[0]`, value.code.startsWith('split(') ? 'part' : 'any'] : fail(),
  last: (value) =>
    value.type === 'array' ? [`${value.code}[-1]`, value.code.startsWith('split(') ? 'part' : 'any'] : fail(),
  length: (value) => [
    value.type === 'string' ? `strlen(${value.code})` : `length!(${value.code})`,
    'integer',
  ],
  size: (value) => [value.type === 'string' ? `strlen(${value.code})` : `length!(${value.code})`, 'integer'],
  to_s: (value) => [asText(value), 'string'],
  to_i: (value) => {
    if (value.type === 'time') return [`to_unix_timestamp(${value.code})`, 'integer'];
    if (value.type === 'integer') return [value.code, 'integer'];
    return value.type === 'float'
      ? [`to_int(${value.code})`, 'integer']
      : [`(to_int(${value.code}) ?? 0)`, 'integer'];
  },
  to_f: (value) => {
    if (value.type === 'time')
      return [`(to_unix_timestamp(${value.code}, unit: "microseconds") / 1000000.0)`, 'float'];
    if (value.type === 'float') return [value.code, 'float'];
    return value.type === 'integer'
      ? [`to_float(${value.code})`, 'float']
      : [`(to_float(${value.code}) ?? 0.0)`, 'float'];
  },
  round: (value, [digits]) => {
    if (value.type !== 'float') throw new RubyProblem();
    return digits
      ? [`round(${value.code}, precision: ${digits.code})`, 'float']
      : [`to_int(round(${value.code}))`, 'integer'];
  },
  'nil?': (value) => [`(${value.code} == null)`, 'boolean'],
  'empty?': (value) => [
    value.type === 'string' ? `(${value.code} == "")` : `is_empty!(${value.code})`,
    'boolean',
  ],
  to_json: (value) => [
    `encode_json(${value.code === '.' ? 'remove!(., ["_fluentd"])' : value.code})`,
    'string',
  ],
  strftime: (value, [format]) => {
    const translated = translateTimeFormat(literalOf(format), 'format');
    if (!translated || value.type !== 'time') throw new RubyProblem();
    return [`format_timestamp!(${value.code}, format: ${vrlString(translated.format)})`, 'string'];
  },
  iso8601: (value, [digits]) => {
    if (value.type !== 'time') throw new RubyProblem();
    const fraction =
      digits === undefined ? '' : digits.code === '3' ? '.%3f' : digits.code === '6' ? '.%6f' : '.%9f';
    return [`format_timestamp!(${value.code}, format: "%Y-%m-%dT%H:%M:%S${fraction}%:z")`, 'string'];
  },
  utc: (value) => (value.type === 'time' ? [value.code, 'time'] : fail()),
  getutc: (value) => (value.type === 'time' ? [value.code, 'time'] : fail()),
  to_time: (value) => (value.type === 'time' ? [value.code, 'time'] : fail()),
  localtime: (value) => (value.type === 'time' ? [value.code, 'time'] : fail()),
};

export function callMethod(
  value: VrlExpression,
  name: string,
  args: readonly VrlExpression[],
): VrlExpression {
  const readsRecord = value.readsRecord || args.some((arg) => arg.readsRecord);
  if (name === '[]' || name === 'fetch') return elementOf(value, args, readsRecord);
  if (name === 'dig') {
    if (args.length === 0 || value.type !== 'any') throw new RubyProblem();
    return args.reduce((at, key) => elementOf(at, [key], true), value);
  }
  if (name === 'key?' || name === 'has_key?') {
    const field = fieldOf(value, literalOf(args[0]));
    return { code: `exists(${field.code})`, type: 'boolean', readsRecord };
  }
  const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
  if (!method) throw new RubyProblem();
  const [code, type] = method(value, args);
  return { code, type, readsRecord };
}

/** `a["key"]`, `a[0]`, `a[-1]`. */
function elementOf(
  value: VrlExpression,
  args: readonly VrlExpression[],
  readsRecord: boolean,
): VrlExpression {
  const [key, more] = args;
  if (!key || more || (value.type !== 'any' && value.type !== 'array')) throw new RubyProblem();
  if (/^-?\d{1,9}$/.test(key.code)) {
    const type = value.code.startsWith('split(') ? 'part' : 'any';
    return { code: `${value.code}[${key.code}]`, type, readsRecord };
  }
  if (value.type === 'array') throw new RubyProblem();
  return fieldOf(value, literalOf(key));
}

function fail(): never {
  throw new RubyProblem();
}
