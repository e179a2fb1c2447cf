/** From a change of an object to the files that say it, at one commit. Nothing but the change is written. */
import { isDeepStrictEqual } from 'node:util';
import type { OwnedChange, PlainManifest } from '../../../controller/delivery/bindings/index.ts';
import { conflict, preconditionFailed } from '../../../controller/platform/operation/errors.ts';
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import { type DesiredManifest, includesOf, normaliseSpec, readText } from '../../source/index.ts';
import type { Tip } from '../branch-tip.ts';
import { CannotEdit } from '../yaml/cannot-edit.ts';
import { type Difference, differences, documentOf, valueAt } from '../yaml/differences.ts';
import { type Edit, editDocument, edited, removeDocument } from '../yaml/edit-document.ts';
import { asJson, ChangeConflict, type ConflictingField, explained } from './change-conflict.ts';
import { intoFile, referenceAt } from './included-text.ts';
import { plainOfManifest } from './plain-object.ts';
import { referringTo, renameReferences } from './rename-references.ts';

export interface Rewrite {
  /** By path from the root; null: the file goes. */
  files: Map<string, string | null>;
  path: string;
  line: number;
  /** JSON pointers of what changes; empty for a deletion. */
  fields: string[];
  /** As it will be read; null for a deletion. */
  manifest: DesiredManifest | null;
}

export interface RewriteOptions {
  /** The commit is of the very person's own proposal: what it says of the fields gives way. */
  own?: boolean;
  /** What git has may be held: the change takes its place. */
  overHeld?: boolean;
}

/**
 * @throws CONFLICT where git has changed what is changed here; PRECONDITION_FAILED where it cannot be written without
 * touching other lines, or nothing of it stands in a manifest.
 */
export async function rewrite(tip: Tip, change: OwnedChange, options: RewriteOptions = {}): Promise<Rewrite> {
  const manifest = manifestOf(tip, change.before);
  try {
    return change.after === null
      ? await withoutManifest(tip, manifest, change.before, options)
      : await withChange(tip, manifest, change.before, change.after, options);
  } catch (error) {
    throw explained(error, manifest.path, manifest.line);
  }
}

/** What stands for the object at the commit. @throws CONFLICT, PRECONDITION_FAILED */
export function manifestOf(tip: Tip, { kind, name, uid }: PlainManifest): DesiredManifest {
  const key = nameKeyOf(name);
  const ofKind = tip.desired.manifests.filter((one) => one.kind === kind);
  const found =
    (uid === null ? undefined : ofKind.find((one) => one.uid === uid)) ??
    ofKind.find((one) => one.nameKey === key) ??
    // Renamed there, and not applied yet.
    ofKind.find((one) => one.previousName !== null && nameKeyOf(one.previousName) === key);
  if (found) return found;
  const refused =
    tip.desired.refused.find(
      (one) => one.name !== null && nameKeyOf(one.name) === key && one.kind === kind,
    ) ?? tip.desired.refused.find((one) => one.name === null);
  if (refused)
    throw preconditionFailed(
      `The manifest of "${name}" cannot be read as git has it now (${refused.path}); mend it there first`,
      { path: refused.path },
    );
  throw conflict(
    `The manifest of "${name}" has gone from git since it was applied; your change was not made`,
  );
}

/** A first layout is nobody's word, and moves when something else is drawn. */
const isPosition = (pointer: string): boolean =>
  /^\/spec\/components\/[^/]+(?:\/position(?:\/\d+)?)?$/.test(pointer);
const withoutPositions = (plain: PlainManifest) => {
  const { components, ...spec } = plain.spec as { components?: Record<string, Record<string, unknown>> };
  const kept = Object.entries(components ?? {}).flatMap(([key, { position, ...rest }]) =>
    Object.keys(rest).length === 0 ? [] : [[key, rest] as const],
  );
  return documentOf({ ...plain, spec: { ...spec, components: Object.fromEntries(kept) } });
};

async function withoutManifest(
  tip: Tip,
  manifest: DesiredManifest,
  before: PlainManifest,
  { own = false }: RewriteOptions,
): Promise<Rewrite> {
  const now = plainOfManifest(manifest);
  if (!own && !isDeepStrictEqual(withoutPositions(now), withoutPositions(before))) {
    const fields = differences(before, now).filter(({ field }) => !isPosition(field));
    throw new ChangeConflict(
      manifest.path,
      conflicts(
        fields.map(({ field }) => field),
        before,
        now,
        null,
      ),
    );
  }
  const [needing] = referringTo(tip, manifest);
  if (needing)
    throw preconditionFailed(
      `"${manifest.name}" is named by the ${needing.manifest.kind} "${needing.manifest.name}" (${needing.manifest.path}:${needing.manifest.line}); change or delete that first`,
      { path: needing.manifest.path, line: needing.manifest.line },
    );
  const text = await tip.text(manifest.path);
  return {
    files: new Map([[manifest.path, removeDocument(text, manifest.docIndex)]]),
    path: manifest.path,
    line: manifest.line,
    fields: [],
    manifest: null,
  };
}

async function withChange(
  tip: Tip,
  manifest: DesiredManifest,
  before: PlainManifest,
  after: PlainManifest,
  { own = false }: RewriteOptions,
): Promise<Rewrite> {
  const wanted = differences(before, after);
  if (wanted.length === 0)
    throw preconditionFailed(
      `Nothing of this stands in the manifest of "${before.name}" (${manifest.path}:${manifest.line}), so there is nothing to write to git`,
      { managedBy: 'git', path: manifest.path, line: manifest.line },
    );
  const now = plainOfManifest(manifest);
  const edits = onto(manifest.path, wanted, before, after, now, own);
  if (edits.length === 0)
    throw preconditionFailed(
      `git already has this change (${manifest.path}:${manifest.line}); the next pass applies it`,
      {
        managedBy: 'git',
        path: manifest.path,
        line: manifest.line,
      },
    );
  const target = edits.reduce<unknown>((value, edit) => edited(value, edit), documentOf(now));

  const text = await tip.text(manifest.path);
  const raw = rawDocument(text, manifest);
  const files = new Map<string, string | null>();
  const typed: Edit[] = [];
  for (const edit of edits) {
    if (
      edit.field !== edit.pointer &&
      !isDeepStrictEqual(valueAt(raw, edit.field), valueAt(documentOf(now), edit.field))
    )
      throw new CannotEdit(`the list ${edit.field} is written in another way, such as with wildcards`);
    const reference = referenceAt(raw, edit.pointer);
    if (reference) await intoFile(tip, manifest, reference, edit, files);
    else typed.push(...asTyped(raw, manifest, edit));
  }
  const renamed = after.name !== before.name;
  if (renamed && typeof valueAt(raw, '/metadata/uid') !== 'string')
    typed.push({ pointer: '/metadata/previousName', value: before.name });
  files.set(manifest.path, typed.length === 0 ? text : editDocument(text, manifest.docIndex, typed));
  if (renamed) await renameReferences(tip, manifest, after.name, files);
  const { line, manifest: read } = await verify(tip, manifest, files, target);
  for (const [path, content] of files) if (content === (await tip.text(path))) files.delete(path);
  const fields = [...new Set(edits.map(({ field }) => field))];
  return { files, path: manifest.path, line, fields, manifest: read };
}

/** The edits that make of what git says what is wanted. @throws CONFLICT */
function onto(
  path: string,
  wanted: readonly Difference[],
  before: PlainManifest,
  after: PlainManifest,
  now: PlainManifest,
  own: boolean,
): Difference[] {
  const [was, is, shall] = [documentOf(before), documentOf(now), documentOf(after)];
  const clashing: string[] = [];
  const edits = [...new Set(wanted.map(({ field }) => field))].flatMap((field): Difference[] => {
    const here = valueAt(is, field);
    if (isDeepStrictEqual(valueAt(was, field), here)) return wanted.filter((edit) => edit.field === field);
    const value = valueAt(shall, field);
    if (isDeepStrictEqual(value, here)) return [];
    if (!own && !isPosition(field)) clashing.push(field);
    return [{ pointer: field, value, field }];
  });
  if (clashing.length > 0) throw new ChangeConflict(path, conflicts(clashing, before, now, after));
  return edits;
}

function conflicts(
  fields: readonly string[],
  before: PlainManifest,
  now: PlainManifest,
  after: PlainManifest | null,
): ConflictingField[] {
  return [...new Set(fields)].map((pointer) => ({
    pointer,
    git: asJson(valueAt(documentOf(now), pointer)),
    yours: after === null ? null : asJson(valueAt(documentOf(after), pointer)),
    applied: asJson(valueAt(documentOf(before), pointer)),
  }));
}

function rawDocument(text: string, manifest: DesiredManifest): unknown {
  const { documents } = readText(manifest.path, text, { scope: { path: '', sharedPaths: [] } });
  return documents.find(({ index }) => index === manifest.docIndex)?.value;
}

/** As the document writes it: a default is said where the field was. */
function asTyped(raw: unknown, manifest: DesiredManifest, { pointer, value, insert }: Difference): Edit[] {
  if (value !== undefined) return [{ pointer, value, ...(insert ? { insert } : {}) }];
  if (valueAt(raw, pointer) === undefined) return [];
  const field = /^\/spec\/([^/]+)$/.exec(pointer)?.[1];
  const defaults = normaliseSpec(manifest.kind, {}) as Record<string, unknown>;
  const standard = field === undefined ? undefined : defaults[field];
  const isScalar = standard !== undefined && (typeof standard !== 'object' || standard === null);
  return [{ pointer, value: isScalar ? standard : undefined }];
}

/** What was written is read as it will be, and has to say what was asked for. Answers it, and the line where it begins. */
async function verify(
  tip: Tip,
  manifest: DesiredManifest,
  files: ReadonlyMap<string, string | null>,
  target: unknown,
): Promise<{ line: number; manifest: DesiredManifest }> {
  const text = files.get(manifest.path) ?? '';
  const included = new Map<string, string>();
  for (const path of includesOf(manifest.path, text, tip.scope))
    included.set(path, files.get(path) ?? (await tip.text(path)));
  const { documents, problems } = readText(manifest.path, text, { scope: tip.scope, included });
  const found = documents.find(({ index }) => index === manifest.docIndex);
  const [problem] = problems;
  if (!found?.manifest || problem)
    throw new CannotEdit(
      problem ? `${problem.message}; ${problem.hint}` : 'it would not be a manifest any more',
    );
  const plain = plainOfManifest(found.manifest);
  const { spec } = target as { spec: Record<string, unknown> };
  const meant = withoutPositions({ ...plain, spec });
  const [here, there] = [withoutPositions(plain), { ...(target as object), spec: meant.spec }];
  if (!isDeepStrictEqual(here, there)) throw new CannotEdit('the manifest would then say something else');
  return { line: found.line, manifest: found.manifest };
}
