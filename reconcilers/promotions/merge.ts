/**
 * What a promotion brings, put together with what the target has. Pure.
 *
 * Three-way, field by field: what only the source has changed since the last promotion goes in, what only the target has
 * changed stays, and where both have changed the same the source's value goes in and the field is named. Maps are gone
 * through by key; lists and scalars are whole, and so is a component whose type differs.
 *
 * Without an earlier promotion nobody can tell who has changed what: the source's values go in, and what only the target has
 * stays and is named. So does a text that the target writes with a `${value.…}` where the source has a plain value: it was
 * made the environment's own.
 */
import { isDeepStrictEqual } from 'node:util';
import { pointerTo } from '../source/index.ts';

export type Fields = Record<string, unknown>;

/** The fields that travel. References are in the form of `references.ts`. */
export interface Promotable {
  labels: Fields;
  spec: Fields;
}

export interface Merged {
  document: Promotable;
  /** Pointers into the spec, or `/metadata/…`: changed on both sides; the source's value went in. */
  conflicts: string[];
  /** What only the target has changed, or has. */
  kept: string[];
}

export interface Sides {
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

/** `textOf`: what stands in the file that the target refers to; undefined where that is not known. */
export function mergePromotion(
  { base, source, target }: Sides,
  textOf: (reference: { $file: unknown }) => string | undefined = () => undefined,
): Merged {
  const conflicts: string[] = [];
  const kept: string[] = [];

  const same = (pointer: string, a: unknown, b: unknown): boolean => {
    if (isDeepStrictEqual(a, b)) return true;
    if (INPUTS.test(pointer) && Array.isArray(a) && Array.isArray(b)) return sameMembers(a, b);
    if (isReference(a) !== isReference(b)) {
      const [reference, other] = isReference(a) ? [a, b] : [b as { $file: unknown }, a];
      return typeof other === 'string' && textOf(reference) === other;
    }
    return false;
  };

  const merge = (pointer: string, was: unknown, from: unknown, to: unknown): unknown => {
    if (same(pointer, from, to)) return to;
    if (base !== null && same(pointer, was, from)) {
      tellKept(pointer, from, to);
      return to;
    }
    if (goesInto(pointer, from, to)) return mergeMaps(pointer, was, from, to);
    if (base === null) {
      if (from !== undefined && !isOwn(from, to)) return from;
      kept.push(pointer);
      return to;
    }
    if (!same(pointer, was, to)) conflicts.push(pointer);
    return from;
  };

  /** Of a whole map that stays, only what differs is told. */
  const tellKept = (pointer: string, from: unknown, to: unknown): void => {
    if (same(pointer, from, to)) return;
    if (!goesInto(pointer, from, to)) kept.push(pointer);
    else
      for (const key of new Set([...Object.keys(from as Fields), ...Object.keys(to as Fields)]))
        tellKept(pointerTo(pointer, key), own(from, key), own(to, key));
  };

  const mergeMaps = (pointer: string, was: unknown, from: unknown, to: unknown): Fields => {
    const merged: [string, unknown][] = [];
    for (const key of new Set([...Object.keys(to as Fields), ...Object.keys(from as Fields)])) {
      const value = merge(pointerTo(pointer, key), own(was, key), own(from, key), own(to, key));
      if (value !== undefined) merged.push([key, value]);
    }
    return Object.fromEntries(merged);
  };

  /** Of the fields themselves, an empty map says what absence says. */
  const mergeFields = (was: unknown, from: Fields, to: Fields): Fields => {
    const fields = [...new Set([...Object.keys(to), ...Object.keys(from)])];
    const filled = (side: Fields, other: Fields): Fields =>
      Object.fromEntries(
        fields.map((field) => [field, own(side, field) ?? (isOpenMap(own(other, field)) ? {} : undefined)]),
      );
    const merged = mergeMaps('', was, filled(from, to), filled(to, from));
    return Object.fromEntries(Object.entries(merged).filter(([, value]) => !isEmptyMap(value)));
  };

  const spec = mergeFields(base?.spec, source.spec, target.spec);
  const labels = mergeMaps('/metadata/labels', base?.labels, source.labels, target.labels);
  return { document: { labels, spec }, conflicts, kept };
}

const own = (value: unknown, key: string): unknown =>
  isOpenMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;

const isOpenMap = (value: unknown): value is Fields => isMap(value) && !isReference(value);
const isEmptyMap = (value: unknown): boolean => isMap(value) && Object.keys(value).length === 0;

function goesInto(pointer: string, from: unknown, to: unknown): boolean {
  if (!isOpenMap(from) || !isOpenMap(to)) return false;
  return !COMPONENT.test(pointer) || from.type === to.type;
}

/** What the target has made its environment's own. */
const isOwn = (from: unknown, to: unknown): boolean =>
  typeof to === 'string' && PLACEHOLDER.test(to) && !(typeof from === 'string' && PLACEHOLDER.test(from));

/** What feeds a component has no order. */
function sameMembers(a: readonly unknown[], b: readonly unknown[]): boolean {
  const members = new Set(a);
  return a.length === b.length && members.size === a.length && b.every((one) => members.has(one));
}
