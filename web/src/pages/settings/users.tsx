import '../../styles/people.css';
import { useQuery } from '@tanstack/react-query';
import type { UserSummary } from '../../../../schemas/api/people.ts';
import { queries } from '../../api/queries.ts';
import { useAddressParam } from '../../app/address.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Icon } from '../../components/icons.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../../components/states.tsx';
import { NewUserDialog } from './users/new-user.tsx';
import { userColumns } from './users/user-columns.tsx';
import { UserDetail } from './users/user-detail.tsx';
import { useUserFilters } from './users/user-filters.tsx';
import { userHref } from './users/user-href.ts';

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
            <button type="button" className="button" onClick={() => setWanted('')}>
              All users
            </button>
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
    <div className="stack">
      <div className="tab-head">
        <p className="muted">
          Everybody who has an account on this server. What somebody may do is said by their roles in teams; a
          super admin may do everything.
        </p>
        <button type="button" className="button" data-kind="primary" onClick={() => setMaking('1')}>
          <Icon name="plus" /> Make a user
        </button>
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
    </div>
  );
};
