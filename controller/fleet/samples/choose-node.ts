/** Whom to ask for events of a pipeline: a node that runs it and was heard of lately. */
import type { PipelineOnNode } from '../../../schemas/api/pipelines.ts';
import type { Joined } from '../status/index.ts';

export interface ChosenNode {
  nodeId: string;
  nodeName: string;
}

const TOLD = 3;

/** Why it cannot be asked; null when it can. */
function objectionTo({ nodeHealth, maintenance, status }: PipelineOnNode, lacksPush: boolean): string | null {
  if (nodeHealth === 'UNREACHABLE' || nodeHealth === 'UNKNOWN') return 'was not heard of lately';
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

/** `joined` is of one pipeline. The one on the deployed version, with a push channel, heard of last, comes first. */
export function chooseNode(
  joined: Joined,
  {
    nodeId,
    except = [],
    byPush = false,
  }: {
    nodeId?: string | undefined;
    except?: readonly string[];
    /** It is told by push or not at all. */
    byPush?: boolean;
  } = {},
): Choice {
  const nodes = new Map(joined.nodes.map(({ node }) => [node.id, node]));
  if (nodeId !== undefined && !nodes.has(nodeId)) return { unknownNode: true };
  const all = (joined.pipelines[0]?.onNodes ?? []).filter(
    (entry) => (nodeId === undefined || entry.nodeId === nodeId) && !except.includes(entry.nodeId),
  );
  if (all.length === 0) {
    return {
      reason:
        nodeId === undefined
          ? 'No node runs it: look at its node selector, and at the nodes of the environment'
          : `${nodes.get(nodeId)?.name} does not run it`,
    };
  }
  const rank = (entry: PipelineOnNode): number => {
    const isCurrent = entry.version === entry.desiredVersion;
    const isPushed = nodes.get(entry.nodeId)?.agentHealth.pushConnected === true;
    return (isCurrent ? 2 : 0) + (isPushed ? 1 : 0);
  };
  const objection = (entry: PipelineOnNode) =>
    objectionTo(entry, byPush && nodes.get(entry.nodeId)?.agentHealth.pushConnected === false);
  const heard = (entry: PipelineOnNode) => nodes.get(entry.nodeId)?.reportedAt?.getTime() ?? 0;
  const [best] = all
    .filter((entry) => objection(entry) === null)
    .sort((a, b) => rank(b) - rank(a) || heard(b) - heard(a));
  if (best) return { node: { nodeId: best.nodeId, nodeName: best.nodeName } };
  const told = all.slice(0, TOLD).map((entry) => `${entry.nodeName} ${objection(entry)}`);
  const more = all.length > TOLD ? `, and ${all.length - TOLD} more` : '';
  return { reason: `No node can be asked: ${told.join(', ')}${more}` };
}
