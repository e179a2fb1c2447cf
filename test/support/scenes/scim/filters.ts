/** Filters of SCIM as trees, drawn, written and evaluated over a resource as it is answered. */
import fc from 'fast-check';
import type {
  Compared,
  CompareOperator,
  Filter,
} from '../../../../controller/identity/scim/filter/filter.ts';

/** As a provider would write it. */
export function printFilter(filter: Filter): string {
  switch (filter.op) {
    case 'and':
    case 'or':
      return `(${filter.of.map(printFilter).join(` ${filter.op} `)})`;
    case 'not':
      return `not (${printFilter(filter.of)})`;
    case 'some':
      return `${filter.attribute}[${printFilter(filter.where)}]`;
    case 'present':
      return `${nameOf(filter)} pr`;
    default:
      return `${nameOf(filter)} ${filter.op} ${JSON.stringify(filter.value)}`;
  }
}

const nameOf = ({ attribute, sub }: { attribute: string; sub: string | null }): string =>
  sub === null ? attribute : `${attribute}.${sub}`;

const TEXT_OPERATORS: readonly CompareOperator[] = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'];

/** Over the attributes of users. */
export function filterTrees(texts: fc.Arbitrary<string>): fc.Arbitrary<Filter> {
  const text = (names: readonly (readonly [string, string | null])[]) =>
    fc
      .tuple(fc.constantFrom(...names), fc.constantFrom(...TEXT_OPERATORS), texts)
      .map(([[attribute, sub], op, value]): Filter => ({ op, attribute, sub, value }));
  const boolean = (attribute: string) =>
    fc
      .tuple(fc.constantFrom<CompareOperator>('eq', 'ne'), fc.boolean())
      .map(([op, value]): Filter => ({ op, attribute, sub: null, value }));
  const present = (names: readonly (readonly [string, string | null])[]) =>
    fc.constantFrom(...names).map(([attribute, sub]): Filter => ({ op: 'present', attribute, sub }));
  const SINGLE = [
    ['username', null],
    ['externalid', null],
    ['displayname', null],
    ['name', 'givenname'],
    ['name', 'familyname'],
    ['emails', 'value'],
    ['emails', 'type'],
  ] as const;
  const PARTS = [
    ['value', null],
    ['type', null],
  ] as const;
  const { inner } = fc.letrec<{ inner: Filter }>((tie) => ({
    inner: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      text(PARTS),
      boolean('primary'),
      tie('inner').map((of): Filter => ({ op: 'not', of })),
    ),
  }));
  const { tree } = fc.letrec<{ tree: Filter }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', maxDepth: 3, withCrossShrink: true },
      text(SINGLE),
      present([...SINGLE, ['name', null], ['emails', null]]),
      boolean('active'),
      inner.map((where): Filter => ({ op: 'some', attribute: 'emails', where })),
      tie('tree').map((of): Filter => ({ op: 'not', of })),
      fc
        .tuple(
          fc.constantFrom<'and' | 'or'>('and', 'or'),
          fc.array(tie('tree'), { minLength: 2, maxLength: 3 }),
        )
        .map(([op, of]): Filter => ({ op, of })),
    ),
  }));
  return tree;
}

type Resource = Record<string, unknown>;

/** What the filter says of a user as SCIM answers it, by the words of RFC 7644, 3.4.2.2. */
export function evaluate(filter: Filter, resource: Resource): boolean {
  switch (filter.op) {
    case 'and':
      return filter.of.every((one) => evaluate(one, resource));
    case 'or':
      return filter.of.some((one) => evaluate(one, resource));
    case 'not':
      return !evaluate(filter.of, resource);
    case 'some':
      return listAt(resource, filter.attribute).some((one) => evaluate(filter.where, one as Resource));
    case 'present':
      return valuesOf(resource, filter).some((value) => value !== undefined && value !== '');
    default: {
      const { op, value } = filter;
      const exact = filter.attribute === 'externalid';
      return valuesOf(resource, filter).some((found) => holds(found, op, value, exact));
    }
  }
}

const fieldOf = (resource: Resource, name: string): unknown =>
  Object.entries(resource).find(([key]) => key.toLowerCase() === name)?.[1];

const listAt = (resource: Resource, name: string): unknown[] => {
  const found = fieldOf(resource, name);
  return Array.isArray(found) ? found : [];
};

/** One for an attribute with one value, be it there or not; as many as there are for one with several. */
function valuesOf(
  resource: Resource,
  { attribute, sub }: { attribute: string; sub: string | null },
): unknown[] {
  const found = fieldOf(resource, attribute);
  if (attribute === 'emails')
    return listAt(resource, attribute).map((one) => fieldOf(one as Resource, sub ?? 'value'));
  if (attribute === 'primary') return [found ?? false];
  if (attribute !== 'name') return [found];
  const name = (found ?? {}) as Resource;
  return sub === null ? Object.values(name) : [fieldOf(name, sub)];
}

function holds(found: unknown, op: CompareOperator, value: Compared, exact: boolean): boolean {
  if (typeof value === 'boolean') return (found === value) === (op === 'eq');
  if (typeof found !== 'string') return op === 'ne';
  const [a, b] = [found, String(value)].map((text) => (exact ? text : text.toLowerCase())) as [
    string,
    string,
  ];
  const order = Buffer.compare(Buffer.from(a), Buffer.from(b));
  const answers: Record<CompareOperator, boolean> = {
    ...{ eq: a === b, ne: a !== b, co: a.includes(b), sw: a.startsWith(b), ew: a.endsWith(b) },
    ...{ gt: order > 0, ge: order >= 0, lt: order < 0, le: order <= 0 },
  };
  return answers[op];
}
