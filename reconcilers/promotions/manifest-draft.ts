/** Drafts the target's manifest of a promotion at one commit. It writes nothing. */
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
import { rootPathOf, toRelativeReferences, toRootReferences } from './file-references.ts';
import { mergePromotion, type Promotable } from './merge-promotion.ts';
import { localFieldsOf, promotableOf } from './promoted-fields.ts';

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

/** @throws PRECONDITION_FAILED where the manifest cannot be read, or cannot be edited without changes to other lines */
export async function draftManifest(
  repository: RepositoryLocation,
  tip: Tip,
  request: DraftRequest,
): Promise<Draft> {
  const key = nameKeyOf(request.targetName);
  const manifest = tip.desired.manifests.find((one) => one.kind === 'Pipeline' && one.nameKey === key);
  if (manifest) return draftExisting(tip, manifest, request);
  const invalid = tip.desired.refused.find(({ name }) => name !== null && nameKeyOf(name) === key);
  if (invalid)
    throw preconditionFailed(
      `The manifest of "${request.targetName}" in ${invalid.path} is not valid in git; fix it there first`,
      { path: invalid.path },
    );
  return draftNew(repository, tip, request);
}

async function draftExisting(
  tip: Tip,
  manifest: DesiredManifest,
  { snapshot, base }: DraftRequest,
): Promise<Draft> {
  const { path, docIndex, line } = manifest;
  const before = await tip.text(path);
  const { documents } = readText(path, before, { scope: tip.scope });
  const document = documents.find(({ index }) => index === docIndex)?.value;
  const written = promotableOf(document);
  const target: Promotable = { ...written, spec: toRootReferences(written.spec, path) };
  const texts = await readIncludedTexts(tip, path, before);
  const merged = mergePromotion({ base, source: snapshot, target }, (reference) =>
    texts.get(rootPathOf(reference) ?? ''),
  );
  const edits = editsBetween(target, merged.document, path);
  let after: string;
  try {
    after = edits.length === 0 ? before : editDocument(before, docIndex, edits, { overwrite: true });
  } catch (error) {
    throw explained(error, path, line);
  }
  const local = Object.keys(localFieldsOf(document)).map((field) => `/${field}`);
  return {
    ...{ path, line, before, after, conflicts: merged.conflicts, retained: [...local, ...merged.retained] },
    fields: changesOf(target, merged.document),
    ...(await validateDraft(tip, path, after, docIndex, manifest)),
  };
}

async function draftNew(
  repository: RepositoryLocation,
  tip: Tip,
  { targetName, snapshot }: DraftRequest,
): Promise<Draft> {
  const { path: folder } = tip.scope;
  const inFolder = (path: string) => (folder === '' ? path : `${folder}/${path}`);
  const list = await repository.list(tip.sha, folder);
  const taken = new Set(list.map((path) => path.slice(inFolder('').length).toLowerCase()));
  const path = inFolder(uniquePath(FOLDER, targetName, taken));
  const { description, logLevel, drainSeconds, sources, transforms, sinks, ...rest } = toRelativeReferences(
    snapshot.spec,
    path,
  );
  const { nodeSelector, values, rollout } = snapshot.start;
  // The database does not preserve the order of keys (jsonb).
  const head = { description, deployed: true, nodeSelector, logLevel, drainSeconds, values };
  const spec = { ...head, sources, transforms, sinks, ...rest, rollout };
  const text = manifestText({
    kind: 'Pipeline',
    name: targetName,
    uid: null,
    labels: snapshot.labels,
    spec: JSON.parse(JSON.stringify(spec)),
  });
  const after = schemaLine(repository.ctx.services.baseUrl, 'Pipeline') + text;
  const validated = await validateDraft(tip, path, after, 0, null);
  const copied = Object.keys(snapshot.start);
  return {
    ...{ path, line: 1, before: null, after, conflicts: [], retained: [] },
    fields: changesOf({ labels: {}, spec: {} }, { labels: snapshot.labels, spec: snapshot.spec }),
    ...validated,
    notes: [
      ...copied.map(
        (field) =>
          `spec.${field} is copied from the source as an initial value; check it for this environment`,
      ),
      ...validated.notes,
    ],
  };
}

/** Values that look like credentials are masked. */
const changesOf = (before: Promotable, after: Promotable): ManifestPreview['fields'] => [
  ...fieldChanges(before.spec, after.spec),
  ...fieldChanges({ metadata: { labels: before.labels } }, { metadata: { labels: after.labels } }),
];

async function readIncludedTexts(tip: Tip, path: string, text: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const included of includesOf(path, text, tip.scope)) {
    const content = await tip.text(included).catch(() => null);
    if (content !== null) texts.set(included, content.replace(/^\ufeff/, '').replaceAll('\r\n', '\n'));
  }
  return texts;
}

/** Problems that reviewers can fix on the branch, such as a missing value. */
const FIXABLE_STAGES = new Set<Problem['stage']>(['references', 'tests']);

async function validateDraft(
  tip: Tip,
  path: string,
  after: string,
  docIndex: number,
  before: DesiredManifest | null,
): Promise<Pick<ManifestPreview, 'engine' | 'notes'>> {
  const included = await readIncludedTexts(tip, path, after);
  const { documents, problems } = readText(path, after, { scope: tip.scope, included });
  const manifest = documents.find(({ index }) => index === docIndex)?.manifest ?? null;
  const blocking = problems.find(({ stage }) => !FIXABLE_STAGES.has(stage));
  if (!manifest && blocking)
    throw preconditionFailed(
      `The manifest for ${path} would be invalid: ${blocking.message}. ${blocking.hint}`,
      {
        path,
      },
    );
  const engine = {
    before: before ? compile(before.spec as PipelineSpec).configYaml : '',
    after: manifest ? compile(manifest.spec as PipelineSpec).configYaml : null,
  };
  const notes = manifest ? [] : problems.map(({ message, hint }) => `${message}; ${hint}`);
  return { engine, notes: [...new Set(notes)] };
}
