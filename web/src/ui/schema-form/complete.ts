/** What may be written at a place of a YAML text, as its schema says. Knows nothing of an editor. */
import { type FormSchema, isPlain } from './schema.ts';
import { inOneLine } from './value.ts';

export interface Completion {
  /** What is offered, and written without `: ` behind it. */
  label: string;
  kind: 'option' | 'value';
  about: string;
}

export interface Completions {
  /** Offset in the text from which on the word under the cursor is replaced. */
  from: number;
  options: Completion[];
}

const MAX_ABOUT = 300;

interface Step {
  indent: number;
  key: string;
}

/** Keys above the line, by indentation: enough for a text that is being written and cannot be parsed. */
function pathOf(lines: readonly string[], indent: number): string[] {
  const path: Step[] = [];
  let limit = indent;
  for (const line of [...lines].reverse()) {
    const match = /^(\s*)(- )?([\w.-]+):(\s.*)?$/.exec(line);
    if (!match) continue;
    const own = (match[1]?.length ?? 0) + (match[2] ? 2 : 0);
    if (own >= limit) continue;
    path.unshift({ indent: own, key: match[3] ?? '' });
    limit = own;
    if (own === 0) break;
  }
  return path.map(({ key }) => key);
}

/** All forms that a value may have, one below the other. */
const formsOf = (schema: FormSchema): FormSchema[] => {
  const arms = schema.oneOf ?? schema.anyOf ?? [];
  return [schema, ...arms.flatMap(formsOf)];
};

function below(schemas: readonly FormSchema[], key: string): FormSchema[] {
  return schemas.flatMap((schema) => {
    const property = schema.properties?.[key];
    if (property) return formsOf(property);
    return isPlain(schema.additionalProperties) ? formsOf(schema.additionalProperties) : [];
  });
}

/** Inside of a list the place is that of an item. */
const itemsOf = (schemas: readonly FormSchema[]): FormSchema[] =>
  schemas.flatMap((schema) => (schema.items ? [schema, ...formsOf(schema.items)] : [schema]));

function schemasAt(schema: FormSchema, path: readonly string[]): FormSchema[] {
  return path.reduce<FormSchema[]>((at, key) => itemsOf(below(at, key)), formsOf(schema));
}

/** Null where nothing is known. `text` ends at the cursor. */
export function completionsAt(schema: FormSchema, text: string): Completions | null {
  const lines = text.split('\n');
  const line = lines.pop() ?? '';
  const value = /^(\s*)(?:- )?([\w.-]+):\s+(\S*)$/.exec(line);
  if (value) {
    const indent = /^\s*(?:- )?/.exec(line)?.[0].length ?? 0;
    const schemas = schemasAt(schema, [...pathOf(lines, indent), value[2] ?? '']);
    return offer(text.length - (value[3]?.length ?? 0), schemas.flatMap(valuesOf));
  }
  const item = /^(\s*)- (\S*)$/.exec(line);
  const key = /^(\s*(?:- )?)([\w.-]*)$/.exec(line);
  if (!key) return null;
  const indent = key[1]?.length ?? 0;
  const schemas = schemasAt(schema, pathOf(lines, indent));
  // A new item has nothing in it yet.
  const written = key[1]?.includes('-') ? new Set<string>() : siblings(lines, indent);
  const options = schemas.flatMap((each) =>
    Object.entries(each.properties ?? {}).flatMap(([label, option]): Completion[] =>
      written.has(label) ? [] : [{ label, kind: 'option', about: aboutOf(option) }],
    ),
  );
  const values = item ? schemas.flatMap(valuesOf) : [];
  return offer(text.length - (key[2]?.length ?? 0), [...options, ...values]);
}

/** Options that stand in the same map already. */
function siblings(lines: readonly string[], indent: number): Set<string> {
  const found = new Set<string>();
  for (const line of [...lines].reverse()) {
    const match = /^(\s*(?:- )?)([\w.-]+):/.exec(line);
    if (!match) continue;
    const own = match[1]?.length ?? 0;
    if (own < indent) break;
    if (own === indent) found.add(match[2] ?? '');
    if (own === indent && match[1]?.includes('-')) break;
  }
  return found;
}

function valuesOf(schema: FormSchema): Completion[] {
  const value = (label: string, about = ''): Completion => ({ label, kind: 'value', about });
  if ('const' in schema) return [value(inOneLine(schema.const), aboutOf(schema))];
  if (schema.enum) {
    return schema.enum.map((word, at) => value(inOneLine(word), schema.enumDescriptions?.[at]));
  }
  return schema.type === 'boolean' ? [value('true'), value('false')] : [];
}

const aboutOf = ({ description = '' }: FormSchema): string => description.slice(0, MAX_ABOUT);

function offer(from: number, options: readonly Completion[]): Completions | null {
  const known = new Map(options.map((option) => [`${option.kind} ${option.label}`, option]));
  return known.size > 0 ? { from, options: [...known.values()] } : null;
}
