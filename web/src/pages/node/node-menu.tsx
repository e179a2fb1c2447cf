import { Menu } from '@mantine/core';
import { useRef } from 'react';
import type { FleetNode } from '../../../../schemas/api/fleet.ts';
import { usePlace } from '../../app/environment.tsx';
import { Icon } from '../../components/icons.tsx';
import { whyNot } from '../fleet/may.ts';
import { NODE_ACTIONS, type NodeActionKind, type StartNodeAction } from '../fleet/node-actions.ts';

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
        <button
          // One button, whichever way it turns: it gets the focus back from the dialog that turned it.
          key={kind === turn ? 'turn' : kind}
          type="button"
          className="button"
          disabled={mayNotEdit !== null}
          data-tip={mayNotEdit ?? undefined}
          onClick={() => start(kind, [node])}
        >
          <Icon name={NODE_ACTIONS[kind].icon} size={14} /> {NODE_ACTIONS[kind].word}
        </button>
      ))}
      <Menu returnFocus position="bottom-end" width={260} shadow="md" transitionProps={{ duration: 0 }}>
        <Menu.Target>
          <button ref={target} type="button" className="icon-button" aria-label={`Actions on ${node.name}`}>
            <Icon name="more" />
          </button>
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
