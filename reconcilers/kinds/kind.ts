/** What the git reconciler needs to know of a kind of manifest. One file per kind; everything else is the same for all. */

import type { OwnedTable } from '../../controller/delivery/ownership/index.ts';
import type { NodeEngine } from '../../controller/fleet/engines/index.ts';
import type { Context, Services } from '../../controller/platform/operation/context.ts';
import type { Execute } from '../../controller/platform/operation/operation.ts';
import type { TestResult } from '../../schemas/api/git-plan.ts';
import type { ManifestKind } from '../../schemas/manifests/index.ts';
import type { CommitInfo, DesiredManifest, Problem } from '../source/index.ts';

/** Another manifest, or an object that the UI owns, that must be there. */
export interface Reference {
  kind: ManifestKind;
  name: string;
  /** The field that names it, for example `dependsOn`. */
  field: string;
  /** Into the spec. */
  pointer: string;
  /** A change waits while the one that it names is refused; else that one only has to be there. */
  blocks: boolean;
}

/** A check needs no database, so that it can be run on a machine that has none. */
export interface Checking {
  services: Pick<Services, 'engine'>;
}

export interface CheckContext {
  secrets: ReadonlySet<string>;
  /** False where so much changed at once that the engine itself is not asked about each. */
  engine: boolean;
  /** Whether the engine may be asked about a fault nevertheless: so many times in a pass. */
  confirm?: () => boolean;
  /** Engines of the environment's nodes; empty where none is known. */
  nodeEngines: readonly NodeEngine[];
  signal: AbortSignal;
}

export interface CheckResult {
  problems: Problem[];
  /** Which levels ran, for the Validated condition. */
  detail: string;
  /** What a person should know although nothing is wrong. */
  notes: string[];
  /** What the checkers at hand do not know: makes Validated Unknown, and stops nothing. */
  unknown: string[];
  /** One for each test that the manifest describes, where everything before them passed; else none. */
  tests: TestResult[];
}

export interface ApplyInput {
  ctx: Context;
  execute: Execute;
  environmentId: string;
  commit: CommitInfo;
  /** All of this kind. */
  items: readonly { manifest: DesiredManifest; objectId: string | null }[];
}

export interface ApplyResult {
  objectId: string;
  outcome: 'created' | 'changed' | 'restored';
  /** Null for kinds without versions. */
  version: number | null;
  /** Said of it in the report, for example `version 5`. */
  detail: string;
}

export interface Kind {
  kind: ManifestKind;
  /** Where its objects live. */
  table: OwnedTable;
  /** Where it stands in the order of applying. */
  order: number;
  /** What has to exist, and is applied before this one. */
  references(manifest: DesiredManifest): readonly Reference[];
  /** True where the manifest itself asks to be left alone. */
  suspended(manifest: DesiredManifest): boolean;
  /** Whether the object that stands for the manifest runs when it is what git says. */
  deployed(manifest: DesiredManifest): boolean;
  /** What of the spec is not its meaning (titles and positions in the editor): reaches the object, makes no version. */
  editorData(manifest: DesiredManifest): unknown;
  check(ctx: Checking, manifest: DesiredManifest, check: CheckContext): Promise<CheckResult>;
  /** All in one transaction, and repeatable. Answers in the order of the items. */
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
