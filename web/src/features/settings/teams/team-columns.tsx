import type { TeamOverview } from '../../../../../schemas/api/identity/people.ts';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { RowMenu } from '../../../ui/primitives/row-menu.tsx';
import type { Column } from '../../../ui/table/data-table.tsx';
import { momentColumn } from '../../../ui/table/time-column.tsx';
import { plural } from '../../../ui/text/format.ts';
import type { TeamAction } from './team-dialogs.tsx';

/** Why it cannot be deleted now. */
const whyKept = ({ environmentCount: count }: TeamOverview): string[] =>
  count === 0 ? [] : [`It has ${plural(count, 'environment')}: delete ${count === 1 ? 'it' : 'them'} first.`];

const Admins = ({ count }: { count: number }) =>
  count === 0 ? (
    <Badge tone="held" tip="Nobody in it can sign in and manage it: give a member the role Admin">
      None
    </Badge>
  ) : (
    count
  );

export const teamColumns = (act: (action: TeamAction) => void): Column<TeamOverview>[] => [
  {
    key: 'name',
    title: 'Name',
    sort: (row) => row.name.toLowerCase(),
    cell: (row) => <b className="person-name">{row.name}</b>,
  },
  {
    key: 'members',
    title: 'Members',
    width: '96px',
    align: 'end',
    sort: (row) => row.memberCount,
    cell: (row) => row.memberCount,
  },
  {
    key: 'admins',
    title: 'Admins',
    width: '96px',
    align: 'end',
    priority: 2,
    sort: (row) => row.adminCount,
    cell: (row) => <Admins count={row.adminCount} />,
  },
  {
    key: 'environments',
    title: 'Environments',
    width: '120px',
    align: 'end',
    sort: (row) => row.environmentCount,
    cell: (row) => row.environmentCount,
  },
  {
    key: 'twoFactor',
    title: 'Two-factor',
    width: '128px',
    priority: 2,
    sort: (row) => Number(row.requireTwoFactor),
    cell: (row) =>
      row.requireTwoFactor ? <Badge tone="ok">Required</Badge> : <span className="muted">optional</span>,
  },
  momentColumn({ key: 'created', title: 'Made', width: '104px', priority: 3, at: (row) => row.createdAt }),
  {
    key: 'actions',
    title: 'Actions',
    width: '80px',
    align: 'end',
    cell: (row) => (
      <RowMenu
        label={`Actions on ${row.name}`}
        reasons={whyKept(row)}
        items={[
          { word: 'Make an environment…', icon: 'plus', run: () => act({ kind: 'environment', team: row }) },
          { word: 'Rename…', icon: 'pencil', run: () => act({ kind: 'rename', team: row }) },
          {
            word: 'Delete…',
            icon: 'trash',
            disabled: whyKept(row).length > 0,
            run: () => act({ kind: 'delete', team: row }),
          },
        ]}
      />
    ),
  },
];
