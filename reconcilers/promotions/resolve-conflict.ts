/**
 * Manifests that two branches changed, put together by what they say and not by lines: document by document, by field. For
 * the branch of a promotion whose base has moved on.
 */
import { isDeepStrictEqual } from 'node:util';
import { nameKeyOf } from '../../schemas/manifests/index.ts';
import type { Resolve } from '../pull-requests/merge/refresh-branch.ts';
import { readText } from '../source/index.ts';
import { CannotEdit } from '../write-back/yaml/cannot-edit.ts';
import { editDocument } from '../write-back/yaml/edit-document.ts';
import { editsBetween } from './field-edits.ts';
import { type Fields, isMap, mergePromotion, type Promotable } from './merge.ts';
import { promotableOf, TRAVELS } from './promotable.ts';
import { fromRoot } from './references.ts';

const SCOPE = { path: '', sharedPaths: [] };

/**
 * `ours` is the branch, `theirs` the base: its text is taken, and gets what the branch has changed of the fields that travel.
 * Where both have changed one of these, the branch's value goes in, as it is the source's. Null where anything else was
 * changed on both sides, documents came or went, or the text cannot be edited without touching other lines.
 */
export const resolveManifests: Resolve = (path, { base, ours, theirs }) => {
  if (!/\.ya?ml$/i.test(path) || ours === null || theirs === null) return null;
  const [was, own, other] = [
    documentsOf(path, base ?? ''),
    documentsOf(path, ours),
    documentsOf(path, theirs),
  ];
  if (!was || !own || !other) return null;
  let text = theirs;
  for (const { key, index, value } of other) {
    const mine = own.find((one) => one.key === key);
    const before = was.find((one) => one.key === key);
    if (!mine || (base !== null && !before)) return null;
    if (isDeepStrictEqual(mine.value, value) || (before && isDeepStrictEqual(before.value, mine.value)))
      continue;
    const merged = mergedText(path, text, index, [before?.value ?? null, mine.value, value]);
    if (merged === null) return null;
    text = merged;
  }
  return own.length === other.length ? text : null;
};

interface Found {
  key: string;
  index: number;
  value: unknown;
}

/** Null where one of them is no sound manifest, or two have one identity. */
function documentsOf(path: string, text: string): Found[] | null {
  const { documents, problems } = readText(path, text, { scope: SCOPE });
  if (problems.some(({ stage }) => stage === 'parse' || stage === 'source')) return null;
  const found = documents.map(({ index, value }): Found | null => {
    const { kind, metadata } = isMap(value) ? value : {};
    const name = isMap(metadata) ? metadata.name : null;
    return typeof name === 'string' ? { key: `${String(kind)}/${nameKeyOf(name)}`, index, value } : null;
  });
  const keys = new Set(found.map((one) => one?.key));
  return found.every((one) => one !== null) && keys.size === found.length ? (found as Found[]) : null;
}

function mergedText(
  path: string,
  text: string,
  index: number,
  [base, ours, theirs]: [unknown, unknown, unknown],
): string | null {
  if (!isMap(ours) || ours.kind !== 'Pipeline') return null;
  // What does not travel is nobody's to decide here, where both have changed it.
  const local = isDeepStrictEqual(beside(base), beside(ours)) ? theirs : ours;
  if (
    local === ours &&
    !isDeepStrictEqual(beside(base), beside(theirs)) &&
    !isDeepStrictEqual(beside(ours), beside(theirs))
  )
    return null;
  if (!isDeepStrictEqual(beside(local).around, beside(theirs).around)) return null;
  const [was, own, other] = [rooted(base, path), rooted(ours, path), rooted(theirs, path)];
  const { document } = mergePromotion({ base: base === null ? null : was, source: own, target: other });
  const now = { ...other, spec: { ...beside(theirs).spec, ...other.spec } };
  const wanted = { ...document, spec: { ...beside(local).spec, ...document.spec } };
  try {
    return editDocument(text, index, editsBetween(now, wanted, path), { overwrite: true });
  } catch (error) {
    if (error instanceof CannotEdit) return null;
    throw error;
  }
}

function rooted(document: unknown, path: string): Promotable {
  const { labels, spec } = promotableOf(document);
  return { labels, spec: fromRoot(spec, path) };
}

/** All that does not travel: fields of the spec, and what stands around it. */
function beside(document: unknown): { around: unknown; spec: Fields } {
  if (!isMap(document)) return { around: null, spec: {} };
  const { metadata, spec, ...rest } = document;
  const { labels: _, ...named } = isMap(metadata) ? metadata : {};
  const travels: readonly string[] = TRAVELS;
  const local = Object.entries(isMap(spec) ? spec : {}).filter(([field]) => !travels.includes(field));
  return { around: { ...rest, metadata: named }, spec: Object.fromEntries(local) };
}
