/** Values in VRL with their types: a program does not compile where it handles an error that cannot occur. */
import { translateRegexp } from '../regexp.ts';
import { vrlPath, vrlRegexp, vrlString } from '../vrl.ts';

/** `part`: a string or null, as an element of a text that was split. */
export type VrlType = 'any' | 'part' | 'string' | 'integer' | 'float' | 'boolean' | 'time' | 'array' | 'null';

export interface VrlExpression {
  code: string;
  type: VrlType;
  /** Reads a field of the record. */
  readsRecord: boolean;
}

export class RubyProblem extends Error {}

export const text = (value: string): VrlExpression => ({
  code: vrlString(value),
  type: 'string',
  readsRecord: false,
});
export const number = (written: string): VrlExpression => ({
  code: written.replaceAll('_', ''),
  type: written.includes('.') ? 'float' : 'integer',
  readsRecord: false,
});

export function regexp(written: string): VrlExpression {
  const translated = translateRegexp(written);
  if ('problem' in translated) throw new RubyProblem();
  return { code: vrlRegexp(translated.source), type: 'null', readsRecord: false };
}

/** As the string that it has to be. */
export const asString = (value: VrlExpression): string =>
  value.type === 'string' ? value.code : value.type === 'any' ? `string!(${value.code})` : asText(value);

/** As Ruby's `to_s`. */
export function asText(value: VrlExpression): string {
  switch (value.type) {
    case 'string':
      return value.code;
    case 'null':
      return '""';
    case 'integer':
    case 'float':
    case 'boolean':
    case 'part':
      return `to_string(${value.code})`;
    case 'time':
      return `format_timestamp!(${value.code}, format: "%F %T %z")`;
    default:
      return `(to_string(${value.code}) ?? encode_json(${value.code}))`;
  }
}

/** In Ruby everything but `nil` and `false` is true. */
export function truth(value: VrlExpression): string {
  if (value.type === 'boolean') return value.code;
  if (value.type === 'null') return 'false';
  if (value.type === 'part') return `(${value.code} != null)`;
  return value.type === 'any' ? `(${value.code} != null && ${value.code} != false)` : 'true';
}

export function joinTexts(values: readonly VrlExpression[]): VrlExpression {
  const [first, ...more] = values;
  if (!first) return text('');
  const readsRecord = values.some((value) => value.readsRecord);
  if (more.length === 0) return { code: asText(first), type: 'string', readsRecord };
  return { code: values.map(asText).join(' + '), type: 'string', readsRecord };
}

export const isText = ({ type }: VrlExpression): boolean =>
  type === 'string' || type === 'part' || type === 'null';

/** Two types of which none is any would be a type that VRL knows and this does not. */
export function mixed(one: VrlExpression, other: VrlExpression): VrlType {
  if (one.type !== 'any' && other.type !== 'any') throw new RubyProblem();
  return 'any';
}

const isNumber = ({ type }: VrlExpression): boolean => type === 'integer' || type === 'float';

export function combine(operator: string, left: VrlExpression, right: VrlExpression): VrlExpression {
  const readsRecord = left.readsRecord || right.readsRecord;
  const made = (code: string, type: VrlType): VrlExpression => ({ code: `(${code})`, type, readsRecord });
  switch (operator) {
    case '||':
    case 'or':
      if (left.type === 'boolean' && right.type === 'boolean')
        return made(`${left.code} || ${right.code}`, 'boolean');
      if (left.type === 'part' && (right.type === 'part' || right.type === 'string')) {
        return made(`${left.code} || ${right.code}`, 'part');
      }
      if (left.type !== 'any') throw new RubyProblem();
      return made(`${left.code} || ${right.code}`, 'any');
    case '&&':
    case 'and':
      if (right.type !== 'boolean') {
        return { code: `{ if ${truth(left)} { ${right.code} } else { null } }`, type: 'any', readsRecord };
      }
      return made(`${truth(left)} && ${right.code}`, 'boolean');
    case '==':
    case '!=':
      return made(`${left.code} ${operator} ${right.code}`, 'boolean');
    case '=~':
    case '!~': {
      if (!right.code.startsWith("r'")) throw new RubyProblem();
      const subject = left.type === 'any' ? `(string(${left.code}) ?? "")` : asString(left);
      return made(`${operator === '!~' ? '!' : ''}match(${subject}, ${right.code})`, 'boolean');
    }
    default:
      return arithmetic(operator, left, right, made);
  }
}

function arithmetic(
  operator: string,
  left: VrlExpression,
  right: VrlExpression,
  made: (code: string, type: VrlType) => VrlExpression,
): VrlExpression {
  const isComparison = operator.startsWith('<') || operator.startsWith('>');
  if (operator === '+' && (left.type === 'string' || right.type === 'string')) {
    return made(`${asString(left)} + ${asString(right)}`, 'string');
  }
  if (!isNumber(left) && !isNumber(right)) throw new RubyProblem();
  const type = left.type === 'integer' || right.type === 'integer' ? 'integer' : 'float';
  const operand = (value: VrlExpression): string =>
    isNumber(value)
      ? value.code
      : value.type === 'any'
        ? `${type === 'integer' ? 'int' : 'float'}!(${value.code})`
        : fail();
  if (isComparison) return made(`${operand(left)} ${operator} ${operand(right)}`, 'boolean');
  if (operator === '%') {
    if (right.code === '0' || !/^\d+$/.test(right.code)) throw new RubyProblem();
    return made(`mod(${operand(left)}, ${right.code})`, left.type === 'float' ? 'float' : 'integer');
  }
  if (operator === '/') {
    // Division fails on zero, and VRL makes a float of it where Ruby does not.
    if (!/^\d+(?:\.\d+)?$/.test(right.code) || Number(right.code) === 0) throw new RubyProblem();
    const whole = left.type !== 'float' && right.type === 'integer';
    const divided = `${operand(left)} / ${right.code}`;
    return whole ? made(`to_int(floor(${divided}))`, 'integer') : made(divided, 'float');
  }
  const bothWhole = left.type !== 'float' && right.type !== 'float';
  return made(`${operand(left)} ${operator} ${operand(right)}`, bothWhole ? 'integer' : 'float');
}

function fail(): never {
  throw new RubyProblem();
}

export const fieldOf = (value: VrlExpression, key: string | number): VrlExpression => ({
  code: value.code === '.' ? vrlPath([key]) : `${value.code}${vrlPath([key])}`,
  type: 'any',
  readsRecord: true,
});
