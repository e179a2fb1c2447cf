import type { NodeHealth, NodePipelineStatus } from '../../../../schemas/api/pipelines/on-nodes.ts';
import { Badge } from './badge.tsx';
import type { Tone } from './tone.ts';

const HEALTH: Record<NodeHealth, { tone: Tone; word: string }> = {
  HEALTHY: { tone: 'ok', word: 'Healthy' },
  DEGRADED: { tone: 'held', word: 'Degraded' },
  UNREACHABLE: { tone: 'failed', word: 'Unreachable' },
  UNKNOWN: { tone: 'unknown', word: 'Never heard' },
};
export const HealthBadge = ({ health, reason }: { health: NodeHealth; reason?: string }) => (
  <Badge tone={HEALTH[health].tone} tip={reason || undefined}>
    {HEALTH[health].word}
  </Badge>
);

export const STATUS: Record<NodePipelineStatus, { tone: Tone; word: string }> = {
  PENDING: { tone: 'moving', word: 'Pending' },
  STARTING: { tone: 'moving', word: 'Starting' },
  RUNNING: { tone: 'ok', word: 'Running' },
  STOPPED: { tone: 'unknown', word: 'Stopped' },
  CRASHED: { tone: 'failed', word: 'Crashed' },
};
export const StatusBadge = ({
  status,
  tip,
  old,
}: {
  status: NodePipelineStatus;
  tip?: string;
  /** Its node is not heard: the status is the last that was. */
  old?: boolean;
}) =>
  old ? (
    <Badge tone="unknown" tip={tip ?? 'As last reported: its node is not heard'}>
      Was {STATUS[status].word.toLowerCase()}
    </Badge>
  ) : (
    <Badge tone={STATUS[status].tone} tip={tip}>
      {STATUS[status].word}
    </Badge>
  );
