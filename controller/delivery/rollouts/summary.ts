import type { RolloutSummary } from '../../../schemas/api/delivery/rollouts.ts';
import type { RolloutRecord } from './store.ts';

/** As it is reported. */
export const summaryOf = (rollout: RolloutRecord): RolloutSummary => ({
  id: rollout.id,
  pipelineId: rollout.pipelineId,
  environmentId: rollout.environmentId,
  status: rollout.status,
  canarySelector: rollout.canarySelector,
  healthCheckWindowMinutes: rollout.windowMinutes,
  onPass: rollout.onPass,
  onFail: rollout.onFail,
  changelog: rollout.changelog,
  source: rollout.source,
  commit: rollout.commit,
  canaryVersionId: rollout.canaryVersionId,
  canaryVersion: rollout.canaryVersion,
  previousVersionId: rollout.previousVersionId,
  previousVersion: rollout.previousVersion,
  createdBy: rollout.createdBy,
  createdAt: rollout.createdAt,
  healthStartedAt: rollout.healthStartedAt,
  healthEndsAt:
    rollout.healthStartedAt && new Date(rollout.healthStartedAt.getTime() + rollout.windowMinutes * 60_000),
  verdict: rollout.verdict,
  heldReason: rollout.heldReason,
  endedAt: rollout.endedAt,
  endedBy: rollout.endedBy,
  endReason: rollout.endReason,
});
