import type { PipelineSummary } from '../../../schemas/api/pipelines.ts';
import type { Tone } from '../components/bits.tsx';

export interface StatusWord {
  key: 'draft' | 'crashed' | 'idle' | 'running' | 'stopped' | 'moving';
  tone: Tone;
  word: string;
}

/** One word for a pipeline over all its nodes: the worst that happens anywhere. */
export function pipelineStatus({
  isDraft,
  nodeCounts,
}: Pick<PipelineSummary, 'isDraft' | 'nodeCounts'>): StatusWord {
  if (isDraft) return { key: 'draft', tone: 'unknown', word: 'draft' };
  if (nodeCounts.crashed > 0) return { key: 'crashed', tone: 'failed', word: 'crashed' };
  if (nodeCounts.total === 0) return { key: 'idle', tone: 'unknown', word: 'no node' };
  if (nodeCounts.running === nodeCounts.total) return { key: 'running', tone: 'ok', word: 'running' };
  if (nodeCounts.stopped > 0) return { key: 'stopped', tone: 'held', word: 'stopped' };
  return { key: 'moving', tone: 'moving', word: 'starting' };
}
