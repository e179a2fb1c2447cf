/** What the git reconciler needs of a kind of manifest. Each kind has one file; everything else is the same for all. */
import type { OwnedTable } from '../../controller/delivery/ownership/index.ts';
import type { NodeEngine } from '../../controller/fleet/engines/index.ts';
import type { Context, Services } from '../../controller/platform/operation/context.ts';
import type { Execute } from '../../controller/platform/operation/operation.ts';
import type { TestResult } from '../../schemas/api/delivery/git-plan.ts';
import type { ManifestKind } from '../../schemas/manifests/index.ts';
import type { CommitInfo, DesiredManifest, Problem } from '../source/index.ts';

/** Another manifest, or an object that the UI owns, that must exist. */
export interface Reference {
  kind: ManifestKind;
  name: string;
  /** The field that names it, for example `dependsOn`. */
  field: string;
  /** JSON pointer into the spec. */
  pointer: string;
  /** Whether a change waits while the other is refused. Else the other only has to exist. */
  blocks: boolean;
}

/** A check needs no database, so it can run on a machine without one. */
export interface CheckServices {
  services: Pick<Services, 'engine'>;
}

export interface CheckContext {
  secrets: ReadonlySet<string>;
  /** False where too many manifests changed at once for the engine to check each. */
  engine: boolean;
  /** Whether the engine may still confirm a fault; true only a limited number of times in a pass. */
  confirm?: () => boolean;
  /** Milliseconds since 1970: some times must not lie too far ahead. */
  now: number;
  /** Engines of the environment's nodes; empty where none is known. */
  nodeEngines: readonly NodeEngine[];
  signal: AbortSignal;
}

export interface CheckResult {
  problems: Problem[];
  /** Which levels ran, for the Validated condition. */
  detail: string;
  /** What users should know although nothing is wrong. */
  notes: string[];
  /** What the checkers do not know: makes Validated Unknown, and blocks nothing. */
  unknown: string[];
  /** One for each test of the manifest, where every earlier check passed; else none. */
  tests: TestResult[];
}

export interface ApplyInput {
  ctx: Context;
  execute: Execute;
  environmentId: string;
  commit: CommitInfo;
  /** All of one kind. */
  items: readonly { manifest: DesiredManifest; objectId: string | null }[];
}

export interface ApplyResult {
  objectId: string;
  outcome: 'created' | 'changed' | 'restored';
  /** Null for kinds without versions. */
  version: number | null;
  /** For the report, for example `version 5`. */
  detail: string;
}

export interface Kind {
  kind: ManifestKind;
  /** The table of its objects. */
  table: OwnedTable;
  /** Its position in the order of applying. */
  order: number;
  /** What has to exist; references to manifests are applied first. */
  references(manifest: DesiredManifest): readonly Reference[];
  /** True where the manifest itself suspends its object. */
  suspended(manifest: DesiredManifest): boolean;
  /** Whether the object runs once the manifest is applied. */
  deployed(manifest: DesiredManifest): boolean;
  /** The part of the spec that does not change behaviour (titles and positions in the editor): it creates no version. */
  editorData(manifest: DesiredManifest): unknown;
  check(ctx: CheckServices, manifest: DesiredManifest, check: CheckContext): Promise<CheckResult>;
  /** All items in one transaction; may be repeated. Results are in the order of the items. */
  apply(input: ApplyInput): Promise<ApplyResult[]>;
  prune(input: { ctx: Context; execute: Execute; environmentId: string; objectId: string }): Promise<void>;
}

export const toItem = ({ manifest, objectId }: ApplyInput['items'][number]) => ({
  objectId,
  name: manifest.name,
  uid: manifest.uid,
  labels: manifest.labels,
  spec: manifest.spec,
  specHash: manifest.hash,
  path: manifest.path,
});

export const toCommit = ({ sha, author, subject, message }: CommitInfo) => ({
  sha,
  author,
  subject,
  message,
});
