/** The fields that differ between two specs, by JSON pointer. */
import { isDeepStrictEqual } from 'node:util';
import { maskSensitive } from '../../controller/pipelines/index.ts';
import type { FieldChange } from '../../schemas/api/delivery/git-plan.ts';
import { pointerTo } from '../source/index.ts';

export const MAX_FIELDS = 200;
const MAX_TEXT = 4_000;

/** At most `MAX_FIELDS`, in the order of `after`. Values that look like credentials are masked on both sides. */
export function fieldChanges(before: object, after: object): FieldChange[] {
  const found: FieldChange[] = [];
  compare('', '', before, after, found);
  return found;
}

function compare(pointer: string, key: string, before: unknown, after: unknown, found: FieldChange[]): void {
  if (found.length >= MAX_FIELDS || isDeepStrictEqual(before, after)) return;
  if (isRecord(before) && isRecord(after)) {
    for (const name of new Set([...Object.keys(after), ...Object.keys(before)]))
      compare(pointerTo(pointer, name), name, before[name], after[name], found);
    return;
  }
  if (isListOfRecords(before) && isListOfRecords(after) && before.length === after.length) {
    for (const [index, item] of after.entries())
      compare(pointerTo(pointer, String(index)), key, before[index], item, found);
    return;
  }
  found.push({ pointer, before: present(key, before), after: present(key, after) });
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isListOfRecords = (value: unknown): value is Record<string, unknown>[] =>
  Array.isArray(value) && value.length > 0 && value.every(isRecord);

function present(key: string, value: unknown): string | null {
  if (value === undefined) return null;
  const text = JSON.stringify(maskSensitive({ [key]: value })[key]);
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text;
}
