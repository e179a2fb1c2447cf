/** What a change does to a manifest, field by field. */
import { isDeepStrictEqual } from 'node:util';
import type { PlainManifest } from '../../../controller/delivery/bindings/index.ts';
import { pointerSegments, pointerTo } from '../../../controller/platform/yaml/pointer.ts';
import type { Edit } from './edit-document.ts';

type Fields = Record<string, unknown>;

export interface Difference extends Edit {
  /** The list that the edit is in, or the field itself: what must be as it was for the edit to mean what it meant. */
  field: string;
}

const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The manifest as the document has it, for as far as changes reach. */
export const documentOf = ({ name, labels, spec }: PlainManifest): Fields => ({
  metadata: { name, ...(Object.keys(labels).length === 0 ? {} : { labels }) },
  spec,
});

/** Edits that make the one document the other, each looking at what the one before left. */
export function differences(before: PlainManifest, after: PlainManifest): Difference[] {
  return differ(documentOf(before), settled(documentOf(before), documentOf(after)), '', null);
}

/** What feeds a component has no order: what stays keeps its place. */
function settled(before: Fields, after: Fields): Fields {
  const old = before.spec as Record<string, Fields | undefined>;
  const spec = Object.fromEntries(
    Object.entries(after.spec as Record<string, Fields>).map(([section, components]) => {
      if (section !== 'transforms' && section !== 'sinks') return [section, components];
      const kept = Object.entries(components).map(([key, component]) => {
        const was = (old[section]?.[key] as Fields | undefined)?.inputs;
        const now = (component as Fields).inputs;
        if (!Array.isArray(was) || !Array.isArray(now)) return [key, component];
        const inputs = [
          ...was.filter((one) => now.includes(one)),
          ...now.filter((one) => !was.includes(one)),
        ];
        return [key, { ...(component as Fields), inputs }];
      });
      return [section, Object.fromEntries(kept)];
    }),
  );
  return { ...after, spec };
}

function differ(before: unknown, after: unknown, pointer: string, list: string | null): Difference[] {
  if (isDeepStrictEqual(before, after)) return [];
  const field = list ?? pointer;
  if (isRecord(before) && isRecord(after)) {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
      const at = pointerTo(pointer, key);
      if (!Object.hasOwn(after, key)) return [{ pointer: at, value: undefined, field: list ?? at }];
      if (!Object.hasOwn(before, key)) return [{ pointer: at, value: after[key], field: list ?? at }];
      return differ(before[key], after[key], at, list);
    });
  }
  if (Array.isArray(before) && Array.isArray(after)) return differLists(before, after, pointer, field);
  return [{ pointer, value: after, field }];
}

const MAX_COMPARED = 1_000_000;

/** The longest entries in common stay; what is left of one length is changed in place. */
function differLists(
  before: readonly unknown[],
  after: readonly unknown[],
  pointer: string,
  field: string,
): Difference[] {
  if (before.length * after.length > MAX_COMPARED) return [{ pointer, value: after, field }];
  const edits: Difference[] = [];
  let index = 0;
  for (const { gone, come } of gaps(before, after)) {
    if (gone.length === 0 && come.length === 0) {
      index += 1;
      continue;
    }
    const paired = Math.min(gone.length, come.length);
    for (let at = 0; at < paired; at += 1) {
      edits.push(...differ(gone[at], come[at], pointerTo(pointer, index), field));
      index += 1;
    }
    for (let at = paired; at < gone.length; at += 1)
      edits.push({ pointer: pointerTo(pointer, index), value: undefined, field });
    for (const value of come.slice(paired)) {
      edits.push({ pointer: pointerTo(pointer, index), value, insert: true, field });
      index += 1;
    }
  }
  return edits;
}

/** In order: an empty gap for each entry in common, and what stands between them. */
function gaps(before: readonly unknown[], after: readonly unknown[]): { gone: unknown[]; come: unknown[] }[] {
  const lengths = Array.from({ length: before.length + 1 }, () =>
    new Array<number>(after.length + 1).fill(0),
  );
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const row = lengths[i] as number[];
      row[j] = isDeepStrictEqual(before[i], after[j])
        ? at(i + 1, j + 1) + 1
        : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const found: { gone: unknown[]; come: unknown[] }[] = [];
  let gap: { gone: unknown[]; come: unknown[] } = { gone: [], come: [] };
  const close = () => {
    if (gap.gone.length + gap.come.length > 0) found.push(gap);
    gap = { gone: [], come: [] };
  };
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    if (i < before.length && j < after.length && isDeepStrictEqual(before[i], after[j])) {
      close();
      found.push({ gone: [], come: [] });
      i += 1;
      j += 1;
    } else if (j >= after.length || (i < before.length && at(i + 1, j) >= at(i, j + 1))) {
      gap.gone.push(before[i]);
      i += 1;
    } else {
      gap.come.push(after[j]);
      j += 1;
    }
  }
  close();
  return found;
}

/** The value at a pointer; undefined where there is none. */
export function valueAt(value: unknown, pointer: string): unknown {
  return pointerSegments(pointer).reduce<unknown>((node, segment) => {
    if (Array.isArray(node)) return node[Number(segment)];
    return isRecord(node) && Object.hasOwn(node, segment) ? node[segment] : undefined;
  }, value);
}
