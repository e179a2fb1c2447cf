/** What is promoted, as a manifest of the target's repository would say it. */
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
import { isMap } from './merge.ts';
import { localOf, promotableOf } from './promotable.ts';
import { fromRoot, mayRead } from './references.ts';

export interface Source {
  pipeline: StoredPipeline;
  environmentId: string;
}

const EVERYWHERE = { path: '', sharedPaths: [] };

/** @throws PRECONDITION_FAILED where it holds what may not stand in git */
export async function readSource(
  ctx: Context,
  cache: SourceCache,
  source: Source,
  target: Binding,
): Promise<ManifestSnapshot> {
  const written = await asWritten(ctx, cache, source, target);
  return written ?? fromDatabase(source.pipeline);
}

const snapshotOf = (document: unknown): ManifestSnapshot => {
  const { labels, spec } = promotableOf(document);
  const { nodeSelector, values, rollout } = localOf(document);
  return {
    form: 'manifest',
    labels: labels as Record<string, string>,
    spec,
    start: JSON.parse(JSON.stringify({ nodeSelector, values, rollout })),
  };
};

/** As its own manifest writes it; null where git does not describe it, or somebody has made something else of it since. */
async function asWritten(
  ctx: Context,
  cache: SourceCache,
  { pipeline, environmentId }: Source,
  target: Binding,
): Promise<ManifestSnapshot | null> {
  if (pipeline.managedBy !== 'git') return null;
  const binding = await findBinding(ctx.db, environmentId);
  const line = binding && (await readLine(ctx.db, binding.id, 'Pipeline', nameKeyOf(pipeline.name)));
  if (!binding || !line?.objectHash) return null;
  const commits = new Set([binding.appliedCommit?.sha, line.appliedCommit]);
  return inRepository(ctx, cache, binding, async (place) => {
    for (const sha of commits) {
      const found = sha ? await manifestAt(place, sha, pipeline.name) : null;
      if (found?.manifest.hash === line.objectHash) return inTermsOf(target, binding, found);
    }
    return null;
  });
}

interface Written {
  manifest: DesiredManifest;
  document: unknown;
}

/** Null where the copy at hand does not hold that commit, or that has no such manifest. */
async function manifestAt(place: RepositoryLocation, sha: string, name: string): Promise<Written | null> {
  try {
    const tip = await place.tip(sha);
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

/** A file that the target may read too stays a reference; of another one the text goes along. */
function inTermsOf(target: Binding, source: Binding, { manifest, document }: Written): ManifestSnapshot {
  const shared = target.repositoryUrl === source.repositoryUrl && target.ref === source.ref;
  const keep = (path: string) => shared && mayRead(path, target);
  const { spec } = isMap(document) ? document : {};
  const moved = fromRoot(spec, manifest.path, keep, (pointer) => valueAt(manifest.spec, pointer));
  return snapshotOf({ ...(document as object), spec: moved });
}

/** As an export writes it, with what is saved rather than what runs. */
function fromDatabase(pipeline: StoredPipeline): ManifestSnapshot {
  const { kind, name, labels, spec } = plainObject(pipeline, 'chosen');
  const text = manifestText({ kind, name, uid: null, labels, spec });
  const refused = (why: string) => preconditionFailed(`"${name}" cannot be promoted into git: ${why}`);
  if (Buffer.byteLength(text) > MAX_FILE_BYTES)
    throw refused(`its manifest would be larger than ${MAX_FILE_BYTES} bytes; split the pipeline`);
  const { problems } = readText('manifest.yaml', text, { scope: EVERYWHERE });
  const [problem] = problems;
  if (problem) throw refused(`${problem.message}. ${problem.hint}`);
  return snapshotOf({ metadata: { labels }, spec });
}
