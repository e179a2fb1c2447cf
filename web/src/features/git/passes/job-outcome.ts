import type { GitJob } from '../../../../../schemas/api/delivery/git-sync.ts';
import type { Tone } from '../../../ui/primitives/tone.ts';
import { plural } from '../../../ui/text/format.ts';

const OUTCOME: Record<string, { tone: Tone; word: string }> = {
  applied: { tone: 'ok', word: 'Applied' },
  unchanged: { tone: 'calm', word: 'Unchanged' },
  partial: { tone: 'held', word: 'Partly applied' },
  observed: { tone: 'calm', word: 'Observed' },
  guarded: { tone: 'held', word: 'Waits for approval' },
  skipped: { tone: 'unknown', word: 'Skipped' },
  failed: { tone: 'failed', word: 'Failed' },
};

/** What a pass was asked for by, where the loop's own word for it says little. */
const TRIGGERS: Record<string, string> = {
  syncNow: '“Sync now”',
  timer: 'on time',
  configured: 'binding changed',
  adopt: 'adoption',
  retry: 'tried again',
  'write-back': 'edit in the UI',
};

export const triggerOf = ({ trigger }: Pick<GitJob, 'trigger'>): string => TRIGGERS[trigger] ?? trigger;

/** A pass in one word, with its tone. */
export function outcomeOf(job: Pick<GitJob, 'status' | 'outcome'> & Partial<Pick<GitJob, 'startedAt'>>): {
  tone: Tone;
  word: string;
} {
  if (job.status === 'pending') return { tone: 'moving', word: job.startedAt ? 'Running' : 'Waiting' };
  if (job.status === 'failed') return { tone: 'failed', word: 'Failed' };
  return OUTCOME[job.outcome ?? ''] ?? { tone: 'unknown', word: job.outcome ?? 'Done' };
}

/** What a pass did, in a few words: `2 changed, 1 refused`. */
export function countsOf({ counts, error, outcome }: Pick<GitJob, 'counts' | 'error' | 'outcome'>): string {
  if (error) return error;
  if (outcome === 'skipped') return 'a newer commit was applied';
  const parts = Object.entries(counts)
    .filter(([name, count]) => count > 0 && name !== 'unchanged')
    .map(([name, count]) => `${count} ${name}`);
  return parts.length > 0 ? parts.join(', ') : `${plural(counts.unchanged, 'manifest')} unchanged`;
}
