/**
 * Merges the promoted fields of the source into those of the target. Pure.
 *
 * It is a three-way merge by field, with the last promotion as its base. A field that only the source changed gets the value of
 * the source. A field that only the target changed is retained. A field that both changed gets the value of the source and is
 * a conflict. Maps are merged by key. Lists, scalars and components of different types are single values.
 *
 * The first promotion has no base: then the values of the source win, and fields that only the target has are retained. A text
 * with `${value.…}` in the target is retained too if the source has a plain value there: it is specific to the environment.
 */
import { isDeepStrictEqual } from 'node:util';
import { pointerTo } from '../source/index.ts';

export type Fields = Record<string, unknown>;

/** The promoted fields of a manifest. References have the form of `file-references.ts`. */
export interface Promotable {
  labels: Fields;
  spec: Fields;
}

export interface MergedPromotion {
  document: Promotable;
  /** Pointers into the spec, or `/metadata/…`: both sides changed the field, and the source's value won. */
  conflicts: string[];
  /** Pointers to fields that keep the value of the target. */
  retained: string[];
}

export interface MergeInput {
  base: Promotable | null;
  source: Promotable;
  target: Promotable;
}

export const isMap = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isReference = (value: unknown): value is { $file: unknown } =>
  isMap(value) && Object.hasOwn(value, '$file');

const COMPONENT = /^\/(?:sources|transforms|sinks)\/[^/]+$/;
const INPUTS = /^\/(?:transforms|sinks)\/[^/]+\/inputs$/;
const PLACEHOLDER = /(?<!\$)\$\{value\.[^{}\n]{0,200}\}/;

/** `readReferenced`: the text of a referenced file; undefined where it is unknown. */
export function mergePromotion(
  { base, source, target }: MergeInput,
  readReferenced: (reference: { $file: unknown }) => string | undefined = () => undefined,
): MergedPromotion {
  const conflicts: string[] = [];
  const retained: string[] = [];

  const isSame = (pointer: string, a: unknown, b: unknown): boolean => {
    if (isDeepStrictEqual(a, b)) return true;
    if (INPUTS.test(pointer) && Array.isArray(a) && Array.isArray(b)) return hasSameMembers(a, b);
    if (isReference(a) !== isReference(b)) {
      const [reference, other] = isReference(a) ? [a, b] : [b as { $file: unknown }, a];
      return typeof other === 'string' && readReferenced(reference) === other;
    }
    return false;
  };

  const mergeValue = (
    pointer: string,
    baseValue: unknown,
    sourceValue: unknown,
    targetValue: unknown,
  ): unknown => {
    if (isSame(pointer, sourceValue, targetValue)) return targetValue;
    if (base !== null && isSame(pointer, baseValue, sourceValue)) {
      recordRetained(pointer, sourceValue, targetValue);
      return targetValue;
    }
    if (canMergeByKey(pointer, sourceValue, targetValue))
      return mergeMaps(pointer, baseValue, sourceValue, targetValue);
    if (base === null) {
      if (sourceValue !== undefined && !isTargetPlaceholder(sourceValue, targetValue)) return sourceValue;
      retained.push(pointer);
      return targetValue;
    }
    if (!isSame(pointer, baseValue, targetValue)) conflicts.push(pointer);
    return sourceValue;
  };

  /** Of a retained map, only the differing fields are listed. */
  const recordRetained = (pointer: string, sourceValue: unknown, targetValue: unknown): void => {
    if (isSame(pointer, sourceValue, targetValue)) return;
    if (!canMergeByKey(pointer, sourceValue, targetValue)) retained.push(pointer);
    else
      for (const key of new Set([
        ...Object.keys(sourceValue as Fields),
        ...Object.keys(targetValue as Fields),
      ]))
        recordRetained(pointerTo(pointer, key), valueAtKey(sourceValue, key), valueAtKey(targetValue, key));
  };

  const mergeMaps = (
    pointer: string,
    baseValue: unknown,
    sourceValue: unknown,
    targetValue: unknown,
  ): Fields => {
    const merged: [string, unknown][] = [];
    for (const key of new Set([
      ...Object.keys(targetValue as Fields),
      ...Object.keys(sourceValue as Fields),
    ])) {
      const value = mergeValue(
        pointerTo(pointer, key),
        valueAtKey(baseValue, key),
        valueAtKey(sourceValue, key),
        valueAtKey(targetValue, key),
      );
      if (value !== undefined) merged.push([key, value]);
    }
    return Object.fromEntries(merged);
  };

  /** An empty top-level field equals an absent one. */
  const mergeFields = (baseValue: unknown, sourceValue: Fields, targetValue: Fields): Fields => {
    const fields = [...new Set([...Object.keys(targetValue), ...Object.keys(sourceValue)])];
    const filled = (side: Fields, other: Fields): Fields =>
      Object.fromEntries(
        fields.map((field) => [
          field,
          valueAtKey(side, field) ?? (isMergeableMap(valueAtKey(other, field)) ? {} : undefined),
        ]),
      );
    const merged = mergeMaps(
      '',
      baseValue,
      filled(sourceValue, targetValue),
      filled(targetValue, sourceValue),
    );
    return Object.fromEntries(Object.entries(merged).filter(([, value]) => !isEmptyMap(value)));
  };

  const spec = mergeFields(base?.spec, source.spec, target.spec);
  const labels = mergeMaps('/metadata/labels', base?.labels, source.labels, target.labels);
  return { document: { labels, spec }, conflicts, retained };
}

const valueAtKey = (value: unknown, key: string): unknown =>
  isMergeableMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;

const isMergeableMap = (value: unknown): value is Fields => isMap(value) && !isReference(value);
const isEmptyMap = (value: unknown): boolean => isMap(value) && Object.keys(value).length === 0;

function canMergeByKey(pointer: string, sourceValue: unknown, targetValue: unknown): boolean {
  if (!isMergeableMap(sourceValue) || !isMergeableMap(targetValue)) return false;
  return !COMPONENT.test(pointer) || sourceValue.type === targetValue.type;
}

/** The target has replaced a plain value by a placeholder. */
const isTargetPlaceholder = (sourceValue: unknown, targetValue: unknown): boolean =>
  typeof targetValue === 'string' &&
  PLACEHOLDER.test(targetValue) &&
  !(typeof sourceValue === 'string' && PLACEHOLDER.test(sourceValue));

/** The inputs of a component have no order. */
function hasSameMembers(a: readonly unknown[], b: readonly unknown[]): boolean {
  const members = new Set(a);
  return a.length === b.length && members.size === a.length && b.every((one) => members.has(one));
}
