/** What a pass did, as data. `render-report.ts` makes the lines of it that users read. */
import type { CommitInfo, Problem } from '../source/index.ts';
import type { PruneHold } from './plan/change.ts';

export interface Counts {
  created: number;
  changed: number;
  deleted: number;
  restored: number;
  renamed: number;
  unchanged: number;
  refused: number;
  waiting: number;
}

export const noCounts = (): Counts => ({
  created: 0,
  changed: 0,
  deleted: 0,
  restored: 0,
  renamed: 0,
  unchanged: 0,
  refused: 0,
  waiting: 0,
});

export type ReportEntry =
  | {
      type: 'created' | 'changed' | 'restored';
      kind: string;
      name: string;
      detail: string;
      renamedFrom?: string | null;
      drifted?: boolean;
      adopted?: boolean;
      notes?: readonly string[];
    }
  /** The manifest was refused before, and holds again what was accepted. */
  | { type: 'repaired'; name: string; lastGood: string }
  /** `stopped`: it ran until now. */
  | { type: 'pruned'; kind: string; name: string; stopped: boolean }
  | { type: 'retained'; kind: string; name: string; reason: PruneHold }
  | { type: 'failed'; kind: string; name: string; message: string }
  | { type: 'observed'; kind: string; name: string }
  /** Not applied, because an operator holds this very spec. */
  | { type: 'held'; name: string; by: string; reason: string }
  /** Changed outside git; the policy leaves the change in place. */
  | { type: 'drifted'; name: string }
  | { type: 'orphaned'; kind: string; name: string }
  /** What git may do in this environment has changed. */
  | { type: 'policy'; kind: string; name: string; description: string }
  /** Nothing of the plan is applied. `deletes` is set where a trailer in the commit message can allow the plan. */
  | { type: 'guarded'; messages: readonly string[]; planHash: string; deletes: number | null }
  | { type: 'problem'; problem: Problem; lastGood: string };

export type PassReport =
  | {
      type: 'pass';
      environment: string;
      commit: CommitInfo;
      entries: readonly ReportEntry[];
      counts: Counts;
      /** Commits since the pass before, which this pass has overtaken. */
      skippedCommits: number;
    }
  /** A pass in mode push. Null: git holds all that the database does. */
  | {
      type: 'push';
      environment: string;
      written: { files: number; removed: number } | null;
      leftOut: readonly { kind: string; name: string; reason: string }[];
    }
  /** A pass that could not do its work. */
  | { type: 'message'; environment: string; message: string };

/** Whether the report holds more than its heading. */
export function hasDetails(report: PassReport | null): boolean {
  switch (report?.type) {
    case 'pass':
      return report.entries.length > 0 || report.skippedCommits > 0;
    case 'push':
      return report.leftOut.length > 0;
    default:
      return false;
  }
}
