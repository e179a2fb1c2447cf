import type { UserSummary } from '../../../../../schemas/api/identity/people.ts';
import type { Column } from '../../../ui/table/data-table.tsx';
import { momentColumn } from '../../../ui/table/time-column.tsx';
import { plural } from '../../../ui/text/format.ts';
import { AccountState, PersonName, TwoFactor } from '../accounts/account-badges.tsx';
import { ROLE_LABELS } from '../accounts/roles.tsx';

/** Names of teams, as far as there is room; all of them with their roles on hover. */
const Teams = ({ teams }: Pick<UserSummary, 'teams'>) => {
  if (teams.length === 0) return <span className="muted">none</span>;
  return (
    <span data-tip={teams.map(({ name, role }) => `${name}: ${ROLE_LABELS[role]}`).join(', ')}>
      {teams.length > 2 ? plural(teams.length, 'team') : teams.map(({ name }) => name).join(', ')}
    </span>
  );
};

export const userColumns: Column<UserSummary>[] = [
  {
    key: 'name',
    title: 'Name',
    sort: (row) => row.name.toLowerCase(),
    cell: (row) => <PersonName person={row} isMe={false} />,
  },
  {
    key: 'email',
    title: 'Email',
    width: '22%',
    sort: (row) => row.email.toLowerCase(),
    cell: (row) => row.email,
  },
  {
    key: 'teams',
    title: 'Teams',
    width: '16%',
    priority: 2,
    sort: (row) => row.teams.length,
    cell: (row) => <Teams teams={row.teams} />,
  },
  {
    key: 'state',
    title: 'Account',
    width: '188px',
    priority: 2,
    sort: (row) => (row.lockedAt ? 0 : 1),
    cell: (row) => <AccountState account={row} />,
  },
  {
    key: 'twoFactor',
    title: 'Two-factor',
    width: '112px',
    priority: 3,
    sort: (row) => Number(row.twoFactorEnabled),
    cell: (row) => <TwoFactor enabled={row.twoFactorEnabled} byProvider={row.authMethod === 'OIDC'} />,
  },
  momentColumn({
    key: 'signedIn',
    title: 'Signed in',
    width: '104px',
    priority: 2,
    at: (row) => row.lastSignInAt,
  }),
];
