/** From what a manifest says to what it is to say: edits that leave all else of its file as it is. */

import type { Edit } from '../write-back/index.ts';
import { differences } from '../write-back/yaml/differences.ts';
import { isMap, isReference, type Promotable } from './merge.ts';
import { relativeTo, rootPath } from './references.ts';

/** No YAML text holds it. */
const MARK = '\u0000file:';

/** Both with references from the root; the edits have them as the manifest at the path writes them. */
export function editsBetween(before: Promotable, after: Promotable, manifestPath: string): Edit[] {
  const plain = ({ labels, spec }: Promotable) => ({
    kind: 'Pipeline' as const,
    ...{ name: '', uid: null },
    labels: labels as Record<string, string>,
    spec: marked(spec) as Record<string, unknown>,
  });
  return differences(plain(before), plain(after)).map(({ pointer, value, insert }) => ({
    pointer,
    value: value === undefined ? undefined : relativeTo(unmarked(value), manifestPath),
    ...(insert ? { insert } : {}),
  }));
}

/** A reference is one value: none of it is changed by itself. */
function marked(value: unknown): unknown {
  if (isReference(value)) return MARK + (rootPath(value) ?? JSON.stringify(value));
  if (Array.isArray(value)) return value.map(marked);
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, marked(item)]));
}

function unmarked(value: unknown): unknown {
  if (typeof value === 'string' && value.startsWith(MARK)) {
    const said = value.slice(MARK.length);
    return said.startsWith('{') ? JSON.parse(said) : { $file: `/${said}` };
  }
  if (Array.isArray(value)) return value.map(unmarked);
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unmarked(item)]));
}
