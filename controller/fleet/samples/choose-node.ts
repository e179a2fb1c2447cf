/** Chooses the node to sample a pipeline on: one that runs it and reported lately. */
import type { PipelineOnNode } from '../../../schemas/api/pipelines/on-nodes.ts';
import type { Joined } from '../status/index.ts';

export interface ChosenNode {
  nodeId: string;
  nodeName: string;
}

const MAX_LISTED = 3;

/** Why the node cannot be sampled; null if it can. */
function unavailableReason(
  { nodeHealth, maintenance, status }: PipelineOnNode,
  lacksPush: boolean,
): string | null {
  if (nodeHealth === 'UNREACHABLE' || nodeHealth === 'UNKNOWN') return 'has not reported lately';
  if (maintenance) return 'is in maintenance';
  switch (status) {
    case 'RUNNING':
      return lacksPush ? 'has no push channel at the moment' : null;
    case 'CRASHED':
      return 'reports that the engine has crashed';
    case 'STOPPED':
      return 'has stopped it';
    default:
      return 'is still starting it';
  }
}

export type Choice = { node: ChosenNode } | { unknownNode: true } | { reason: string };

/**
 * `joined` is the status of one pipeline. Prefers a node with the deployed version, then one with a push channel, then the one
 * that reported last.
 */
export function chooseNode(
  joined: Joined,
  {
    nodeId,
    excluded = [],
    byPush = false,
  }: {
    nodeId?: string | undefined;
    excluded?: readonly string[];
    /** The request is sent by push only. */
    byPush?: boolean;
  } = {},
): Choice {
  const nodes = new Map(joined.nodes.map(({ node }) => [node.id, node]));
  if (nodeId !== undefined && !nodes.has(nodeId)) return { unknownNode: true };
  const candidates = (joined.pipelines[0]?.onNodes ?? []).filter(
    (entry) => (nodeId === undefined || entry.nodeId === nodeId) && !excluded.includes(entry.nodeId),
  );
  if (candidates.length === 0) {
    return {
      reason:
        nodeId === undefined
          ? 'No node runs it; check its node selector and the nodes of the environment'
          : `${nodes.get(nodeId)?.name} does not run it`,
    };
  }
  const rank = (entry: PipelineOnNode): number => {
    const isCurrent = entry.version === entry.desiredVersion;
    const isPushed = nodes.get(entry.nodeId)?.agentHealth.pushConnected === true;
    return (isCurrent ? 2 : 0) + (isPushed ? 1 : 0);
  };
  const reasonOf = (entry: PipelineOnNode) =>
    unavailableReason(entry, byPush && nodes.get(entry.nodeId)?.agentHealth.pushConnected === false);
  const lastReportAt = (entry: PipelineOnNode) => nodes.get(entry.nodeId)?.heardAt?.getTime() ?? 0;
  const [best] = candidates
    .filter((entry) => reasonOf(entry) === null)
    .sort((a, b) => rank(b) - rank(a) || lastReportAt(b) - lastReportAt(a));
  if (best) return { node: { nodeId: best.nodeId, nodeName: best.nodeName } };
  const listed = candidates.slice(0, MAX_LISTED).map((entry) => `${entry.nodeName} ${reasonOf(entry)}`);
  const more = candidates.length > MAX_LISTED ? `, and ${candidates.length - MAX_LISTED} more` : '';
  return { reason: `No node can be sampled: ${listed.join(', ')}${more}` };
}
