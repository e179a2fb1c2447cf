import { Stack } from '@mantine/core';
import '../accounts/accounts.css';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { TeamDetail } from '../../../../../schemas/api/identity/people.ts';
import { queries } from '../../../api/queries/index.ts';
import { whyNot } from '../../../app/permissions.ts';
import { useTeam } from '../../../app/scope.tsx';
import { useAddressParam } from '../../../app/search-params.ts';
import { Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { DataTable } from '../../../ui/table/data-table.tsx';
import { AddMemberDialog } from './add-member.tsx';
import { memberColumns } from './member-columns.tsx';
import { type MemberAction, MemberDialogs } from './member-dialogs.tsx';
import { TeamName } from './team-name.tsx';
import { TwoFactorRule } from './two-factor-rule.tsx';

/** Who is in the team of the page, and what the team asks of them. Everybody in it sees that; an ADMIN changes it. */
export const MembersTab = () => {
  const team = useTeam();
  const detail = useQuery(queries.team(team.id));
  return (
    <Loaded
      query={detail}
      what="The members"
      skeleton={<SkeletonRows rows={8} label="Loading the members" />}
    >
      {(data) => <Members key={data.id} team={data} />}
    </Loaded>
  );
};

const Members = ({ team }: { team: TeamDetail }) => {
  const me = useQuery(queries.me());
  const [action, setAction] = useState<MemberAction | null>(null);
  const [adding, setAdding] = useAddressParam('new', { replace: true });
  const mayNot = whyNot(team.role, 'ADMIN');
  const mayEdit = mayNot === null;
  return (
    <Stack gap="md">
      <div className="tab-head">
        <p className="muted">
          {mayNot ??
            `Who works in ${team.name}. A role holds in all of its environments; a change of it signs the person out.`}
        </p>
        <Button
          icon="plus"
          kind="primary"
          disabled={!mayEdit}
          tip={mayNot ?? undefined}
          onClick={() => setAdding('1')}
        >
          Add a member
        </Button>
      </div>
      <DataTable
        caption="Members"
        noun="member"
        rows={team.members}
        columns={memberColumns({ mayEdit, myId: me.data?.id ?? null, act: setAction })}
        rowKey={(row) => row.userId}
        filterText={(row) => `${row.name} ${row.email} ${row.role}`}
        defaultSort="name"
        remember="members"
      />
      <div className="settings-narrow stack">
        <TwoFactorRule team={team} mayNot={mayNot} />
        <TeamName team={team} mayEdit={mayEdit} />
      </div>
      <AddMemberDialog team={team} opened={mayEdit && adding !== ''} close={() => setAdding('')} />
      <MemberDialogs
        team={team}
        action={action}
        isMe={action !== null && action.member.userId === me.data?.id}
        close={() => setAction(null)}
      />
    </Stack>
  );
};
