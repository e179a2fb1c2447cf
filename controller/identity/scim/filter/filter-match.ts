/** Evaluates a filter over a value in memory. Pure. */

import { scimError } from '../scim-errors.ts';
import type { Compared, Filter } from './filter.ts';

/** Attribute values by name in lower case. */
export type Values = Readonly<Record<string, string | boolean | undefined>>;

/**
 * Compares texts case-insensitively. An absent boolean is false.
 * @throws BAD_REQUEST (invalidPath) for an unknown attribute.
 */
export function matchesFilter(filter: Filter, values: Values): boolean {
  switch (filter.op) {
    case 'and':
      return filter.of.map((one) => matchesFilter(one, values)).every(Boolean);
    case 'or':
      return filter.of.map((one) => matchesFilter(one, values)).some(Boolean);
    case 'not':
      return !matchesFilter(filter.of, values);
    case 'some':
      throw unknownPart(filter.attribute, values);
    case 'present':
      return (partOf(filter.attribute, values) ?? '') !== '';
    default:
      return compare(partOf(filter.attribute, values), filter.op, filter.value);
  }
}

function partOf(name: string, values: Values): string | boolean | undefined {
  if (!Object.hasOwn(values, name)) throw unknownPart(name, values);
  return values[name];
}

type Operator = Exclude<Filter['op'], 'and' | 'or' | 'not' | 'some' | 'present'>;

function compare(found: string | boolean | undefined, op: Operator, value: Compared): boolean {
  if (value === null) return (op === 'eq') === ((found ?? '') === '');
  if (typeof found === 'boolean') {
    const wanted = String(value).toLowerCase();
    if (!['true', 'false'].includes(wanted) || (op !== 'eq' && op !== 'ne'))
      throw scimError('invalidPath', 'primary is true or false, compared with eq and ne');
    return (String(found) === wanted) === (op === 'eq');
  }
  if (typeof value !== 'string')
    throw scimError('invalidPath', 'Texts are compared with texts in quotation marks');
  if (found === undefined) return op === 'ne';
  const [a, b] = [found.toLowerCase(), value.toLowerCase()];
  switch (op) {
    case 'eq':
      return a === b;
    case 'ne':
      return a !== b;
    case 'co':
      return a.includes(b);
    case 'sw':
      return a.startsWith(b);
    case 'ew':
      return a.endsWith(b);
    case 'gt':
      return a > b;
    case 'ge':
      return a >= b;
    case 'lt':
      return a < b;
    case 'le':
      return a <= b;
  }
}

const unknownPart = (name: string, values: Values): Error =>
  scimError(
    'invalidPath',
    `${name.slice(0, 60)} is not one of its attributes, which are ${Object.keys(values).join(', ')}`,
  );
