/** The types that the steps of one pass hand to each other. */
import type { Binding, InventoryRecord } from '../../controller/delivery/bindings/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import type { Execute } from '../../controller/platform/operation/operation.ts';
import type { GitPolicy } from '../../schemas/api/delivery/git-policy.ts';
import type { ApplyResult } from '../kinds/index.ts';
import type {
  CommitInfo,
  Desired,
  DesiredManifest,
  Problem,
  Repository,
  SourceCache,
} from '../source/index.ts';
import type { Counts, PassReport, ReportEntry } from './pass-report.ts';
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
  /** Set where the repository is not the embedded one. */
  remote?: Remote;
  cache: SourceCache;
  trigger: string;
  signal: AbortSignal;
  /** Manifests in one transaction; `BATCH` of `act/apply-changes.ts` by default. */
  batch?: number;
  /** What earlier passes have read and settled; without it everything is read again. */
  memory?: PassMemory;
}

export interface Remote {
  /** Brings the copy up to date, before anything is read. @throws RepositoryError */
  fetch(): Promise<unknown>;
  /** The copy is damaged: the next fetch makes a new one. */
  distrust(): void;
  /** These three are those of the repository's handle, for the branches of pull requests. */
  heads(branches: readonly string[]): Promise<ReadonlyMap<string, string>>;
  meet(branches: { base: string; head: string }): Promise<unknown>;
  fetchCommit(sha: string): Promise<unknown>;
}

export interface PassResult {
  outcome: 'applied' | 'unchanged' | 'partial' | 'observed' | 'guarded' | 'pushed' | 'failed';
  commit: CommitInfo | null;
  counts: Counts;
  /** Null where no pass was made. */
  report: PassReport | null;
  /** Why the pass as a whole could not do its work; null where it could. */
  error: string | null;
  /** Another pass is due at once, for example because the policy has changed. */
  requeue?: boolean;
}

/** By identity. */
export type Inventory = ReadonlyMap<string, InventoryRecord>;

export interface Observed {
  commit: CommitInfo;
  /** The full name of the binding's ref; null where a commit was given instead. */
  refName: string | null;
  desired: Desired;
  inventory: Inventory;
  secrets: ReadonlySet<string>;
  operatorInput: OperatorInput;
  /** Living objects that the UI owns. */
  ui: readonly UiObject[];
  /** The policy that this commit is evaluated by: that of the commit applied before it. */
  policy: GitPolicy;
  descends: boolean;
  /** Null where every manifest has to be planned. */
  focus: Focus | null;
  /** Manifests that refer to something that does not exist, with their problems. */
  dangling: ReadonlyMap<DesiredManifest, readonly Problem[]>;
  /** Null where no dependency cycle can have arisen since the last pass. */
  order: ObservedOrder | null;
}

export interface Acted {
  outcomes: Map<Change, ManifestOutcome>;
  applied: Map<Change, ApplyResult>;
  /** Prunes of the plan that were not carried out. */
  retained: Map<Change, PruneHold>;
  problems: Problem[];
  entries: ReportEntry[];
  counts: Counts;
}
