/** Turns what happened to a manifest in a pass into its conditions. */

import type { CheckResult } from '../../kinds/index.ts';
import type { ConditionFact } from '../../loops/conditions.ts';
import type { DesiredManifest, Problem } from '../../source/index.ts';
import type { PruneHold } from '../plan/plan.ts';
import type { Hold, Override } from '../read/overrides.ts';
import { testedCondition } from './test-results.ts';

export type StoredCondition = 'Parsed' | 'Validated' | 'Tested' | 'Applied';
export const STORED_CONDITIONS: readonly StoredCondition[] = ['Parsed', 'Validated', 'Tested', 'Applied'];
type Fact = ConditionFact<StoredCondition>;

export type ManifestOutcome =
  | { type: 'applied'; check: CheckResult | null; detail: string }
  | { type: 'unchanged' }
  /** The document or what it describes is wrong. */
  | { type: 'refused'; problems: readonly Problem[]; lastGood: string; check?: CheckResult }
  | {
      type: 'failed';
      /** Null where the manifest was not checked. */
      check: CheckResult | null;
      reason: 'Conflict' | 'Blocked' | 'ApplyFailed';
      message: string;
    }
  | { type: 'observed'; check: CheckResult }
  /** `why`: what the guards object to in the plan as a whole. */
  | { type: 'guarded'; check: CheckResult; why: string }
  | { type: 'held'; hold: Hold }
  | { type: 'drifted' }
  | { type: 'ignored' }
  /** `waits`: why the policy is not in force; null where it is, from the next commit on. */
  | { type: 'policy'; description: string; waits: 'observing' | 'guarded' | 'unread' | null }
  /** Null where the manifest itself asks for it. */
  | { type: 'suspended'; override: Override | null };

/** The reason of Applied while a change outside git is left in place. */
export const DRIFTED = 'Drifted';

const withAuthor = (what: string, { by, at, reason }: Override): string =>
  `${what} by ${by} at ${at.toISOString().slice(0, 16).replace('T', ' ')} UTC${reason ? `: ${reason}` : ''}`;

const POLICY_WAITS: Record<'observing' | 'guarded' | 'unread', [reason: string, message: string]> = {
  observing: ['Observing', 'The binding only observes: what it says does not hold'],
  guarded: ['Guarded', 'Holds once an ADMIN has approved the plan; until then the policy stays as it was'],
  unread: ['Blocked', 'A file that may be policy cannot be read: until then the policy stays as it was'],
};

const DOCUMENT_STAGES = new Set(['source', 'parse']);

/** Conditions that are not in the result stay as they were. */
export function conditionsOf(
  outcome: ManifestOutcome,
  source: { path: string; line: number; commit: string },
  manifest: DesiredManifest | null,
): Fact[] {
  const fact = (
    type: StoredCondition,
    status: Fact['status'],
    reason: string,
    message: string,
    line = source.line,
  ): Fact => ({
    type,
    status,
    reason,
    message,
    file: source.path,
    line,
    commit: source.commit,
  });
  const parsed = fact('Parsed', 'True', 'Parsed', 'The document is well-formed');
  const testFacts = (check: CheckResult | null): Fact[] => {
    const found = testedCondition(manifest, check?.tests ?? null);
    return found ? [fact('Tested', found.status, found.reason, found.message, found.line)] : [];
  };
  const validated = (check: CheckResult) =>
    check.unknown.length > 0
      ? fact(
          'Validated',
          'Unknown',
          'NotKnownHere',
          `Not known to the checker at hand: ${check.unknown.join(', ')}. The nodes' engine decides`,
        )
      : fact('Validated', 'True', 'Valid', check.detail);

  switch (outcome.type) {
    case 'applied': {
      const facts = [parsed, ...testFacts(outcome.check), fact('Applied', 'True', 'Applied', outcome.detail)];
      return outcome.check ? [...facts, validated(outcome.check)] : facts;
    }
    case 'unchanged':
      return [parsed, fact('Applied', 'True', 'Applied', 'What git holds is what was accepted')];
    case 'refused': {
      const first = outcome.problems[0];
      const message = first ? `${first.message}; ${first.hint}` : 'The document was refused';
      const inDocument = outcome.problems.some((problem) => DOCUMENT_STAGES.has(problem.stage));
      const applied = fact(
        'Applied',
        'False',
        'Invalid',
        `Refused at ${source.commit.slice(0, 7)}; ${outcome.lastGood}`,
      );
      if (first?.stage === 'tests' && outcome.check) {
        return [parsed, ...testFacts(outcome.check), validated(outcome.check), applied];
      }
      return inDocument
        ? [fact('Parsed', 'False', 'Malformed', message, first?.line), applied]
        : [parsed, fact('Validated', 'False', stageReason(first?.stage), message, first?.line), applied];
    }
    case 'failed': {
      const applied = fact('Applied', 'False', outcome.reason, outcome.message);
      return outcome.check
        ? [parsed, ...testFacts(outcome.check), validated(outcome.check), applied]
        : [parsed, applied];
    }
    case 'observed':
      return [
        parsed,
        ...testFacts(outcome.check),
        validated(outcome.check),
        fact('Applied', 'False', 'Observing', 'The binding only observes: nothing is applied'),
      ];
    case 'guarded':
      return [
        parsed,
        ...testFacts(outcome.check),
        validated(outcome.check),
        fact('Applied', 'False', 'Guarded', `Waits until an ADMIN approves the plan: it ${outcome.why}`),
      ];
    case 'held':
      return [
        parsed,
        fact('Applied', 'False', 'Held', `${withAuthor('Held', outcome.hold)}. A newer spec is taken`),
      ];
    case 'drifted':
      return [
        parsed,
        fact(
          'Applied',
          'True',
          DRIFTED,
          'It was applied and has been changed past git since; the policy leaves it so (selfHeal: false)',
        ),
      ];
    case 'suspended':
      return [
        parsed,
        fact(
          'Applied',
          'False',
          'Suspended',
          outcome.override
            ? `${withAuthor('Suspended', outcome.override)}: git leaves it alone`
            : 'spec.suspend is true: git leaves it alone',
        ),
      ];
    case 'ignored':
      return [
        parsed,
        fact('Applied', 'Unknown', 'NotOwned', 'Read and checked; git does not own this kind here'),
      ];
    case 'policy':
      return [
        parsed,
        fact('Validated', 'True', 'Valid', 'checked: schema'),
        outcome.waits === null
          ? fact('Applied', 'True', 'Applied', outcome.description)
          : fact('Applied', 'False', ...POLICY_WAITS[outcome.waits]),
      ];
  }
}

function stageReason(stage: Problem['stage'] | undefined): string {
  switch (stage) {
    case 'schema':
      return 'SchemaInvalid';
    case 'identity':
      return 'IdentityClash';
    case 'references':
      return 'ReferenceMissing';
    case 'graph':
      return 'GraphInvalid';
    case 'secrets':
      return 'SecretMissing';
    case 'options':
      return 'OptionInvalid';
    case 'vrl':
      return 'ProgramInvalid';
    case 'engine':
      return 'EngineRefused';
    default:
      return 'Invalid';
  }
}

/** For an object that is retained although its manifest left the tree. */
export function retainedCondition(
  reason: PruneHold,
  source: { path: string; line: number; commit: string },
): Fact {
  const MESSAGES: Record<PruneHold, string> = {
    'broken-manifests': 'Its manifest is gone; nothing is pruned while other manifests are broken',
    'rewritten-history':
      'Its manifest is gone, but history was rewritten: it is pruned with the next commit on top, or once an ADMIN confirms it',
    'missing-path':
      'The path of the binding does not exist in this commit: everything is kept. To delete it, let an ADMIN approve the plan, or say so in the commit: Headgate-Allow-Delete: <count>',
    'empty-path':
      'No manifest is left at all: everything is kept. To delete it, let an ADMIN approve the plan, or say so in the commit: Headgate-Allow-Delete: <count>',
    confirm: 'Its manifest is gone; headgate/prune: confirm keeps it until an ADMIN confirms the deletion',
    never: 'Its manifest is gone; headgate/prune: never keeps it',
    'no-prune': 'Its manifest is gone; the policy of this environment deletes nothing (prune: false)',
    suspended: 'Its manifest is gone; it is suspended, and kept until it is resumed',
    guarded: 'Its manifest is gone; it is deleted once an ADMIN approves the plan',
    observing: 'Its manifest is gone; the binding only observes: nothing is pruned',
  };
  const REASONS: Record<PruneHold, string> = {
    'broken-manifests': 'PruneWaits',
    'rewritten-history': 'HistoryRewritten',
    'missing-path': 'Guarded',
    'empty-path': 'Guarded',
    confirm: 'PruneWaits',
    never: 'PruneRefused',
    'no-prune': 'PruneRefused',
    suspended: 'Suspended',
    guarded: 'Guarded',
    observing: 'Observing',
  };
  return {
    type: 'Applied',
    status: 'False',
    reason: REASONS[reason],
    message: MESSAGES[reason],
    file: source.path,
    line: source.line,
    commit: source.commit,
  };
}
