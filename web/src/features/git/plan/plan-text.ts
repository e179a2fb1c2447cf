/** A plan in sentences. */
import type { Static } from 'typebox';
import type { GitPlan, TouchedNodes } from '../../../../../schemas/api/delivery/git-plan.ts';
import type { Tone } from '../../../ui/primitives/tone.ts';
import { plural } from '../../../ui/text/format.ts';

type Counts = GitPlan['counts'];

const COUNTED: readonly [keyof Counts, string][] = [
  ['create', 'created'],
  ['update', 'changed'],
  ['delete', 'deleted'],
  ['rename', 'renamed'],
  ['adopt', 'adopted'],
  ['heal', 'put back'],
  ['keep', 'kept as they are'],
  ['refuse', 'refused'],
];

/** `2 created, 1 deleted`; `nothing` where there is nothing to do. */
export function countsText(counts: Counts): string {
  const parts = COUNTED.filter(([name]) => counts[name] > 0).map(([name, word]) => `${counts[name]} ${word}`);
  return parts.length > 0 ? parts.join(', ') : 'nothing';
}

/** What happens to engines, in one sentence. */
export function nodesText({ count, starts, restarts, stops }: Static<typeof TouchedNodes>): string {
  if (count === 0) return 'No engine starts, restarts or stops.';
  const parts = [
    restarts > 0 && `restarts on ${restarts}`,
    starts > 0 && `starts on ${starts}`,
    stops > 0 && `stops on ${stops}`,
  ].filter(Boolean);
  return `It touches ${plural(count, 'node')}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}.`;
}

export const STATES: Record<GitPlan['state'], { tone: Tone; word: string; means: string }> = {
  empty: { tone: 'calm', word: 'Nothing to do', means: 'The environment is as git has it.' },
  ready: { tone: 'moving', word: 'Ready', means: 'The next pass applies it.' },
  waiting: {
    tone: 'held',
    word: 'Waits for an ADMIN',
    means: 'Nothing of it is applied before an ADMIN approves it.',
  },
  approved: { tone: 'ok', word: 'Approved', means: 'The next pass applies it.' },
  'not-applied': {
    tone: 'unknown',
    word: 'Not applied',
    means: 'The binding only observes, is off or is suspended.',
  },
  partial: {
    tone: 'held',
    word: 'In part',
    means: 'Some manifests are refused; the others are applied.',
  },
};

/** What a guard is called, as the settings call it. */
export const GUARDS: Record<GitPlan['guards'][number]['guard'], string> = {
  maxDeletes: 'Most deletions',
  maxDeletePercent: 'Most deletions, %',
  maxNodeRestartPercent: 'Most nodes restarted, %',
  firstPlan: 'The first plan',
  rewrittenHistory: 'History was rewritten',
  missingPath: 'The folder is missing',
  emptyPath: 'The folder is empty',
};
