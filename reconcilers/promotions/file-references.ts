/**
 * Converts `$file` references between manifests in different folders. In between, a root reference is a path from the root of
 * the repository with a leading `/`, which a manifest itself may not hold.
 */
import { posix } from 'node:path';
import { includePath, pointerTo } from '../source/index.ts';
import { isMap, isReference } from './merge-promotion.ts';

const EVERYWHERE = { path: '', sharedPaths: [] };

/** Replaces each reference in the value. */
function replaceReferences(
  value: unknown,
  replace: (reference: { $file: unknown }, pointer: string) => unknown,
  pointer = '',
): unknown {
  if (isReference(value)) return replace(value, pointer);
  if (Array.isArray(value))
    return value.map((item, index) => replaceReferences(item, replace, pointerTo(pointer, index)));
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      replaceReferences(item, replace, pointerTo(pointer, key)),
    ]),
  );
}

/** `replacement`: the value for a reference that is not kept or that has no valid path. */
export function toRootReferences<T>(
  spec: T,
  manifestPath: string,
  canKeep: (path: string) => boolean = () => true,
  replacement: (pointer: string, reference: { $file: unknown }) => unknown = (_, reference) => reference,
): T {
  return replaceReferences(spec, (reference, pointer) => {
    const path = includePath(reference, manifestPath, EVERYWHERE);
    return typeof path === 'string' && canKeep(path)
      ? { $file: `/${path}` }
      : replacement(pointer, reference);
  }) as T;
}

/** Converts root references into the form for the manifest at the path. */
export function toRelativeReferences<T>(spec: T, manifestPath: string): T {
  return replaceReferences(spec, (reference) => {
    const path = rootPathOf(reference);
    return path === null ? reference : { $file: posix.relative(posix.dirname(manifestPath), path) };
  }) as T;
}

/** The path of a root reference; null for another reference. */
export const rootPathOf = ({ $file }: { $file: unknown }): string | null =>
  typeof $file === 'string' && $file.startsWith('/') ? $file.slice(1) : null;

/** Whether a manifest of this scope may read the path. */
export const canRead = (path: string, scope: { path: string; sharedPaths: readonly string[] }): boolean =>
  [scope.path, ...scope.sharedPaths].some((folder) => folder === '' || path.startsWith(`${folder}/`));
