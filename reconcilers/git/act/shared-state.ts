/** The state that the steps of carrying out a plan share. */
import type { CheckResult } from '../../kinds/index.ts';
import type { Problem } from '../../source/index.ts';
import { noCounts, type ReportEntry } from '../pass-report.ts';
import type { Acted, Observed, PassOptions } from '../pass-types.ts';
import { listLiveNames, listRefusedNames } from '../plan/blocked-manifests.ts';
import type { Applying, Change } from '../plan/change.ts';
import { lastGoodText } from '../plan/last-good.ts';
import type { Plan } from '../plan/plan.ts';
import { identityOf } from '../read/identity.ts';

export interface Work {
  options: PassOptions;
  observed: Observed;
  /** What the guards object to; null where the plan may be applied. */
  guarded: string | null;
  /** Why nothing may be written; null where it may. */
  blockedBy: 'observing' | 'guarded' | null;
  /** Identities of objects that manifests may refer to: those that existed, and those that this pass has created. */
  live: Set<string>;
  faults: Plan['faults'];
  /** Identities of this commit's manifests that were not applied; manifests that depend on them wait. */
  refused: Set<string>;
  acted: Acted;
}

export const openWork = (
  options: PassOptions,
  observed: Observed,
  { faults }: Pick<Plan, 'faults'>,
  guarded: string | null,
): Work => ({
  ...{ options, observed, faults, guarded },
  refused: listRefusedNames(observed),
  blockedBy: options.binding.mode !== 'sync' ? 'observing' : guarded === null ? null : 'guarded',
  live: listLiveNames({ ui: observed.ui, recorded: observed.inventory.values() }),
  acted: {
    outcomes: new Map(),
    applied: new Map(),
    retained: new Map(),
    problems: [],
    entries: [],
    counts: { ...noCounts(), unchanged: observed.focus?.unchanged ?? 0 },
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
  const lastGood = lastGoodText(work.observed.inventory, manifest, previous?.nameKey ?? null);
  work.acted.problems.push(...problems);
  work.acted.entries.push(
    ...problems.slice(0, 3).map((problem): ReportEntry => ({ type: 'problem', problem, lastGood })),
  );
  work.acted.outcomes.set(change, { type: 'refused', problems, lastGood, ...(check ? { check } : {}) });
  work.acted.counts.refused += 1;
  work.refused.add(identityOf(manifest));
}
