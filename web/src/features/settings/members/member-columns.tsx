import type { TeamMember } from '../../../../../schemas/api/identity/people.ts';
import { RowMenu } from '../../../ui/primitives/row-menu.tsx';
import type { Column } from '../../../ui/table/data-table.tsx';
import { momentColumn } from '../../../ui/table/time-column.tsx';
import { AccountState, PersonName, Source, TwoFactor } from '../accounts/account-badges.tsx';
import { ROLE_LABELS, RoleSelect, roleRank } from '../accounts/roles.tsx';
import type { MemberAction } from './member-dialogs.tsx';
import { memberRights } from './member-rights.ts';

interface Options {
  mayEdit: boolean;
  myId: string | null;
  act: (action: MemberAction) => void;
}

const MemberMenu = ({ member, act }: { member: TeamMember; act: Options['act'] }) => {
  const isLocked = member.lockedAt !== null;
  const { reasons, mayLock, mayReset, mayRemove } = memberRights(member);
  return (
    <RowMenu
      label={`Actions on ${member.name}`}
      reasons={reasons}
      items={[
        {
          word: isLocked ? 'Unlock the account…' : 'Lock the account…',
          icon: isLocked ? 'check' : 'held',
          disabled: !mayLock,
          run: () => act({ kind: isLocked ? 'unlock' : 'lock', member }),
        },
        {
          word: 'Reset the password…',
          icon: 'secrets',
          disabled: !mayReset,
          run: () => act({ kind: 'password', member }),
        },
        {
          word: 'Remove from the team…',
          icon: 'trash',
          disabled: !mayRemove,
          run: () => act({ kind: 'remove', member }),
        },
      ]}
    />
  );
};

export function memberColumns({ mayEdit, myId, act }: Options): Column<TeamMember>[] {
  const columns: Column<TeamMember>[] = [
    {
      key: 'name',
      title: 'Name',
      sort: (row) => row.name.toLowerCase(),
      cell: (row) => <PersonName person={row} isMe={row.userId === myId} />,
    },
    {
      key: 'email',
      title: 'Email',
      width: '26%',
      priority: 2,
      sort: (row) => row.email.toLowerCase(),
      cell: (row) => row.email,
    },
    {
      key: 'role',
      title: 'Role',
      width: '120px',
      sort: (row) => roleRank(row.role),
      cell: (row) =>
        mayEdit ? (
          <RoleSelect
            label={`Role of ${row.name}`}
            value={row.role}
            onChange={(role) => act({ kind: 'role', member: row, role })}
          />
        ) : (
          ROLE_LABELS[row.role]
        ),
    },
    {
      key: 'source',
      title: 'Added',
      width: '88px',
      priority: 3,
      sort: (row) => row.source,
      cell: (row) => <Source source={row.source} />,
    },
    {
      key: 'twoFactor',
      title: 'Two-factor',
      width: '126px',
      priority: 3,
      sort: (row) => Number(row.twoFactorEnabled),
      cell: (row) => <TwoFactor enabled={row.twoFactorEnabled} byProvider={row.authMethod === 'OIDC'} />,
    },
    {
      key: 'state',
      title: 'Account',
      width: '160px',
      priority: 2,
      sort: (row) => (row.lockedAt ? 0 : 1),
      cell: (row) => <AccountState account={row} />,
    },
    momentColumn({
      key: 'signedIn',
      title: 'Signed in',
      width: '92px',
      priority: 3,
      at: (row) => row.lastSignInAt,
    }),
  ];
  if (!mayEdit) return columns;
  return [
    ...columns,
    {
      key: 'actions',
      title: 'Actions',
      width: '72px',
      align: 'end',
      cell: (row) => <MemberMenu member={row} act={act} />,
    },
  ];
}
