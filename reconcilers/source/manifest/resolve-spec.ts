/** Puts the contents of `$file` and the values of `${value.x}` into a spec, and remembers what came from which file. */

import { pointerTo } from '../../../controller/platform/yaml/pointer.ts';
import type { Finding } from '../finding.ts';
import { isFileReference } from '../yaml/file-reference.ts';
import { hasPlaceholder, replaceValues, VALUE_SECTIONS } from '../yaml/values.ts';

export interface IncludedContent {
  path: string;
  value: unknown;
}

export type SpecFinding = Omit<Finding, 'line' | 'column'> & { pointer: string };

/** A fixture becomes a value; anywhere else a file is its text. */
export function isFixture(pointer: string): boolean {
  return /^\/tests\/\d+\/input(?:\/|$)/.test(pointer);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A copy of the spec with everything filled in. References that could not be read are missing from `included` and stay
 * as they are.
 */
export function resolveSpec(
  spec: unknown,
  included: ReadonlyMap<string, IncludedContent>,
): { spec: unknown; findings: SpecFinding[] } {
  const findings: SpecFinding[] = [];
  const values = isRecord(spec) && isRecord(spec.values) ? spec.values : {};
  const resolve = (node: unknown, pointer: string, replace: boolean): unknown => {
    if (typeof node === 'string') {
      if (!replace || !hasPlaceholder(node)) return node;
      return replaceValues(node, values, (finding) => findings.push({ ...finding, pointer }));
    }
    if (Array.isArray(node))
      return node.map((item, index) => resolve(item, pointerTo(pointer, index), replace));
    if (!isRecord(node)) return node;
    if (isFileReference(node)) {
      const content = included.get(pointer);
      return content ? content.value : node;
    }
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => [
        key,
        resolve(value, pointerTo(pointer, key), replace || (pointer === '' && VALUE_SECTIONS.has(key))),
      ]),
    );
  };
  return { spec: resolve(spec, '', false), findings };
}
