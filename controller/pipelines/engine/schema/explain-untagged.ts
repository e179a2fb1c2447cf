/**
 * An engine says of an option whose value fits none of its alternatives only `data did not match any variant of untagged
 * enum X`. Its own schema names the option and its valid forms.
 */
import { isSchema, type Schema, schemasOf } from './form-schema.ts';

export const UNTAGGED = /data did not match any variant of untagged enum \w+/;

const MOST_SHAPES = 6;

/** The message with the option and its shapes; the message as it is where no single option is found. */
export function explainUntagged(message: string, key: string, component: unknown, schema: Schema): string {
  if (!UNTAGGED.test(message) || !isSchema(component)) return message;
  const wrong = misfits(component, schema, '');
  const [first] = wrong;
  if (!first || wrong.length > 1) return message;
  const shapes = first.arms.slice(0, MOST_SHAPES).map(shapeOf).join(', or ');
  return `option \`${first.path}\` of \`${key}\` has none of the allowed shapes: ${shapes}`;
}

interface Misfit {
  path: string;
  arms: Schema[];
}

/** Options with alternatives of which none fits, the innermost ones. */
function misfits(value: Schema, schema: Schema, path: string): Misfit[] {
  const properties = isSchema(schema.properties) ? schema.properties : {};
  return Object.entries(value).flatMap(([name, inner]): Misfit[] => {
    const option = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!isSchema(option)) return [];
    const at = path === '' ? name : `${path}.${name}`;
    const arms = schemasOf(option.oneOf);
    if (arms.length > 0) return arms.some((arm) => fits(inner, arm)) ? [] : [{ path: at, arms }];
    return isSchema(inner) ? misfits(inner, option, at) : [];
  });
}

/** Shallow: a value that is doubtful fits, so that nothing right is called wrong. */
function fits(value: unknown, schema: Schema): boolean {
  const arms = schemasOf(schema.oneOf);
  if (arms.length > 0) return arms.some((arm) => fits(value, arm));
  // The environment fills placeholders in before anything is parsed.
  if (typeof value === 'string' && value.includes('$')) return true;
  if (Array.isArray(schema.enum) && !schema.enum.includes(value)) return false;
  if ('const' in schema && schema.const !== value) return false;
  if (!ofType(value, schema.type)) return false;
  if (!isSchema(value)) return true;
  const required = Array.isArray(schema.required) ? schema.required : [];
  if (required.some((name) => !Object.hasOwn(value, String(name)))) return false;
  const properties = isSchema(schema.properties) ? schema.properties : {};
  return Object.entries(value).every(([name, inner]) => {
    const option = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return isSchema(option) ? fits(inner, option) : schema.additionalProperties !== false;
  });
}

function ofType(value: unknown, type: unknown): boolean {
  const types = Array.isArray(type) ? type : [type];
  return types.some((name) => {
    if (name === 'array') return Array.isArray(value);
    if (name === 'object') return isSchema(value);
    if (name === 'integer') return Number.isInteger(value);
    if (name === 'null') return value === null;
    return name === undefined || typeof value === name;
  });
}

function shapeOf(schema: Schema): string {
  const words = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : [];
  if (words.length > 0)
    return words
      .slice(0, MOST_SHAPES)
      .map((word) => `\`${word}\``)
      .join(' or ');
  const type = Array.isArray(schema.type)
    ? schema.type.join(' or ')
    : String(schema.type ?? schema.title ?? 'a value');
  const required = Array.isArray(schema.required) ? schema.required : [];
  return required.length > 0 ? `${type} with ${required.map((name) => `\`${name}\``).join(', ')}` : type;
}
