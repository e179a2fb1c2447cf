import type { LabelMap } from '../../../schemas/api/common.ts';
import type { NodeSummary } from '../../../schemas/api/fleet/fleet.ts';
import { engineSupport } from '../engines/index.ts';
import type { NodeStatus } from '../status/index.ts';

/** Presents a node for lists. */
export function summary(status: NodeStatus): NodeSummary {
  const { node } = status;
  return {
    id: node.id,
    environmentId: node.environmentId,
    name: node.name,
    host: node.host,
    os: node.os,
    status: status.health,
    statusReason: status.healthReason,
    agentVersion: node.agentVersion,
    engineVersion: node.engineVersion,
    engineProblem: engineProblemOf(node.engineVersion),
    deploymentMode: node.deploymentMode,
    revoked: node.revoked,
    channel: node.channel,
    updateTo: node.updateTo,
    maintenance: node.maintenance,
    labels: status.labels,
    ...ownLabels(status),
    groupIds: status.groups.map(({ id }) => id),
    gate: status.gate,
    lastHeartbeatAt: node.heardAt,
    enrolledAt: node.enrolledAt,
    archivedAt: node.archivedAt,
    pipelinesDesired: status.desired,
    pipelinesRunning: status.running,
    pipelinesCrashed: status.crashed,
  };
}

function engineProblemOf(banner: string | null): string | null {
  const { state, message } = engineSupport(banner);
  return state === 'unsupported' ? message : null;
}

/** Own labels differ from the effective ones only if a group adds labels. */
function ownLabels({ node, groups }: NodeStatus): { ownLabels?: LabelMap } {
  const addsLabels = groups.some(({ labelTemplate }) => Object.keys(labelTemplate).length > 0);
  return addsLabels ? { ownLabels: { ...node.agentLabels, ...node.uiLabels } } : {};
}
