import { type ReactNode, useRef } from 'react';
import type { Role } from '../../../../../schemas/api/common.ts';
import type { TeamDetail, TeamMember } from '../../../../../schemas/api/identity/people.ts';
import { api } from '../../../api/client.ts';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { lockedMeans } from '../accounts/account-text.ts';
import { ResetPasswordForm } from '../accounts/reset-password.tsx';
import { aRole, roleMeans, roleRank } from '../accounts/roles.tsx';
import { useUserMutation } from '../accounts/user-mutations.ts';

export type MemberAction =
  | { kind: 'role'; member: TeamMember; role: Role }
  | { kind: 'remove' | 'lock' | 'unlock' | 'password'; member: TeamMember };

const titleOf = (action: MemberAction, team: TeamDetail): string => {
  const { name } = action.member;
  switch (action.kind) {
    case 'role':
      return `Make ${name} ${aRole(action.role)}`;
    case 'remove':
      return `Remove ${name} from ${team.name}`;
    case 'lock':
      return `Lock the account of ${name}`;
    case 'unlock':
      return `Unlock the account of ${name}`;
    case 'password':
      return `Reset the password of ${name}`;
  }
};

interface Props {
  team: TeamDetail;
  action: MemberAction | null;
  /** Whether the member is the current user. */
  isMe: boolean;
  close: () => void;
}

export const MemberDialogs = ({ team, action: asked, isMe, close }: Props) => {
  // While it closes it shows what it was.
  const last = useRef({ action: asked, isMe });
  if (asked) last.current = { action: asked, isMe };
  const { action, isMe: wasMe } = last.current;
  return (
    <Dialog title={action ? titleOf(action, team) : ''} opened={asked !== null} close={close}>
      {action && (
        <Body
          key={`${action.kind} ${action.member.userId}`}
          team={team}
          action={action}
          isMe={wasMe}
          close={close}
        />
      )}
    </Dialog>
  );
};

const Body = ({ action, ...rest }: Omit<Props, 'action'> & { action: MemberAction }) => {
  switch (action.kind) {
    case 'role':
      return <RoleForm {...rest} member={action.member} role={action.role} />;
    case 'remove':
      return <RemoveForm {...rest} member={action.member} />;
    case 'lock':
      return <LockForm {...rest} member={action.member} />;
    case 'unlock':
      return <UnlockForm {...rest} member={action.member} />;
    case 'password':
      return (
        <ResetPasswordForm
          name={action.member.name}
          stays="A second factor stays as it is, and so does a link to the identity provider, by which somebody else may still get in: a super admin takes it away, under “Users”."
          run={() =>
            api.team.resetMemberPassword.mutate({ teamId: rest.team.id, userId: action.member.userId })
          }
          close={rest.close}
        />
      );
  }
};

interface FormProps extends Omit<Props, 'action'> {
  member: TeamMember;
}

const RoleForm = ({ team, member, role, isMe, close }: FormProps & { role: Role }) => {
  const change = useUserMutation({
    run: () => api.team.updateMemberRole.mutate({ teamId: team.id, userId: member.userId, role }),
    done: () => `${member.name} is ${aRole(role)} of ${team.name}.`,
    after: close,
  });
  const loses = roleRank(role) < roleRank(member.role);
  return (
    <MutationForm mutation={change} close={close} submit="Change the role" working="Changing…" danger={loses}>
      <p>{roleMeans(role)}</p>
      <Consequence>
        {isMe
          ? `That is you: your other sessions end${loses ? ', and you cannot take it back yourself' : ''}.`
          : `${member.name} is signed out everywhere, and has the new role once they sign in again.`}
      </Consequence>
      {member.source === 'group' && (
        <Consequence>
          A group of the identity provider has put them here: whatever is set here by hand, no group changes
          any more.
        </Consequence>
      )}
    </MutationForm>
  );
};

const RemoveForm = ({ team, member, isMe, close }: FormProps) => {
  const remove = useUserMutation({
    run: () => api.team.removeMember.mutate({ teamId: team.id, userId: member.userId }),
    done: () => `${member.name} is not in ${team.name} any more.`,
    after: close,
  });
  return (
    <MutationForm
      mutation={remove}
      close={close}
      submit="Remove from the team"
      working="Removing…"
      danger
      cancel="Back"
    >
      <p>
        {isMe ? 'That is you: you lose' : `${member.name} loses`} every environment of {team.name} at once,
        and their personal tokens no longer work here. Their changes and the account stay.
      </p>
    </MutationForm>
  );
};

const LockForm = ({ team, member, close }: FormProps) => {
  const lock = useUserMutation({
    run: () => api.team.lockMember.mutate({ teamId: team.id, userId: member.userId }),
    done: () => `The account of ${member.name} is locked.`,
    after: close,
  });
  return (
    <MutationForm
      mutation={lock}
      close={close}
      submit="Lock the account"
      working="Locking…"
      danger
      cancel="Back"
    >
      <p>
        {member.name} is signed out everywhere at once and cannot sign in, by password or at the identity
        provider; their personal tokens are rejected. Roles and history stay, and it can be unlocked.
      </p>
    </MutationForm>
  );
};

const UnlockForm = ({ team, member, close }: FormProps) => {
  const unlock = useUserMutation({
    run: () => api.team.unlockMember.mutate({ teamId: team.id, userId: member.userId }),
    done: () => `The account of ${member.name} is unlocked.`,
    after: close,
  });
  return (
    <MutationForm mutation={unlock} close={close} submit="Unlock the account" working="Unlocking…">
      <p>{lockedMeans(member)}</p>
      <p>{member.name} can sign in again, with the roles that they have. Their personal tokens work again.</p>
    </MutationForm>
  );
};

const Consequence = ({ children }: { children: ReactNode }) => <p className="muted">{children}</p>;
