/** Reads the source of a promotion as a snapshot in the form of a manifest. */
import {
  type Binding,
  findBinding,
  readLine,
  type StoredPipeline,
} from '../../controller/delivery/bindings/index.ts';
import type { ManifestSnapshot } from '../../controller/delivery/promotions/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import { preconditionFailed } from '../../controller/platform/operation/errors.ts';
import { nameKeyOf } from '../../schemas/manifests/index.ts';
import {
  type DesiredManifest,
  GitRepositoryError,
  MAX_FILE_BYTES,
  readText,
  type SourceCache,
} from '../source/index.ts';
import { inRepository, type RepositoryLocation } from '../write-back/commit/workspace.ts';
import { manifestText } from '../write-back/manifest/manifest-text.ts';
import { plainObject } from '../write-back/manifest/plain-object.ts';
import { valueAt } from '../write-back/yaml/differences.ts';
import { canRead, toRootReferences } from './file-references.ts';
import { isMap } from './merge-promotion.ts';
import { localFieldsOf, promotableOf } from './promoted-fields.ts';

export interface PromotionSource {
  pipeline: StoredPipeline;
  environmentId: string;
}

const EVERYWHERE = { path: '', sharedPaths: [] };

/** @throws PRECONDITION_FAILED where the source holds something that is not allowed in git */
export async function readSource(
  ctx: Context,
  cache: SourceCache,
  source: PromotionSource,
  target: Binding,
): Promise<ManifestSnapshot> {
  const snapshot = await readFromGit(ctx, cache, source, target);
  return snapshot ?? readFromDatabase(source.pipeline);
}

const snapshotOf = (document: unknown): ManifestSnapshot => {
  const { labels, spec } = promotableOf(document);
  const { nodeSelector, values, rollout } = localFieldsOf(document);
  return {
    form: 'manifest',
    labels: labels as Record<string, string>,
    spec,
    start: JSON.parse(JSON.stringify({ nodeSelector, values, rollout })),
  };
};

/** From its own manifest; null where git does not describe the source, or where it differs from its manifest. */
async function readFromGit(
  ctx: Context,
  cache: SourceCache,
  { pipeline, environmentId }: PromotionSource,
  target: Binding,
): Promise<ManifestSnapshot | null> {
  if (pipeline.managedBy !== 'git') return null;
  const binding = await findBinding(ctx.db, environmentId);
  const line = binding && (await readLine(ctx.db, binding.id, 'Pipeline', nameKeyOf(pipeline.name)));
  if (!binding || !line?.objectHash) return null;
  const commits = new Set([binding.appliedCommit?.sha, line.appliedCommit]);
  return inRepository(ctx, cache, binding, async (repository) => {
    for (const sha of commits) {
      const found = sha ? await readManifestAt(repository, sha, pipeline.name) : null;
      if (found?.manifest.hash === line.objectHash) return adaptToTarget(target, binding, found);
    }
    return null;
  });
}

interface SourceManifest {
  manifest: DesiredManifest;
  document: unknown;
}

/** Null where the local copy lacks the commit, or the commit lacks the manifest. */
async function readManifestAt(
  repository: RepositoryLocation,
  sha: string,
  name: string,
): Promise<SourceManifest | null> {
  try {
    const tip = await repository.tip(sha);
    const key = nameKeyOf(name);
    const manifest = tip.desired.manifests.find((one) => one.kind === 'Pipeline' && one.nameKey === key);
    if (!manifest) return null;
    const { documents } = readText(manifest.path, await tip.text(manifest.path), { scope: EVERYWHERE });
    return { manifest, document: documents.find(({ index }) => index === manifest.docIndex)?.value };
  } catch (error) {
    if (error instanceof GitRepositoryError) return null;
    throw error;
  }
}

/** Keeps references to files that the target may read, and replaces the others by their text. */
function adaptToTarget(
  target: Binding,
  source: Binding,
  { manifest, document }: SourceManifest,
): ManifestSnapshot {
  const isSameBranch = target.repositoryUrl === source.repositoryUrl && target.ref === source.ref;
  const canKeep = (path: string) => isSameBranch && canRead(path, target);
  const { spec } = isMap(document) ? document : {};
  const adapted = toRootReferences(spec, manifest.path, canKeep, (pointer) =>
    valueAt(manifest.spec, pointer),
  );
  return snapshotOf({ ...(document as object), spec: adapted });
}

/** In the form of an export, from the saved pipeline and not from the deployed version. */
function readFromDatabase(pipeline: StoredPipeline): ManifestSnapshot {
  const { kind, name, labels, spec } = plainObject(pipeline, 'chosen');
  const text = manifestText({ kind, name, uid: null, labels, spec });
  const unpromotable = (why: string) => preconditionFailed(`"${name}" cannot be promoted into git: ${why}`);
  if (Buffer.byteLength(text) > MAX_FILE_BYTES)
    throw unpromotable(`its manifest would be larger than ${MAX_FILE_BYTES} bytes; split the pipeline`);
  const { problems } = readText('manifest.yaml', text, { scope: EVERYWHERE });
  const [problem] = problems;
  if (problem) throw unpromotable(`${problem.message}. ${problem.hint}`);
  return snapshotOf({ metadata: { labels }, spec });
}
