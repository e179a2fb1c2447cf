/** `{ $file: path }` in a spec: how it differs from other values, and where it is. */
import { pointerTo } from '../../../controller/platform/yaml/pointer.ts';

export const FILE_KEY = '$file';

export function isFileReference(value: object): boolean {
  return Object.hasOwn(value, FILE_KEY);
}

/** Every reference of a spec with its JSON pointer. */
export function fileReferences(spec: unknown, pointer = ''): { pointer: string; reference: object }[] {
  if (typeof spec !== 'object' || spec === null) return [];
  if (!Array.isArray(spec) && isFileReference(spec)) return [{ pointer, reference: spec }];
  return Object.entries(spec).flatMap(([key, value]) => fileReferences(value, pointerTo(pointer, key)));
}
