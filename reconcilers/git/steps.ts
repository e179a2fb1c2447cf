/** What passes from step to step within one pass. */

import type { Binding, InventoryRecord } from '../../controller/git-sync/index.ts';
import type { Context } from '../../controller/platform/context.ts';
import type { Execute } from '../../controller/platform/operation.ts';
import type { ApplyResult } from '../kinds/index.ts';
import type {
  CommitInfo,
  Desired,
  DesiredManifest,
  Problem,
  Repository,
  SourceCache,
} from '../source/index.ts';
import type { Focus } from './focus.ts';
import type { PassMemory } from './memory.ts';
import type { ManifestOutcome } from './outcome.ts';
import type { Change } from './plan.ts';
import type { Counts, Line } from './report.ts';

export interface PassOptions {
  ctx: Context;
  execute: Execute;
  binding: Binding;
  repository: Repository;
  cache: SourceCache;
  trigger: string;
  signal: AbortSignal;
  /** Manifests of one transaction; 200 unless told otherwise. */
  batch?: number;
  /** What the passes before this one have left; without it everything is read again. */
  memory?: PassMemory;
}

export interface PassResult {
  outcome: 'applied' | 'unchanged' | 'partial' | 'observed' | 'failed';
  commit: CommitInfo | null;
  counts: Counts;
  report: string[];
  /** Null unless the pass as a whole could not do its work. */
  error: string | null;
}

/** By identity. */
export type Inventory = ReadonlyMap<string, InventoryRecord>;

export interface Looked {
  commit: CommitInfo;
  desired: Desired;
  inventory: Inventory;
  secrets: ReadonlySet<string>;
  descends: boolean;
  /** Null where every manifest has to be looked at. */
  focus: Focus | null;
  /** Manifests that name something that is not there. */
  dangling: ReadonlyMap<DesiredManifest, readonly Problem[]>;
}

export interface Acted {
  outcomes: Map<Change, ManifestOutcome>;
  applied: Map<Change, ApplyResult>;
  problems: Problem[];
  lines: Line[];
  counts: Counts;
}
