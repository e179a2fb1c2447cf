/** What passes from step to step within one pass. */

import type { Binding, InventoryRecord } from '../../controller/git-sync/index.ts';
import type { Context } from '../../controller/platform/context.ts';
import type { Execute } from '../../controller/platform/operation.ts';
import type { CommitInfo, Desired, Problem, Repository, SourceCache } from '../source/index.ts';
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
}

export interface PassResult {
  outcome: 'applied' | 'unchanged' | 'partial' | 'observed' | 'failed';
  commit: CommitInfo | null;
  counts: Counts;
  report: string[];
  /** Null unless the pass as a whole could not do its work. */
  error: string | null;
}

export interface Looked {
  commit: CommitInfo;
  desired: Desired;
  inventory: InventoryRecord[];
  secrets: ReadonlySet<string>;
  descends: boolean;
}

export interface Acted {
  outcomes: Map<Change, ManifestOutcome>;
  objectIds: Map<Change, string>;
  problems: Problem[];
  lines: Line[];
  counts: Counts;
}
