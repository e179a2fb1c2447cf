/** Groups beside the table: choosing one narrows the list, and the address says which. */
import { Menu } from '@mantine/core';
import { useRef } from 'react';
import { Link, useLocation, useSearchParams } from 'react-router';
import type { PipelineGroup } from '../../../../../schemas/api/pipelines/pipeline-order.ts';
import type { PipelineSummary } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { usePlace } from '../../../app/scope.tsx';
import { IconButton } from '../../../ui/primitives/button.tsx';
import { Icon } from '../../../ui/primitives/icons.tsx';
import { type Branch, NO_GROUP, treeOf } from './group-tree.ts';

export type GroupAction =
  | { kind: 'create'; parent: PipelineGroup | null }
  | { kind: 'change'; group: PipelineGroup }
  | { kind: 'delete'; group: PipelineGroup };

interface Props {
  groups: readonly PipelineGroup[];
  pipelines: readonly PipelineSummary[];
  act: (action: GroupAction) => void;
}

const MAX_DEPTH = 3;

export const GroupNav = ({ groups, pipelines, act }: Props) => {
  const { team } = usePlace();
  const [params] = useSearchParams();
  const chosen = params.get('group') ?? '';
  const ungrouped = pipelines.filter(({ groupId }) => groupId === null).length;
  return (
    <nav className="group-nav" aria-label="Groups of pipelines">
      <div className="group-nav-head">
        <h2>Groups</h2>
        <IconButton
          icon="plus"
          label="New group"
          tip="New group"
          disabled={team.role === 'VIEWER'}
          onClick={() => act({ kind: 'create', parent: null })}
        />
      </div>
      <ul>
        <li>
          <GroupLink value="" chosen={chosen} count={pipelines.length}>
            All
          </GroupLink>
        </li>
        {treeOf(groups).map((branch) => (
          <BranchRow key={branch.group.id} branch={branch} chosen={chosen} act={act} />
        ))}
        <li>
          <GroupLink value={NO_GROUP} chosen={chosen} count={ungrouped}>
            In no group
          </GroupLink>
        </li>
      </ul>
    </nav>
  );
};

interface RowProps {
  branch: Branch;
  chosen: string;
  act: (action: GroupAction) => void;
}

const BranchRow = ({ branch: { group, children, total }, chosen, act }: RowProps) => (
  <li>
    <div className="group-row">
      <GroupLink value={group.id} chosen={chosen} count={total} color={group.color}>
        {group.name}
      </GroupLink>
      <GroupMenu group={group} act={act} />
    </div>
    {children.length > 0 && (
      <ul>
        {children.map((child) => (
          <BranchRow key={child.group.id} branch={child} chosen={chosen} act={act} />
        ))}
      </ul>
    )}
  </li>
);

interface LinkProps {
  value: string;
  chosen: string;
  count: number;
  color?: string | null;
  children: string;
}

const GroupLink = ({ value, chosen, count, color, children }: LinkProps) => {
  const { pathname } = useLocation();
  const [params] = useSearchParams();
  const next = new URLSearchParams(params);
  if (value) next.set('group', value);
  else next.delete('group');
  return (
    <Link
      to={{ pathname, search: next.toString() }}
      className="group-link"
      aria-current={chosen === value ? 'true' : undefined}
    >
      {color !== undefined && (
        <span
          className="group-dot"
          style={color ? { background: color, borderColor: color } : undefined}
          aria-hidden="true"
        />
      )}
      <span className="group-name">{children}</span>
      <span className="group-count mono">{count}</span>
    </Link>
  );
};

const GroupMenu = ({ group, act: begin }: { group: PipelineGroup; act: Props['act'] }) => {
  const { team } = usePlace();
  const target = useRef<HTMLButtonElement>(null);
  const act: Props['act'] = (action) => {
    // A dialog gives the focus back to what had it, and the entry of the menu is gone by then.
    target.current?.focus();
    begin(action);
  };
  if (team.role === 'VIEWER') return null;
  return (
    <Menu position="bottom-start" width={220} shadow="md" returnFocus>
      <Menu.Target>
        <IconButton
          ref={target}
          icon="more"
          className="group-more"
          label={`Actions on the group ${group.name}`}
        />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<Icon name="pencil" size={14} />}
          onClick={() => act({ kind: 'change', group })}
        >
          Name, colour, place…
        </Menu.Item>
        <Menu.Item
          leftSection={<Icon name="plus" size={14} />}
          disabled={group.depth >= MAX_DEPTH}
          onClick={() => act({ kind: 'create', parent: group })}
        >
          New group in it…
        </Menu.Item>
        <Menu.Item
          leftSection={<Icon name="trash" size={14} />}
          disabled={team.role !== 'ADMIN'}
          onClick={() => act({ kind: 'delete', group })}
        >
          {team.role === 'ADMIN' ? 'Delete…' : 'Delete (needs ADMIN)'}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};
