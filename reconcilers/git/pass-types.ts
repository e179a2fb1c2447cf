/** What passes from step to step within one pass. */

import type { Binding, InventoryRecord } from '../../controller/delivery/bindings/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import type { Execute } from '../../controller/platform/operation/operation.ts';
import type { GitPolicy } from '../../schemas/api/git-policy.ts';
import type { ApplyResult } from '../kinds/index.ts';
import type {
  CommitInfo,
  Desired,
  DesiredManifest,
  Problem,
  Repository,
  SourceCache,
} from '../source/index.ts';
import type { Counts, Line } from './pass-report.ts';
import type { Focus } from './plan/changed-manifests.ts';
import type { ObservedOrder } from './plan/dependency-cycles.ts';
import type { Change, PruneHold } from './plan/plan.ts';
import type { OperatorInput, UiObject } from './read/overrides.ts';
import type { PassMemory } from './read/pass-memory.ts';
import type { ManifestOutcome } from './record/outcome.ts';

export interface PassOptions {
  ctx: Context;
  execute: Execute;
  binding: Binding;
  repository: Repository;
  /** Of a repository that lives elsewhere. */
  remote?: Remote;
  cache: SourceCache;
  trigger: string;
  signal: AbortSignal;
  /** Manifests of one transaction; 200 unless told otherwise. */
  batch?: number;
  /** What the passes before this one have left; without it everything is read again. */
  memory?: PassMemory;
}

export interface Remote {
  /** Brings the copy up to date, before anything is looked at. @throws RepositoryError */
  fetch(): Promise<unknown>;
  /** The copy is damaged: the next fetch makes it anew. */
  distrust(): void;
  /** As the repository's handle has them: for the branches of pull requests. */
  heads(branches: readonly string[]): Promise<ReadonlyMap<string, string>>;
  meet(branches: { base: string; head: string }): Promise<unknown>;
  fetchCommit(sha: string): Promise<unknown>;
}

export interface PassResult {
  outcome: 'applied' | 'unchanged' | 'partial' | 'observed' | 'guarded' | 'pushed' | 'failed';
  commit: CommitInfo | null;
  counts: Counts;
  report: string[];
  /** Null unless the pass as a whole could not do its work. */
  error: string | null;
  /** What holds for the next pass is not what held for this one: look again at once. */
  again?: boolean;
}

/** By identity. */
export type Inventory = ReadonlyMap<string, InventoryRecord>;

export interface Observed {
  commit: CommitInfo;
  /** What the binding's ref stands for, in full; null where a commit was named instead. */
  refName: string | null;
  desired: Desired;
  inventory: Inventory;
  secrets: ReadonlySet<string>;
  said: OperatorInput;
  /** Living objects that the UI owns. */
  ui: readonly UiObject[];
  /** By which this commit is judged: as the commit that was applied before it has it. */
  policy: GitPolicy;
  descends: boolean;
  /** Null where every manifest has to be looked at. */
  focus: Focus | null;
  /** Manifests that name something that is not there. */
  dangling: ReadonlyMap<DesiredManifest, readonly Problem[]>;
  /** Null where no circle of dependencies can have come up since the last pass. */
  order: ObservedOrder | null;
}

export interface Acted {
  outcomes: Map<Change, ManifestOutcome>;
  applied: Map<Change, ApplyResult>;
  /** Deletions of the plan that were not made. */
  kept: Map<Change, PruneHold>;
  problems: Problem[];
  lines: Line[];
  counts: Counts;
}
