/** Computes the edits from one state of a manifest to another, which leave the rest of the file unchanged. */

import type { Edit } from '../write-back/index.ts';
import { differences } from '../write-back/yaml/differences.ts';
import { rootPathOf, toRelativeReferences } from './file-references.ts';
import { isMap, isReference, type Promotable } from './merge-promotion.ts';

/** YAML text cannot hold NUL. */
const REFERENCE_MARK = '\u0000file:';

/** The inputs hold root references; the edits hold references relative to the manifest. */
export function editsBetween(before: Promotable, after: Promotable, manifestPath: string): Edit[] {
  const toPlainObject = ({ labels, spec }: Promotable) => ({
    kind: 'Pipeline' as const,
    ...{ name: '', uid: null },
    labels: labels as Record<string, string>,
    spec: encodeReferences(spec) as Record<string, unknown>,
  });
  return differences(toPlainObject(before), toPlainObject(after)).map(({ pointer, value, insert }) => ({
    pointer,
    value: value === undefined ? undefined : toRelativeReferences(decodeReferences(value), manifestPath),
    ...(insert ? { insert } : {}),
  }));
}

/** Encodes each reference as one string, so that edits replace it as a whole. */
function encodeReferences(value: unknown): unknown {
  if (isReference(value)) return REFERENCE_MARK + (rootPathOf(value) ?? JSON.stringify(value));
  if (Array.isArray(value)) return value.map(encodeReferences);
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, encodeReferences(item)]));
}

function decodeReferences(value: unknown): unknown {
  if (typeof value === 'string' && value.startsWith(REFERENCE_MARK)) {
    const reference = value.slice(REFERENCE_MARK.length);
    return reference.startsWith('{') ? JSON.parse(reference) : { $file: `/${reference}` };
  }
  if (Array.isArray(value)) return value.map(decodeReferences);
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, decodeReferences(item)]));
}
