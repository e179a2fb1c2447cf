import type { PipelineSummary } from '../../../../schemas/api/pipelines/pipelines.ts';
import type { Tone } from '../../ui/primitives/tone.ts';

export interface StatusWord {
  key: 'draft' | 'crashed' | 'idle' | 'running' | 'stopped' | 'held' | 'moving';
  tone: Tone;
  word: string;
}

/** One word for a pipeline over all its nodes: the worst that happens anywhere. */
export function pipelineStatus({
  isDraft,
  nodeCounts,
  gate,
}: Pick<PipelineSummary, 'isDraft' | 'nodeCounts' | 'gate'>): StatusWord {
  if (isDraft) return { key: 'draft', tone: 'unknown', word: 'draft' };
  if (nodeCounts.crashed > 0) return { key: 'crashed', tone: 'failed', word: 'crashed' };
  if (nodeCounts.total === 0) return { key: 'idle', tone: 'unknown', word: 'no node' };
  if (nodeCounts.running === nodeCounts.total) return { key: 'running', tone: 'ok', word: 'running' };
  if (nodeCounts.stopped > 0) return { key: 'stopped', tone: 'held', word: 'stopped' };
  // The gate knows whether the rest is on its way or waits for nodes that are not heard.
  if (gate.some(({ point, state }) => state === 'held' && (point === 'delivered' || point === 'running')))
    return { key: 'held', tone: 'held', word: 'held' };
  return { key: 'moving', tone: 'moving', word: 'starting' };
}
