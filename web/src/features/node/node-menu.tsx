import type { FleetNode } from '../../../../schemas/api/fleet/fleet.ts';
import { whyNot } from '../../app/permissions.ts';
import { usePlace } from '../../app/scope.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { RowMenu } from '../../ui/primitives/row-menu.tsx';
import { NODE_ACTIONS, type NodeActionKind, type StartNodeAction } from '../fleet/nodes/node-actions.ts';

interface Props {
  node: FleetNode;
  start: StartNodeAction;
}

const ITEMS: readonly NodeActionKind[] = ['rename', 'update', 'restart', 'revoke', 'delete'];

const NEEDS_ADMIN = 'Updating, restarting and revoking need ADMIN: ask an administrator of the team.';

/** Null where it may be done to this node now. */
function whyNotNow(kind: NodeActionKind, node: FleetNode): string | null {
  if (kind !== 'update' && kind !== 'restart' && kind !== 'revoke') return null;
  if (node.enrolledAt === null) return 'It has not enrolled yet.';
  if (node.revoked) return 'Its token was revoked.';
  return null;
}

/** What can be done with the node of the page; what is done most has a button. */
export const NodeMenu = ({ node, start }: Props) => {
  const { team } = usePlace();
  const turn: NodeActionKind = node.maintenance ? 'release' : 'maintain';
  const mayNotEdit = whyNot(team.role, 'EDITOR');
  const mayNotAll = whyNot(team.role, 'ADMIN') && NEEDS_ADMIN;
  const reasons = [mayNotEdit ?? mayNotAll ?? whyNotNow('revoke', node)].filter((reason) => reason !== null);
  return (
    <>
      {(['labels', turn] as const).map((kind) => (
        <Button
          icon={NODE_ACTIONS[kind].icon}
          key={kind === turn ? 'turn' : kind}
          disabled={mayNotEdit !== null}
          tip={mayNotEdit ?? undefined}
          onClick={() => start(kind, [node])}
        >
          {NODE_ACTIONS[kind].word}
        </Button>
      ))}
      <RowMenu
        label={`Actions on ${node.name}`}
        reasons={reasons}
        items={ITEMS.map((kind) => {
          const { word, icon, needs } = NODE_ACTIONS[kind];
          return {
            word: `${word}…`,
            icon,
            disabled: (whyNot(team.role, needs) ?? whyNotNow(kind, node)) !== null,
            apart: kind === 'delete',
            run: () => start(kind, [node]),
          };
        })}
      />
    </>
  );
};
