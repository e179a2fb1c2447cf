/** What a schema has against a document, one sentence each: which field, what is expected, what was probably meant. */

import { didYouMean } from '../../../controller/platform/text/nearest-name.ts';
import { pointerSegments } from '../../../controller/platform/yaml/pointer.ts';
import { MANIFESTS, type ManifestKind } from '../../../schemas/manifests/index.ts';
import { type SchemaIssue, validator } from '../../../schemas/validate.ts';
import type { SpecFinding } from './resolve-spec.ts';

const MAX_FINDINGS = 20;

interface SchemaNode {
  type?: string;
  description?: string;
  enum?: unknown[];
  properties?: Record<string, SchemaNode>;
  patternProperties?: Record<string, SchemaNode>;
  items?: SchemaNode;
}

function schemaAt(root: SchemaNode, segments: readonly string[]): SchemaNode | undefined {
  let node: SchemaNode | undefined = root;
  for (const segment of segments) {
    if (!node) return undefined;
    node = node.properties?.[segment] ?? node.items ?? Object.values(node.patternProperties ?? {})[0];
  }
  return node;
}

function valueAt(root: unknown, segments: readonly string[]): unknown {
  let node = root;
  for (const segment of segments) {
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, segment)) return undefined;
    node = (node as Record<string, unknown>)[segment];
  }
  return node;
}

function kindOfValue(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  if (typeof value === 'string') return 'text';
  return typeof value === 'boolean' ? 'true or false' : 'a number';
}

const EXPECTED: Record<string, string> = {
  object: 'a map of fields',
  array: 'a list',
  string: 'text',
  boolean: 'true or false',
  number: 'a number',
  integer: 'a whole number',
};

function unknownField(
  issue: SchemaIssue,
  segments: readonly string[],
  schema: SchemaNode,
): Omit<SpecFinding, 'pointer' | 'stage'> {
  const field = String(issue.params.additionalProperty).slice(0, 100);
  const parent = schemaAt(schema, segments.slice(0, -1));
  const [pattern] = Object.keys(parent?.patternProperties ?? {});
  if (!parent?.properties && pattern !== undefined) {
    const isComponent = pattern.includes('a-zA-Z_');
    return {
      message: `\`${field}\` cannot be a key of ${segments.slice(0, -1).join('.')}`,
      hint: isComponent
        ? 'Use letters, digits and _, beginning with a letter or _.'
        : 'Use 1 to 128 characters on one line.',
    };
  }
  const known = Object.keys(parent?.properties ?? {});
  return {
    message: `\`${field}\` is not a known field of ${segments.slice(0, -1).join('.') || 'a manifest'}`,
    hint: didYouMean(
      field,
      known,
      `Known fields: ${known.join(', ')}.${pattern === '^x-' ? ' Names that begin with x- are free, for anchors.' : ''}`,
    ),
  };
}

function describe(
  issue: SchemaIssue,
  schema: SchemaNode,
  document: unknown,
  written: (pointer: string) => string | null,
): Omit<SpecFinding, 'pointer' | 'stage'> {
  const segments = pointerSegments(issue.path);
  const field = segments.map((segment) => segment.slice(0, 100)).join('.') || 'the document';
  const node = schemaAt(schema, segments);
  const about = node?.description ?? 'See the published schema for this kind.';
  switch (issue.keyword) {
    case 'additionalProperties':
      return unknownField(issue, segments, schema);
    case 'required':
      return { message: `\`${field}\` is required`, hint: about };
    case 'enum': {
      const allowed = (issue.params.allowedValues as unknown[]).map(String);
      const value = valueAt(document, segments);
      const list = `Allowed: ${allowed.join(', ')}.`;
      return {
        message: `\`${field}\` must be one of ${allowed.join(', ')}`,
        hint: typeof value === 'string' ? didYouMean(value, allowed, list) : list,
      };
    }
    case 'type': {
      const value = valueAt(document, segments);
      const expected = EXPECTED[String(issue.params.type)] ?? String(issue.params.type);
      const message = `\`${field}\` must be ${expected}, here it is ${kindOfValue(value)}`;
      if (issue.params.type !== 'string' || (typeof value !== 'number' && typeof value !== 'boolean')) {
        return { message, hint: about };
      }
      return {
        message,
        hint: `Put it in quotes: "${(written(issue.path) ?? String(value)).slice(0, 100)}".`,
      };
    }
    case 'anyOf':
      return { message: `\`${field}\` must be text, a number, true or false`, hint: about };
    case 'pattern':
    case 'format':
      return { message: `\`${field}\` is not written as it must be`, hint: about };
    case 'minItems':
    case 'minProperties':
      return { message: `\`${field}\` needs at least ${issue.params.limit}`, hint: about };
    case 'maxItems':
    case 'maxProperties':
    case 'maxLength':
      return { message: `\`${field}\` is too long: ${issue.params.limit} is the most`, hint: about };
    default:
      return { message: `\`${field}\` ${issue.message}`, hint: about };
  }
}

/** Compiles what most documents need: 60 ms in one piece, which nobody should wait for once there are requests. */
export function prepareSchemas(): void {
  validator(MANIFESTS.Pipeline).fits(null);
}

/**
 * Empty for a valid document. Pointers count from the document. `written` gives the source text of a scalar, to show
 * how it would look in quotes.
 */
export function schemaFindings(
  kind: ManifestKind,
  document: unknown,
  written: (pointer: string) => string | null,
): SpecFinding[] {
  const schema = MANIFESTS[kind];
  const checked = validator<typeof schema>(schema);
  if (checked.fits(document)) return [];
  const issues = checked.issues(document);
  const unions = new Set(issues.filter((issue) => issue.keyword === 'anyOf').map((issue) => issue.path));
  const findings = issues
    .filter((issue) => issue.keyword === 'anyOf' || !unions.has(issue.path))
    .map(
      (issue): SpecFinding => ({
        stage: 'schema',
        pointer: issue.path,
        ...describe(issue, schema as SchemaNode, document, written),
      }),
    );
  // A text may have neither the pattern nor the format of its field.
  const distinct = new Map(findings.map((finding) => [`${finding.pointer} ${finding.message}`, finding]));
  return [...distinct.values()].slice(0, MAX_FINDINGS);
}
