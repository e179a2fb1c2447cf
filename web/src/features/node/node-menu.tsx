import { Menu } from '@mantine/core';
import { useRef } from 'react';
import type { FleetNode } from '../../../../schemas/api/fleet/fleet.ts';
import { whyNot } from '../../app/permissions.ts';
import { usePlace } from '../../app/scope.tsx';
import { Button, IconButton } from '../../ui/primitives/button.tsx';
import { Icon } from '../../ui/primitives/icons.tsx';
import { NODE_ACTIONS, type NodeActionKind, type StartNodeAction } from '../fleet/nodes/node-actions.ts';

interface Props {
  node: FleetNode;
  start: StartNodeAction;
}

const ITEMS: readonly NodeActionKind[] = ['rename', 'update', 'restart', 'revoke', 'delete'];

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
  const target = useRef<HTMLButtonElement>(null);
  const begin = (kind: NodeActionKind): void => {
    // A dialog gives the focus back to what had it, and the entry of the menu is gone by then.
    target.current?.focus();
    start(kind, [node]);
  };
  const turn: NodeActionKind = node.maintenance ? 'release' : 'maintain';
  const mayNotEdit = whyNot(team.role, 'EDITOR');
  const mayNotAll = whyNot(team.role, 'ADMIN');
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
      <Menu returnFocus position="bottom-end" width={260} shadow="md" transitionProps={{ duration: 0 }}>
        <Menu.Target>
          <IconButton icon="more" ref={target} label={`Actions on ${node.name}`} />
        </Menu.Target>
        <Menu.Dropdown>
          {(mayNotEdit ?? mayNotAll) && (
            <Menu.Label className="menu-reason">
              {mayNotEdit ??
                'Updating, restarting and revoking need ADMIN: ask an administrator of the team.'}
            </Menu.Label>
          )}
          {ITEMS.map((kind) => {
            const { word, icon, needs } = NODE_ACTIONS[kind];
            const reason = whyNot(team.role, needs) ?? whyNotNow(kind, node);
            return (
              <div key={kind}>
                {kind === 'delete' && <Menu.Divider />}
                <Menu.Item
                  leftSection={<Icon name={icon} size={14} />}
                  disabled={reason !== null}
                  onClick={() => begin(kind)}
                >
                  {word}…
                </Menu.Item>
              </div>
            );
          })}
        </Menu.Dropdown>
      </Menu>
    </>
  );
};
