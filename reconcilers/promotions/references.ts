/**
 * `$file` in manifests that lie in different folders: between the two a reference is a path from the root of the repository,
 * with `/` before it, which no manifest may hold itself.
 */
import { posix } from 'node:path';
import { includePath, pointerTo } from '../source/index.ts';
import { isMap, isReference } from './merge.ts';

const EVERYWHERE = { path: '', sharedPaths: [] };

/** Each reference below the value, with the pointer to it, in place of what `as` makes of it. */
function replaceReferences(
  value: unknown,
  as: (reference: { $file: unknown }, pointer: string) => unknown,
  pointer = '',
): unknown {
  if (isReference(value)) return as(value, pointer);
  if (Array.isArray(value))
    return value.map((item, index) => replaceReferences(item, as, pointerTo(pointer, index)));
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, replaceReferences(item, as, pointerTo(pointer, key))]),
  );
}

/**
 * As written in the manifest at the path, from the root. `otherwise` says what stands for one that is not to be kept, or that
 * leads nowhere.
 */
export function fromRoot<T>(
  spec: T,
  manifestPath: string,
  keep: (path: string) => boolean = () => true,
  otherwise: (pointer: string, reference: { $file: unknown }) => unknown = (_, reference) => reference,
): T {
  return replaceReferences(spec, (reference, pointer) => {
    const path = includePath(reference, manifestPath, EVERYWHERE);
    return typeof path === 'string' && keep(path) ? { $file: `/${path}` } : otherwise(pointer, reference);
  }) as T;
}

/** The other way round: as the manifest at the path has to write them. */
export function relativeTo<T>(spec: T, manifestPath: string): T {
  return replaceReferences(spec, (reference) => {
    const path = rootPath(reference);
    return path === null ? reference : { $file: posix.relative(posix.dirname(manifestPath), path) };
  }) as T;
}

/** Of a reference in the form between the two; null for another one. */
export const rootPath = ({ $file }: { $file: unknown }): string | null =>
  typeof $file === 'string' && $file.startsWith('/') ? $file.slice(1) : null;

/** Whether a manifest of this scope may read the path. */
export const mayRead = (path: string, scope: { path: string; sharedPaths: readonly string[] }): boolean =>
  [scope.path, ...scope.sharedPaths].some((folder) => folder === '' || path.startsWith(`${folder}/`));
