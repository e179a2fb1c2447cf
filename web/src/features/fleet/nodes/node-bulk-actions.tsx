import type { NodeSummary } from '../../../../../schemas/api/fleet/fleet.ts';
import { whyNot } from '../../../app/permissions.ts';
import { usePlace } from '../../../app/scope.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { NODE_ACTIONS, type NodeActionKind, type StartNodeAction } from './node-actions.ts';

const KINDS: readonly NodeActionKind[] = ['maintain', 'release', 'update', 'delete'];

interface Props {
  nodes: readonly NodeSummary[];
  start: StartNodeAction;
}

/** What can be done to the chosen nodes. */
export const NodeBulk = ({ nodes, start }: Props) => {
  const { team } = usePlace();
  const reasonFor = (kind: NodeActionKind): string | undefined => {
    const reason = whyNot(team.role, NODE_ACTIONS[kind].needs);
    if (reason) return reason;
    if (kind === 'maintain' && nodes.every(({ maintenance }) => maintenance))
      return 'All of them are in maintenance.';
    if (kind === 'release' && !nodes.some(({ maintenance }) => maintenance))
      return 'None of them is in maintenance.';
    return undefined;
  };
  return (
    <span className="toolbar">
      {KINDS.map((kind) => (
        <Button
          icon={NODE_ACTIONS[kind].icon}
          key={kind}
          size="small"
          disabled={reasonFor(kind) !== undefined}
          tip={reasonFor(kind)}
          onClick={() => start(kind, nodes)}
        >
          {kind === 'update' && nodes.length > 1 ? 'Update the agents' : NODE_ACTIONS[kind].word}
        </Button>
      ))}
    </span>
  );
};
