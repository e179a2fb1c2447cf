/**
 * The alternatives of an option, as few as a form needs: nested ones are put in one row, single words become one list of
 * words, and objects that nothing tells apart become one object of which each option may be set.
 */
import type { Schema } from './form-schema.ts';

/** Alternatives as a schema: the only one left, or a `oneOf` of such that can be told apart. */
export function simplifyArms(arms: readonly Schema[]): Schema {
  const flat = joinObjects(joinWords(arms.flatMap(flatten)));
  const [only] = flat;
  return flat.length === 1 && only ? only : { oneOf: flat.map(withTitle) };
}

/** Alternatives inside of one are alternatives themselves. */
function flatten(arm: Schema): Schema[] {
  if (!Array.isArray(arm.oneOf)) return [arm];
  const { oneOf, title: _title, ...about } = arm;
  return (oneOf as Schema[]).flatMap((inner) => flatten({ ...about, ...inner }));
}

/** Words beside a text are suggestions for it; else they are one alternative, a list of words. */
function joinWords(arms: readonly Schema[]): Schema[] {
  const words = arms.filter(isWords);
  const others = arms.filter((arm) => !isWords(arm));
  const [first] = words;
  if (!first) return [...arms];
  const values = words.flatMap(valuesOf);
  const text = others.find((arm) => arm.type === 'string');
  if (text) {
    const suggested: Schema = { ...text, 'x-suggestions': values };
    return others.map((arm) => (arm === text ? suggested : arm));
  }
  if (words.length === 1) return [...arms];
  const about = words.flatMap((arm) => {
    const described = arm.enumDescriptions;
    if (Array.isArray(described)) return described as string[];
    return valuesOf(arm).map(() => (typeof arm.description === 'string' ? arm.description : ''));
  });
  return [
    {
      type: 'string',
      title: values.join(' or '),
      enum: values,
      ...(about.some((text) => text !== '') && { enumDescriptions: about }),
    },
    ...others,
  ];
}

const isWords = (arm: Schema): boolean =>
  typeof arm.const === 'string' ||
  (Array.isArray(arm.enum) && arm.enum.every((value) => typeof value === 'string'));
const valuesOf = (arm: Schema): unknown[] => (Array.isArray(arm.enum) ? arm.enum : [arm.const]);

/** Objects that cannot be told apart by a tag, or by what each of the two requires, become one. */
function joinObjects(arms: readonly Schema[]): Schema[] {
  const joined: Schema[] = [];
  for (const arm of arms) {
    let next = arm;
    // What was joined may be like one that was apart before.
    for (let like = joined.findIndex((other) => isAlike(other, next)); like >= 0; ) {
      next = unite(joined.splice(like, 1)[0] as Schema, next);
      like = joined.findIndex((other) => isAlike(other, next));
    }
    joined.push(next);
  }
  return joined;
}

function isAlike(a: Schema, b: Schema): boolean {
  const mine = propertiesOf(a);
  const other = propertiesOf(b);
  if (!mine || !other) return false;
  const tags = Object.entries(mine).filter(([name, { const: word }]) => word !== undefined && name in other);
  const shared = tags.filter(([name]) => other[name]?.const !== undefined);
  if (shared.length > 0) return shared.every(([name, { const: word }]) => other[name]?.const === word);
  if (tagged(mine) && tagged(other)) return true;
  return !(requiresOwn(a, other) && requiresOwn(b, mine)) && !(tagged(mine) || tagged(other));
}

const propertiesOf = (arm: Schema): Record<string, Schema> | undefined =>
  typeof arm.properties === 'object' && arm.properties !== null && arm['x-cut'] === undefined
    ? (arm.properties as Record<string, Schema>)
    : undefined;
const tagged = (properties: Record<string, Schema>): boolean =>
  Object.values(properties).some(({ const: word }) => word !== undefined);
const requiredOf = (arm: Schema): string[] => (Array.isArray(arm.required) ? (arm.required as string[]) : []);
const requiresOwn = (arm: Schema, other: Record<string, Schema>): boolean =>
  requiredOf(arm).some((name) => !Object.hasOwn(other, name));

/** What both require is required. */
function unite(a: Schema, b: Schema): Schema {
  const required = requiredOf(a).filter((name) => requiredOf(b).includes(name));
  const { required: _a, ...first } = a;
  const { required: _b, ...second } = b;
  return {
    ...second,
    ...first,
    properties: { ...propertiesOf(b), ...propertiesOf(a) },
    ...(required.length > 0 && { required }),
  };
}

/** An alternative has a title to choose it by. */
function withTitle(arm: Schema): Schema {
  if (typeof arm.title === 'string') return arm;
  const [first, second] = requiredOf(arm);
  if (first !== undefined && second === undefined) return { title: first, ...arm };
  return typeof arm.type === 'string' ? { title: arm.type, ...arm } : arm;
}
