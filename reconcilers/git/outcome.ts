/** From what happened to a manifest in a pass to its conditions. */
import type { ConditionFact } from '../engine/conditions.ts';
import type { CheckResult } from '../kinds/index.ts';
import type { DesiredManifest, Problem } from '../source/index.ts';
import type { PruneHold } from './plan.ts';

export type StoredCondition = 'Parsed' | 'Validated' | 'Tested' | 'Applied';
export const STORED_CONDITIONS: readonly StoredCondition[] = ['Parsed', 'Validated', 'Tested', 'Applied'];
type Fact = ConditionFact<StoredCondition>;

export type ManifestOutcome =
  | { type: 'applied'; check: CheckResult | null; detail: string }
  | { type: 'unchanged' }
  /** The document or what it describes is wrong. */
  | { type: 'refused'; problems: readonly Problem[]; kept: string }
  | { type: 'failed'; check: CheckResult; reason: 'Conflict' | 'Blocked' | 'ApplyFailed'; message: string }
  | { type: 'observed'; check: CheckResult }
  | { type: 'ignored' }
  | { type: 'suspended' };

const DOCUMENT_STAGES = new Set(['source', 'parse']);
const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Conditions that the outcome says nothing about stay as they were. */
export function conditionsOf(
  outcome: ManifestOutcome,
  place: { path: string; line: number; commit: string },
  manifest: DesiredManifest | null,
): Fact[] {
  const fact = (
    type: StoredCondition,
    status: Fact['status'],
    reason: string,
    message: string,
    line = place.line,
  ): Fact => ({
    type,
    status,
    reason,
    message,
    file: place.path,
    line,
    commit: place.commit,
  });
  const parsed = fact('Parsed', 'True', 'Parsed', 'The document is well-formed');
  const tests =
    manifest?.kind === 'Pipeline' ? (manifest as DesiredManifest<'Pipeline'>).spec.tests.length : 0;
  const tested =
    tests > 0
      ? fact(
          'Tested',
          'Unknown',
          'NotRun',
          `${plural(tests, 'test')} described; this version does not run them`,
        )
      : fact('Tested', 'Unknown', 'NoTests', 'The manifest describes no tests');
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
      const facts = [parsed, tested, fact('Applied', 'True', 'Applied', outcome.detail)];
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
        `Refused at ${place.commit.slice(0, 7)}; ${outcome.kept}`,
      );
      return inDocument
        ? [fact('Parsed', 'False', 'Malformed', message, first?.line), applied]
        : [parsed, fact('Validated', 'False', stageReason(first?.stage), message, first?.line), applied];
    }
    case 'failed':
      return [
        parsed,
        tested,
        validated(outcome.check),
        fact('Applied', 'False', outcome.reason, outcome.message),
      ];
    case 'observed':
      return [
        parsed,
        tested,
        validated(outcome.check),
        fact('Applied', 'False', 'Observing', 'The binding only observes: nothing is applied'),
      ];
    case 'suspended':
      return [parsed, fact('Applied', 'False', 'Suspended', 'spec.suspend is true: git leaves it alone')];
    case 'ignored':
      return [
        parsed,
        fact('Applied', 'Unknown', 'NotActedOn', 'Read and checked; this version does not act on this kind'),
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
    case 'vrl':
      return 'ProgramInvalid';
    case 'engine':
      return 'EngineRefused';
    default:
      return 'Invalid';
  }
}

/** For one whose manifest left the tree and that is kept. */
export function keptCondition(
  reason: PruneHold,
  place: { path: string; line: number; commit: string },
): Fact {
  const MESSAGES: Record<PruneHold, string> = {
    'broken-manifests': 'Its manifest is gone; nothing is pruned while other manifests are broken',
    'rewritten-history':
      'Its manifest is gone, but history was rewritten: it is pruned with the next commit on top',
    'missing-path':
      'The path of the binding does not exist in this commit: everything is kept. To delete it, say so in the commit: Headgate-Allow-Delete: <count>',
    'empty-path':
      'No manifest is left at all: everything is kept. To delete it, say so in the commit: Headgate-Allow-Delete: <count>',
    confirm:
      'Its manifest is gone; headgate/prune: confirm keeps it. To delete it, add it back without the annotation, then delete it',
    never: 'Its manifest is gone; headgate/prune: never keeps it',
    observing: 'Its manifest is gone; the binding only observes: nothing is pruned',
  };
  const REASONS: Record<PruneHold, string> = {
    'broken-manifests': 'PruneWaits',
    'rewritten-history': 'Guarded',
    'missing-path': 'Guarded',
    'empty-path': 'Guarded',
    confirm: 'PruneWaits',
    never: 'PruneRefused',
    observing: 'Observing',
  };
  return {
    type: 'Applied',
    status: 'False',
    reason: REASONS[reason],
    message: MESSAGES[reason],
    file: place.path,
    line: place.line,
    commit: place.commit,
  };
}
