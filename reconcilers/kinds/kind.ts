/** What the git reconciler needs to know of a kind of manifest. One file per kind; everything else is the same for all. */

import type { Context } from '../../controller/platform/context.ts';
import type { Execute } from '../../controller/platform/operation.ts';
import type { ManifestKind } from '../../schemas/manifests/index.ts';
import type { CommitInfo, DesiredManifest, Problem } from '../source/index.ts';

export interface CheckContext {
  /** Names (case-folded) of the manifests of each kind in this snapshot. */
  names: ReadonlyMap<ManifestKind, ReadonlyMap<string, string>>;
  secrets: ReadonlySet<string>;
  /** False where so much changed at once that the engine itself is not asked about each. */
  engine: boolean;
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
}

export interface ApplyInput {
  ctx: Context;
  execute: Execute;
  environmentId: string;
  manifest: DesiredManifest;
  objectId: string | null;
  commit: CommitInfo;
}

export interface ApplyResult {
  objectId: string;
  outcome: 'created' | 'changed' | 'restored' | 'unchanged';
  version: number | null;
  /** Said of it in the report, for example `version 5`. */
  detail: string;
}

export interface Kind {
  kind: ManifestKind;
  /** Where it stands in the order of applying. */
  order: number;
  /** Names of manifests of the same kind that are applied before this one. */
  dependsOn(manifest: DesiredManifest): readonly string[];
  /** True where the manifest itself asks to be left alone. */
  suspended(manifest: DesiredManifest): boolean;
  /** Whether the object that stands for the manifest still is what was applied. */
  deployed(manifest: DesiredManifest): boolean;
  check(ctx: Context, manifest: DesiredManifest, check: CheckContext): Promise<CheckResult>;
  apply(input: ApplyInput): Promise<ApplyResult>;
  prune(input: { ctx: Context; execute: Execute; environmentId: string; objectId: string }): Promise<void>;
}
