/** Desired manifests and inventory lines for tests of plans, without a repository behind them. */
import type { Recorded } from '../../reconcilers/git/plan.ts';
import {
  type Desired,
  type DesiredManifest,
  normaliseSpec,
  type Problem,
  specHash,
} from '../../reconcilers/source/index.ts';
import { type ManifestKind, nameKeyOf } from '../../schemas/manifests/index.ts';

export interface ManifestText {
  kind?: ManifestKind;
  name: string;
  uid?: string | null;
  previousName?: string | null;
  annotations?: Record<string, string>;
  path?: string;
  spec?: object;
}

export function desiredManifest(text: ManifestText): DesiredManifest {
  const kind = text.kind ?? 'Pipeline';
  const path = text.path ?? `pipelines/${nameKeyOf(text.name)}.yaml`;
  const spec = normaliseSpec(kind, text.spec ?? {});
  const place = { path, line: 1, column: 1 };
  return {
    kind,
    name: text.name,
    nameKey: nameKeyOf(text.name),
    uid: text.uid ?? null,
    previousName: text.previousName ?? null,
    labels: {},
    annotations: text.annotations ?? {},
    ...place,
    docIndex: 0,
    spec,
    hash: specHash(kind, spec),
    at: () => place,
    inFile: () => place,
  };
}

export function desiredState(manifests: readonly DesiredManifest[], more: Partial<Desired> = {}): Desired {
  const problems = more.problems ?? [];
  const pathExists = more.pathExists ?? true;
  return {
    commit: 'c'.repeat(40),
    manifests: [...manifests],
    problems,
    refused: [],
    pathExists,
    complete: pathExists && problems.length === 0,
    fileCount: manifests.length,
    since: null,
    changed: null,
    gone: [],
    ...more,
  };
}

export function sourceProblem(more: Partial<Problem> = {}): Problem {
  return {
    path: 'pipelines/broken.yaml',
    line: 3,
    column: 7,
    kind: null,
    name: null,
    stage: 'parse',
    message: 'this is no YAML',
    hint: 'mend it',
    ...more,
  };
}

/** The inventory line of a manifest that was applied as it is. */
export function appliedRecord(manifest: DesiredManifest, more: Partial<Recorded> = {}): Recorded {
  const policy = manifest.annotations['headgate/prune'];
  return {
    kind: manifest.kind,
    nameKey: manifest.nameKey,
    name: manifest.name,
    uid: manifest.uid,
    path: manifest.path,
    objectId: `object of ${manifest.nameKey}`,
    appliedHash: manifest.hash,
    objectName: manifest.name,
    objectHash: manifest.hash,
    objectDeployed: (manifest as DesiredManifest<'Pipeline'>).spec.deployed,
    prunePolicy: policy === 'confirm' || policy === 'never' ? policy : 'auto',
    ...more,
  };
}
