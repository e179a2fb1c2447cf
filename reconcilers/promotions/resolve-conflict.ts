/** Resolves merge conflicts in manifests by document and field instead of by line, for the branch of a promotion. */
import { isDeepStrictEqual } from 'node:util';
import { nameKeyOf } from '../../schemas/manifests/index.ts';
import type { Resolve } from '../pull-requests/merge/refresh-branch.ts';
import { readText } from '../source/index.ts';
import { CannotEdit } from '../write-back/yaml/cannot-edit.ts';
import { editDocument } from '../write-back/yaml/edit-document.ts';
import { editsBetween } from './field-edits.ts';
import { toRootReferences } from './file-references.ts';
import { type Fields, isMap, mergePromotion, type Promotable } from './merge-promotion.ts';
import { PROMOTED_FIELDS, promotableOf } from './promoted-fields.ts';

const SCOPE = { path: '', sharedPaths: [] };

/**
 * `ours` is the branch, `theirs` the base. The result is the text of the base with the promoted fields that the branch changed.
 * The branch wins where both changed such a field, since its value is the source's. Null where both sides changed another
 * field, documents were added or removed, or the text cannot be edited without changes to other lines.
 */
export const resolveManifests: Resolve = (path, { base, ours, theirs }) => {
  if (!/\.ya?ml$/i.test(path) || ours === null || theirs === null) return null;
  const [baseDocuments, ourDocuments, theirDocuments] = [
    readDocuments(path, base ?? ''),
    readDocuments(path, ours),
    readDocuments(path, theirs),
  ];
  if (!baseDocuments || !ourDocuments || !theirDocuments) return null;
  let text = theirs;
  for (const { key, index, value } of theirDocuments) {
    const ourDocument = ourDocuments.find((one) => one.key === key);
    const baseDocument = baseDocuments.find((one) => one.key === key);
    if (!ourDocument || (base !== null && !baseDocument)) return null;
    if (
      isDeepStrictEqual(ourDocument.value, value) ||
      (baseDocument && isDeepStrictEqual(baseDocument.value, ourDocument.value))
    )
      continue;
    const merged = mergeDocument(path, text, index, [baseDocument?.value ?? null, ourDocument.value, value]);
    if (merged === null) return null;
    text = merged;
  }
  return ourDocuments.length === theirDocuments.length ? text : null;
};

interface ManifestDocument {
  key: string;
  index: number;
  value: unknown;
}

/** Null where a document is not a valid manifest, or two have the same identity. */
function readDocuments(path: string, text: string): ManifestDocument[] | null {
  const { documents, problems } = readText(path, text, { scope: SCOPE });
  if (problems.some(({ stage }) => stage === 'parse' || stage === 'source')) return null;
  const found = documents.map(({ index, value }): ManifestDocument | null => {
    const { kind, metadata } = isMap(value) ? value : {};
    const name = isMap(metadata) ? metadata.name : null;
    return typeof name === 'string' ? { key: `${String(kind)}/${nameKeyOf(name)}`, index, value } : null;
  });
  const keys = new Set(found.map((one) => one?.key));
  return found.every((one) => one !== null) && keys.size === found.length
    ? (found as ManifestDocument[])
    : null;
}

function mergeDocument(
  path: string,
  text: string,
  index: number,
  [base, ours, theirs]: [unknown, unknown, unknown],
): string | null {
  if (!isMap(ours) || ours.kind !== 'Pipeline') return null;
  // A local field that both sides changed has no automatic resolution.
  const local = isDeepStrictEqual(localPartsOf(base), localPartsOf(ours)) ? theirs : ours;
  if (
    local === ours &&
    !isDeepStrictEqual(localPartsOf(base), localPartsOf(theirs)) &&
    !isDeepStrictEqual(localPartsOf(ours), localPartsOf(theirs))
  )
    return null;
  if (!isDeepStrictEqual(localPartsOf(local).envelope, localPartsOf(theirs).envelope)) return null;
  const [baseFields, ourFields, theirFields] = [
    promotableWithRootReferences(base, path),
    promotableWithRootReferences(ours, path),
    promotableWithRootReferences(theirs, path),
  ];
  const { document } = mergePromotion({
    base: base === null ? null : baseFields,
    source: ourFields,
    target: theirFields,
  });
  const current = { ...theirFields, spec: { ...localPartsOf(theirs).spec, ...theirFields.spec } };
  const merged = { ...document, spec: { ...localPartsOf(local).spec, ...document.spec } };
  try {
    return editDocument(text, index, editsBetween(current, merged, path), { overwrite: true });
  } catch (error) {
    if (error instanceof CannotEdit) return null;
    throw error;
  }
}

function promotableWithRootReferences(document: unknown, path: string): Promotable {
  const { labels, spec } = promotableOf(document);
  return { labels, spec: toRootReferences(spec, path) };
}

/** Everything that is not promoted: local fields of the spec, and the envelope around it (without labels). */
function localPartsOf(document: unknown): { envelope: unknown; spec: Fields } {
  if (!isMap(document)) return { envelope: null, spec: {} };
  const { metadata, spec, ...rest } = document;
  const { labels: _, ...named } = isMap(metadata) ? metadata : {};
  const travels: readonly string[] = PROMOTED_FIELDS;
  const local = Object.entries(isMap(spec) ? spec : {}).filter(([field]) => !travels.includes(field));
  return { envelope: { ...rest, metadata: named }, spec: Object.fromEntries(local) };
}
