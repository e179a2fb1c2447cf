import { Stack } from '@mantine/core';
import '../accounts/accounts.css';
import { useQuery } from '@tanstack/react-query';
import type { UserSummary } from '../../../../../schemas/api/identity/people.ts';
import { queries } from '../../../api/queries/index.ts';
import { useAddressParam } from '../../../app/search-params.ts';
import { EmptyState, Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { DataTable } from '../../../ui/table/data-table.tsx';
import { NewUserDialog } from './new-user.tsx';
import { userColumns } from './user-columns.tsx';
import { UserDetail } from './user-detail.tsx';
import { useUserFilters } from './user-filters.tsx';
import { userHref } from './user-href.ts';

/** Everybody who has an account. In the address: `user` for one of them, else `state`, `new`, and what the table puts there. */
export const UsersTab = () => {
  const users = useQuery(queries.users());
  const [wanted, setWanted] = useAddressParam('user');
  return (
    <Loaded query={users} what="Users" skeleton={<SkeletonRows rows={12} label="Loading users" />}>
      {(list) => {
        if (!wanted) return <UserList users={list} />;
        const user = list.find(({ id }) => id === wanted);
        if (user) return <UserDetail key={user.id} user={user} leave={() => setWanted('')} />;
        return (
          <EmptyState icon="user" title="There is no such user">
            <p>The account was deleted, or the link belongs to another server.</p>
            <Button onClick={() => setWanted('')}>All users</Button>
          </EmptyState>
        );
      }}
    </Loaded>
  );
};

const UserList = ({ users }: { users: readonly UserSummary[] }) => {
  const [making, setMaking] = useAddressParam('new', { replace: true });
  const { shown, filters } = useUserFilters(users);
  return (
    <Stack gap="md">
      <div className="tab-head">
        <p className="muted">
          Everybody who has an account on this server. What somebody may do is said by their roles in teams; a
          super admin may do everything.
        </p>
        <Button icon="plus" kind="primary" onClick={() => setMaking('1')}>
          Make a user
        </Button>
      </div>
      <DataTable
        caption="Users"
        noun="user"
        rows={shown}
        columns={userColumns}
        rowKey={(row) => row.id}
        rowHref={(row) => userHref(row.id)}
        filterText={(row) =>
          `${row.name} ${row.email} ${row.teams.map(({ name }) => name).join(' ')} ${row.groups.join(' ')}`
        }
        defaultSort="name"
        toolbar={filters}
        remember="users"
      />
      <NewUserDialog opened={making !== ''} close={() => setMaking('')} />
    </Stack>
  );
};
