/** What the steps of acting on a plan share. */
import type { CheckResult } from '../../kinds/index.ts';
import type { Problem } from '../../source/index.ts';
import { type Line, noCounts } from '../pass-report.ts';
import type { Acted, Observed, PassOptions } from '../pass-types.ts';
import { listLiveNames, listRefusedNames } from '../plan/blocked-manifests.ts';
import type { Applying, Change } from '../plan/change.ts';
import { lastGoodText } from '../plan/last-good.ts';
import type { Plan } from '../plan/plan.ts';
import { identityOf } from '../read/identity.ts';

export interface Work {
  options: PassOptions;
  looked: Observed;
  /** What the plan waits for; null where it may be applied. */
  guarded: string | null;
  /** Why nothing may be written; null where it may. */
  standsBy: 'observing' | 'guarded' | null;
  /** Objects that manifests may name, by identity: those that were there, and those that this pass has made. */
  there: Set<string>;
  faults: Plan['faults'];
  /** By identity: those of this commit that were not applied, and on which others may wait. */
  refused: Set<string>;
  acted: Acted;
}

export const openWork = (
  options: PassOptions,
  looked: Observed,
  { faults }: Pick<Plan, 'faults'>,
  guarded: string | null,
): Work => ({
  ...{ options, looked, faults, guarded },
  refused: listRefusedNames(looked),
  standsBy: options.binding.mode !== 'sync' ? 'observing' : guarded === null ? null : 'guarded',
  there: listLiveNames({ ui: looked.ui, recorded: looked.inventory.values() }),
  acted: {
    outcomes: new Map(),
    applied: new Map(),
    kept: new Map(),
    problems: [],
    lines: [],
    counts: { ...noCounts(), unchanged: looked.focus?.untouched ?? 0 },
  },
});

/** The document or what it describes is wrong. */
export function rejectManifest(
  work: Work,
  change: Applying | Extract<Change, { action: 'none' }>,
  problems: readonly Problem[],
  check?: CheckResult,
): void {
  const { manifest, previous } = change;
  const kept = lastGoodText(work.looked.inventory, manifest, previous?.nameKey ?? null);
  work.acted.problems.push(...problems);
  work.acted.lines.push(...problems.slice(0, 3).map((problem): Line => ({ type: 'problem', problem, kept })));
  work.acted.outcomes.set(change, { type: 'refused', problems, kept, ...(check ? { check } : {}) });
  work.acted.counts.refused += 1;
  work.refused.add(identityOf(manifest));
}
