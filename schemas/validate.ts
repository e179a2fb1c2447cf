/**
 * One way to check outside data against a schema. The schemas are plain JSON Schema; each is compiled the first time
 * it is used. An error names the place as a JSON pointer; a missing field is reported at the field, not at its parent.
 */
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import * as formats from 'ajv-formats';
import type { Static, TSchema } from 'typebox';
import { messageOfPattern } from './patterns.ts';

export interface SchemaIssue {
  /** JSON pointer of the offending value, `''` for the whole. */
  path: string;
  message: string;
  keyword: string;
  params: Record<string, unknown>;
}

const options = { allErrors: true, strict: false, verbose: false, allowUnionTypes: true } as const;
const firstOnly = new Ajv2020({ ...options, allErrors: false });
const all = new Ajv2020(options);
for (const ajv of [firstOnly, all]) formats.default.default(ajv);

function escapePointer(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1');
}

function issue(error: ErrorObject): SchemaIssue {
  const params = error.params as Record<string, unknown>;
  const child = params.missingProperty ?? params.additionalProperty;
  const path =
    typeof child === 'string' ? `${error.instancePath}/${escapePointer(child)}` : error.instancePath;
  return { path, message: describe(error), keyword: error.keyword, params };
}

function describe(error: ErrorObject): string {
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'required':
      return `is required`;
    case 'additionalProperties':
      return `is not a known field`;
    case 'enum':
      return `must be one of ${(params.allowedValues as unknown[]).map(String).join(', ')}`;
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}`;
    case 'type':
      return `must be ${article(String(params.type))}`;
    case 'pattern':
      return messageOfPattern(String(params.pattern)) ?? error.message ?? 'is not valid';
    default:
      return error.message ?? 'is not valid';
  }
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

export interface Validator<T> {
  /** True when the value fits. Stops at the first fault, which makes it the fast way on hot paths. */
  fits(value: unknown): value is T;
  /** The first thing that is wrong; empty when the value fits. For values from outside that may have millions of faults. */
  firstIssue(value: unknown): SchemaIssue[];
  /** Everything that is wrong; empty when the value fits. */
  issues(value: unknown): SchemaIssue[];
}

const cache = new WeakMap<object, Validator<unknown>>();

export function validator<S extends TSchema>(schema: S): Validator<Static<S>> {
  const known = cache.get(schema);
  if (known) return known as Validator<Static<S>>;
  let quick: ReturnType<typeof firstOnly.compile> | undefined;
  let full: ReturnType<typeof all.compile> | undefined;
  const made: Validator<Static<S>> = {
    fits(value): value is Static<S> {
      quick ??= firstOnly.compile(schema);
      return quick(value) as boolean;
    },
    firstIssue(value) {
      return made.fits(value) ? [] : (quick?.errors ?? []).slice(0, 1).map(issue);
    },
    issues(value) {
      if (made.fits(value)) return [];
      full ??= all.compile(schema);
      return full(value) ? [] : (full.errors ?? []).slice(0, 50).map(issue);
    },
  };
  cache.set(schema, made as Validator<unknown>);
  return made;
}

/** `field.sub: is required` sentences, for error messages. */
export function sentences(issues: readonly SchemaIssue[]): string {
  return issues
    .slice(0, 5)
    .map(
      (found) => `${found.path === '' ? 'input' : found.path.slice(1).replaceAll('/', '.')} ${found.message}`,
    )
    .join('; ');
}
