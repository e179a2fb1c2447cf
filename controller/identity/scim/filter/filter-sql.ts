/** Translates a filter into a condition of PostgreSQL. Values of the caller go into bindings only. */
import type { Knex } from 'knex';
import { type ScimType, scimError } from '../scim-errors.ts';
import type { Compared, CompareOperator, Filter } from './filter.ts';

/** How an attribute is compared; `sql` is always our own text. */
export type Column =
  | { type: 'text'; sql: string; caseExact: boolean }
  | { type: 'boolean' | 'date'; sql: string }
  /** The schema has it, but we store it for no user. */
  | { type: 'absent' };

/** An attribute with several values: a FROM that ends in a WHERE, and the parts of each. */
export interface ManyValued {
  type: 'many';
  from: string;
  parts: Readonly<Record<string, Column>>;
}

export interface Attributes {
  /** By name in lower case; sub-attributes as `name.givenname`. */
  columns: Readonly<Record<string, Column | ManyValued>>;
  /** The list for the error message. */
  known: string;
  /** The scimType of an error: `invalidPath` in a path. */
  refusal: ScimType;
}

export interface Condition {
  sql: string;
  bindings: Knex.RawBinding[];
}

/** @throws BAD_REQUEST for an unknown attribute, or a value of the wrong type. */
export function toCondition(filter: Filter, attributes: Attributes): Condition {
  switch (filter.op) {
    case 'and':
    case 'or': {
      const parts = filter.of.map((one) => toCondition(one, attributes));
      return join(parts, filter.op === 'and' ? ' AND ' : ' OR ');
    }
    case 'not': {
      const { sql, bindings } = toCondition(filter.of, attributes);
      return { sql: `NOT ${sql}`, bindings };
    }
    case 'some': {
      const many = attributes.columns[filter.attribute];
      if (many?.type !== 'many') throw unknownAttribute(filter.attribute, attributes);
      const inner = { ...attributes, columns: many.parts, known: Object.keys(many.parts).join(', ') };
      return exists(many, toCondition(filter.where, inner));
    }
    default:
      return leaf(filter, attributes);
  }
}

const join = (parts: readonly Condition[], between: string): Condition => ({
  sql: `(${parts.map(({ sql }) => sql).join(between)})`,
  bindings: parts.flatMap(({ bindings }) => bindings),
});

const exists = ({ from }: ManyValued, { sql, bindings }: Condition): Condition => ({
  sql: `EXISTS (SELECT 1 FROM ${from} AND ${sql})`,
  bindings,
});

type Leaf = Extract<Filter, { attribute: string; sub: string | null }>;

function leaf(filter: Leaf, attributes: Attributes): Condition {
  const { attribute, sub } = filter;
  const name = sub === null ? attribute : `${attribute}.${sub}`;
  const own = Object.hasOwn(attributes.columns, name) ? attributes.columns[name] : undefined;
  if (own?.type === 'many') return manyCondition(own, 'value', filter, attributes);
  if (own) return columnCondition(own, filter, name, attributes);
  const many = sub !== null && Object.hasOwn(attributes.columns, attribute) && attributes.columns[attribute];
  if (many && many.type === 'many') return manyCondition(many, sub, filter, attributes);
  // `name pr` holds where one of its sub-attributes is present.
  const parts = Object.entries(attributes.columns).filter(([key]) => key.startsWith(`${name}.`));
  if (filter.op === 'present' && parts.length > 0)
    return join(
      parts.flatMap(([key, column]) =>
        column.type === 'many' ? [] : [columnCondition(column, filter, key, attributes)],
      ),
      ' OR ',
    );
  throw unknownAttribute(name, attributes);
}

function manyCondition(many: ManyValued, part: string, filter: Leaf, attributes: Attributes): Condition {
  const column = Object.hasOwn(many.parts, part) ? many.parts[part] : undefined;
  const name = `${filter.attribute}.${part}`;
  if (!column) throw unknownAttribute(name, attributes);
  return exists(many, columnCondition(column, filter, name, attributes));
}

/** COALESCE turns NULL into FALSE, so that NOT makes it true. */
function columnCondition(column: Column, filter: Leaf, name: string, attributes: Attributes): Condition {
  const { sql, bindings } =
    filter.op === 'present'
      ? { sql: presence(column), bindings: [] }
      : comparison(column, filter.op, filter.value, (reason) =>
          scimError(attributes.refusal, `${name} ${filter.op}: ${reason}`),
        );
  return { sql: `COALESCE(${sql}, FALSE)`, bindings };
}

function presence(column: Column): string {
  if (column.type === 'absent') return 'FALSE';
  return column.type === 'text' ? `(${column.sql} <> '')` : `(${column.sql} IS NOT NULL)`;
}

const ORDER: Partial<Record<CompareOperator, string>> = { gt: '>', ge: '>=', lt: '<', le: '<=' };

function comparison(
  column: Column,
  op: CompareOperator,
  value: Compared,
  wrong: (reason: string) => Error,
): Condition {
  if (value === null) {
    // RFC 7643, 2.5: null means unassigned.
    if (op !== 'eq' && op !== 'ne') throw wrong('null is compared with eq and ne only');
    return { sql: `(${op === 'eq' ? 'NOT ' : ''}COALESCE(${presence(column)}, FALSE))`, bindings: [] };
  }
  switch (column.type) {
    case 'absent':
      return { sql: op === 'ne' ? 'TRUE' : 'FALSE', bindings: [] };
    case 'text':
      if (typeof value !== 'string') throw wrong('it is a text; write the value in quotation marks');
      return textComparison(column, op, value);
    case 'boolean':
      return booleanComparison(column.sql, op, value, wrong);
    case 'date':
      return dateComparison(column.sql, op, value, wrong);
  }
}

function textComparison(
  { sql, caseExact }: Extract<Column, { type: 'text' }>,
  op: CompareOperator,
  value: string,
): Condition {
  const of = caseExact ? sql : `lower(${sql})`;
  const to = caseExact ? '?::text' : 'lower(?::text)';
  switch (op) {
    case 'eq':
      return { sql: `(${of} = ${to})`, bindings: [value] };
    case 'ne':
      return { sql: `(${of} IS DISTINCT FROM ${to})`, bindings: [value] };
    case 'co':
      return { sql: `(position(${to} in ${of}) > 0)`, bindings: [value] };
    case 'sw':
      return { sql: `starts_with(${of}, ${to})`, bindings: [value] };
    case 'ew':
      return { sql: `(right(${of}, char_length(${to})) = ${to})`, bindings: [value, value] };
    default:
      return { sql: `((${of}) COLLATE "C" ${ORDER[op]} (${to}) COLLATE "C")`, bindings: [value] };
  }
}

function booleanComparison(
  sql: string,
  op: CompareOperator,
  value: Compared,
  wrong: (reason: string) => Error,
): Condition {
  // Texts are accepted too, because Microsoft Entra ID sends "True".
  const wanted = typeof value === 'string' ? { true: true, false: false }[value.toLowerCase()] : value;
  if (typeof wanted !== 'boolean' || (op !== 'eq' && op !== 'ne'))
    throw wrong('it is true or false, compared with eq and ne');
  return {
    sql: `(${sql} IS ${op === 'ne' ? 'DISTINCT' : 'NOT DISTINCT'} FROM ?::boolean)`,
    bindings: [wanted],
  };
}

/** RFC 7643, 2.3.5: xsd:dateTime. */
const DATE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})?$/i;

function dateComparison(
  sql: string,
  op: CompareOperator,
  value: Compared,
  wrong: (reason: string) => Error,
): Condition {
  const sign = { ...ORDER, eq: '=', ne: '<>' }[op];
  const time = typeof value === 'string' && DATE.test(value) ? Date.parse(value) : Number.NaN;
  if (sign === undefined) throw wrong('a time is compared with eq, ne, gt, ge, lt and le');
  if (Number.isNaN(time)) throw wrong('it is a time such as "2026-01-31T12:00:00Z"');
  return { sql: `(date_trunc('milliseconds', ${sql}) ${sign} ?)`, bindings: [new Date(time)] };
}

const unknownAttribute = (name: string, { known, refusal }: Attributes): Error =>
  scimError(refusal, `${name.slice(0, 60)} is not an attribute to filter by; use ${known}`);
