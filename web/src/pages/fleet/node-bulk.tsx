import type { NodeSummary } from '../../../../schemas/api/fleet.ts';
import { usePlace } from '../../app/environment.tsx';
import { Icon } from '../../components/icons.tsx';
import { whyNot } from './may.ts';
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
        <button
          key={kind}
          type="button"
          className="button"
          data-size="small"
          disabled={reasonFor(kind) !== undefined}
          data-tip={reasonFor(kind)}
          onClick={() => start(kind, nodes)}
        >
          <Icon name={NODE_ACTIONS[kind].icon} size={14} />{' '}
          {kind === 'update' && nodes.length > 1 ? 'Update the agents' : NODE_ACTIONS[kind].word}
        </button>
      ))}
    </span>
  );
};
