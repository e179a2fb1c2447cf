/** What a promotion makes of the target's manifest at one commit. Nothing is written. */

import type { ManifestPreview, ManifestSnapshot } from '../../controller/delivery/promotions/index.ts';
import { compile } from '../../controller/pipelines/index.ts';
import { preconditionFailed } from '../../controller/platform/operation/errors.ts';
import { nameKeyOf, type PipelineSpec } from '../../schemas/manifests/index.ts';
import { fieldChanges } from '../plan-view/field-changes.ts';
import { type DesiredManifest, includesOf, type Problem, readText } from '../source/index.ts';
import type { Tip } from '../write-back/branch-tip.ts';
import type { RepositoryLocation } from '../write-back/commit/workspace.ts';
import { explained } from '../write-back/manifest/change-conflict.ts';
import { uniquePath } from '../write-back/manifest/file-names.ts';
import { manifestText, schemaLine } from '../write-back/manifest/manifest-text.ts';
import { editDocument } from '../write-back/yaml/edit-document.ts';
import { editsBetween } from './field-edits.ts';
import { mergePromotion, type Promotable } from './merge.ts';
import { localOf, promotableOf } from './promotable.ts';
import { fromRoot, relativeTo, rootPath } from './references.ts';

const FOLDER = 'pipelines';

export interface DraftRequest {
  targetName: string;
  snapshot: ManifestSnapshot;
  base: ManifestSnapshot | null;
}

export interface Draft extends ManifestPreview {
  /** Where the document begins in the file. */
  line: number;
}

/** @throws PRECONDITION_FAILED where the manifest there cannot be read, or not be edited without touching other lines */
export async function draftOn(place: RepositoryLocation, tip: Tip, wanted: DraftRequest): Promise<Draft> {
  const key = nameKeyOf(wanted.targetName);
  const manifest = tip.desired.manifests.find((one) => one.kind === 'Pipeline' && one.nameKey === key);
  if (manifest) return ontoManifest(tip, manifest, wanted);
  const broken = tip.desired.refused.find(({ name }) => name !== null && nameKeyOf(name) === key);
  if (broken)
    throw preconditionFailed(
      `The manifest of "${wanted.targetName}" in ${broken.path} cannot be read as git has it now; mend it there first`,
      { path: broken.path },
    );
  return asNew(place, tip, wanted);
}

async function ontoManifest(
  tip: Tip,
  manifest: DesiredManifest,
  { snapshot, base }: DraftRequest,
): Promise<Draft> {
  const { path, docIndex, line } = manifest;
  const before = await tip.text(path);
  const { documents } = readText(path, before, { scope: tip.scope });
  const document = documents.find(({ index }) => index === docIndex)?.value;
  const written = promotableOf(document);
  const target: Promotable = { ...written, spec: fromRoot(written.spec, path) };
  const texts = await includedTexts(tip, path, before);
  const merged = mergePromotion({ base, source: snapshot, target }, (reference) =>
    texts.get(rootPath(reference) ?? ''),
  );
  const edits = editsBetween(target, merged.document, path);
  let after: string;
  try {
    after = edits.length === 0 ? before : editDocument(before, docIndex, edits, { overwrite: true });
  } catch (error) {
    throw explained(error, path, line);
  }
  const local = Object.keys(localOf(document)).map((field) => `/${field}`);
  return {
    ...{ path, line, before, after, conflicts: merged.conflicts, kept: [...local, ...merged.kept] },
    fields: changesOf(target, merged.document),
    ...(await readAgain(tip, path, after, docIndex, manifest)),
  };
}

async function asNew(
  place: RepositoryLocation,
  tip: Tip,
  { targetName, snapshot }: DraftRequest,
): Promise<Draft> {
  const { path: folder } = tip.scope;
  const placed = (path: string) => (folder === '' ? path : `${folder}/${path}`);
  const list = await place.list(tip.sha, folder);
  const taken = new Set(list.map((path) => path.slice(placed('').length).toLowerCase()));
  const path = placed(uniquePath(FOLDER, targetName, taken));
  const { description, logLevel, drainSeconds, sources, transforms, sinks, ...rest } = relativeTo(
    snapshot.spec,
    path,
  );
  const { nodeSelector, values, rollout } = snapshot.start;
  // A snapshot comes from the database, which keeps keys in an order of its own.
  const head = { description, deployed: true, nodeSelector, logLevel, drainSeconds, values };
  const spec = { ...head, sources, transforms, sinks, ...rest, rollout };
  const text = manifestText({
    kind: 'Pipeline',
    name: targetName,
    uid: null,
    labels: snapshot.labels,
    spec: JSON.parse(JSON.stringify(spec)),
  });
  const after = schemaLine(place.ctx.services.baseUrl, 'Pipeline') + text;
  const read = await readAgain(tip, path, after, 0, null);
  const copied = Object.keys(snapshot.start);
  return {
    ...{ path, line: 1, before: null, after, conflicts: [], kept: [] },
    fields: changesOf({ labels: {}, spec: {} }, { labels: snapshot.labels, spec: snapshot.spec }),
    ...read,
    notes: [
      ...copied.map(
        (field) => `spec.${field} is copied from the source as a start; check it for this environment`,
      ),
      ...read.notes,
    ],
  };
}

/** Values that look like credentials are blanked. */
const changesOf = (before: Promotable, after: Promotable): ManifestPreview['fields'] => [
  ...fieldChanges(before.spec, after.spec),
  ...fieldChanges({ metadata: { labels: before.labels } }, { metadata: { labels: after.labels } }),
];

async function includedTexts(tip: Tip, path: string, text: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const included of includesOf(path, text, tip.scope)) {
    const content = await tip.text(included).catch(() => null);
    if (content !== null) texts.set(included, content.replace(/^\ufeff/, '').replaceAll('\r\n', '\n'));
  }
  return texts;
}

/** What a person can put right on the branch, as a value that is not there yet. */
const TO_DO = new Set<Problem['stage']>(['references', 'tests']);

async function readAgain(
  tip: Tip,
  path: string,
  after: string,
  docIndex: number,
  before: DesiredManifest | null,
): Promise<Pick<ManifestPreview, 'engine' | 'notes'>> {
  const included = await includedTexts(tip, path, after);
  const { documents, problems } = readText(path, after, { scope: tip.scope, included });
  const made = documents.find(({ index }) => index === docIndex)?.manifest ?? null;
  const other = problems.find(({ stage }) => !TO_DO.has(stage));
  if (!made && other)
    throw preconditionFailed(`What would be written to ${path} is refused: ${other.message}. ${other.hint}`, {
      path,
    });
  const engine = {
    before: before ? compile(before.spec as PipelineSpec).configYaml : '',
    after: made ? compile(made.spec as PipelineSpec).configYaml : null,
  };
  const notes = made ? [] : problems.map(({ message, hint }) => `${message}; ${hint}`);
  return { engine, notes: [...new Set(notes)] };
}
