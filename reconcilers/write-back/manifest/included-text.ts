/** Texts that a manifest reads from files of their own. */
import { pointerSegments } from '../../../controller/platform/yaml/pointer.ts';
import { type DesiredManifest, includePath } from '../../source/index.ts';
import type { Tip } from '../branch-tip.ts';
import { CannotEdit } from '../yaml/cannot-edit.ts';
import { type Difference, valueAt } from '../yaml/differences.ts';
import { withLines } from '../yaml/text-lines.ts';

/** A `$file` that the pointer leads to, or through. */
export function referenceAt(raw: unknown, pointer: string): { at: string; reference: object } | null {
  const segments = pointerSegments(pointer);
  for (let length = segments.length; length > 0; length -= 1) {
    const at = pointer
      .split('/')
      .slice(0, length + 1)
      .join('/');
    const value = valueAt(raw, at);
    if (typeof value === 'object' && value !== null && '$file' in value) return { at, reference: value };
  }
  return null;
}

/** The included file is changed instead, where it is this manifest's alone. */
export async function intoFile(
  tip: Tip,
  manifest: DesiredManifest,
  { at, reference }: { at: string; reference: object },
  edit: Difference,
  files: Map<string, string | null>,
): Promise<void> {
  const path = includePath(reference, manifest.path, tip.scope);
  if (typeof path !== 'string') throw new CannotEdit(path.message);
  if (edit.pointer !== at || typeof edit.value !== 'string')
    throw new CannotEdit(`${at} is read from ${path}, and would not be a text any more`);
  const others = (await tip.includers(path)).filter((one) => one.path !== manifest.path || one.times > 1);
  if (others.length > 0) {
    const named = others
      .slice(0, 5)
      .map((one) => (one.path === manifest.path ? `${one.path}, ${one.times} times` : one.path));
    const more = others.length > 5 ? ` and ${others.length - 5} more` : '';
    throw new CannotEdit(`${at} is read from ${path}, which others include too: ${named.join(', ')}${more}`);
  }
  files.set(path, withLines(await tip.text(path), edit.value));
}
