/** The dialog of each action on nodes. Loaded when the first one opens. */
import { useRef } from 'react';
import type { NodeSummary } from '../../../../../schemas/api/fleet/fleet.ts';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { LabelsForm } from '../../node/labels-form.tsx';
import { RenameForm } from '../../node/rename-form.tsx';
import { RestartForm } from '../../node/restart-form.tsx';
import { RevokeForm } from '../../node/revoke-form.tsx';
import { UpdateForm } from '../updates/update-form.tsx';
import { DeleteNodesForm } from './delete-nodes-form.tsx';
import { MaintainForm, ReleaseForm } from './maintenance-forms.tsx';
import { type NodeAction, nameNodes } from './node-actions.ts';

const TITLES: Record<NodeAction['kind'], (name: string) => string> = {
  maintain: (name) => `Put ${name} into maintenance`,
  release: (name) => `End the maintenance of ${name}`,
  update: (name) => `Update the agent of ${name}`,
  delete: (name) => `Delete ${name}`,
  rename: (name) => `Rename ${name}`,
  labels: (name) => `Labels of ${name}`,
  restart: (name) => `Restart the agent of ${name}`,
  revoke: (name) => `Revoke the token of ${name}`,
};

const titleOf = ({ kind, nodes }: NodeAction): string =>
  kind === 'update' && nodes.length > 1
    ? `Update the agents of ${nameNodes(nodes)}`
    : TITLES[kind](nameNodes(nodes));

interface Props {
  action: NodeAction | null;
  close: () => void;
  /** Called after a deletion, where the page is about what was deleted. */
  deleted?: () => void;
}

export interface NodeFormProps {
  nodes: readonly NodeSummary[];
  close: () => void;
}

export const NodeDialogs = ({ action, close, deleted }: Props) => {
  // While it closes it shows what it was.
  const last = useRef(action);
  if (action) last.current = action;
  const shown = last.current;
  return (
    <Dialog
      title={shown ? titleOf(shown) : ''}
      opened={action !== null}
      close={close}
      size={shown?.kind === 'labels' || shown?.kind === 'update' ? 'lg' : 'md'}
    >
      {shown && <ActionBody key={keyOf(shown)} action={shown} close={close} deleted={deleted} />}
    </Dialog>
  );
};

const keyOf = ({ kind, nodes }: NodeAction): string => [kind, ...nodes.map(({ id }) => id)].join(' ');

const ActionBody = ({ action: { kind, nodes }, close, deleted }: Props & { action: NodeAction }) => {
  const [only] = nodes;
  if (!only) return null;
  switch (kind) {
    case 'maintain':
      return <MaintainForm nodes={nodes} close={close} />;
    case 'release':
      return <ReleaseForm nodes={nodes} close={close} />;
    case 'update':
      return <UpdateForm nodes={nodes} close={close} />;
    case 'delete':
      return <DeleteNodesForm nodes={nodes} close={close} deleted={deleted} />;
    case 'rename':
      return <RenameForm node={only} close={close} />;
    case 'labels':
      return <LabelsForm nodeId={only.id} close={close} />;
    case 'restart':
      return <RestartForm node={only} close={close} />;
    case 'revoke':
      return <RevokeForm node={only} close={close} />;
  }
};
