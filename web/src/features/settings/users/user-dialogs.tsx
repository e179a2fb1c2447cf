import { useRef } from 'react';
import type { Role } from '../../../../../schemas/api/common.ts';
import type { UserSummary } from '../../../../../schemas/api/identity/people.ts';
import { api } from '../../../api/client.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { plural } from '../../../ui/text/format.ts';
import { ResetPasswordForm } from '../accounts/reset-password.tsx';
import { aRole, roleMeans } from '../accounts/roles.tsx';
import { useUserMutation } from '../accounts/user-mutations.ts';
import { type PlainKind, plainAction } from './account-actions.ts';
import { UnlinkForm } from './unlink-form.tsx';

type UserTeam = UserSummary['teams'][number];

export type UserAction =
  | { kind: 'role'; team: UserTeam; role: Role }
  | { kind: 'leaveTeam'; team: UserTeam }
  | { kind: 'unlink' | 'password'; provider: string }
  | { kind: PlainKind | 'delete' };

const titleOf = (action: UserAction, { name, isSuperAdmin }: UserSummary): string => {
  switch (action.kind) {
    case 'role':
      return `Make ${name} ${aRole(action.role)} of ${action.team.name}`;
    case 'leaveTeam':
      return `Remove ${name} from ${action.team.name}`;
    case 'lock':
      return `Lock the account of ${name}`;
    case 'unlock':
      return `Unlock the account of ${name}`;
    case 'password':
      return `Reset the password of ${name}`;
    case 'unlink':
      return `Unlink ${name} from ${action.provider}`;
    case 'twoFactor':
      return `Reset the two-factor of ${name}`;
    case 'sessions':
      return `End all sessions of ${name}`;
    case 'superAdmin':
      return isSuperAdmin ? `Take super admin from ${name}` : `Make ${name} a super admin`;
    case 'delete':
      return `Delete ${name}`;
  }
};

const staysAfterReset = ({ linkedTo }: UserSummary, provider: string): string =>
  linkedTo.length === 0
    ? 'A second factor stays as it is.'
    : `A second factor stays as it is, and so does the link to ${provider}: where somebody else may have had the account, take that away too, by “Unlink from ${provider}”.`;

interface Props {
  user: UserSummary;
  action: UserAction | null;
  /** Whether the account is the current user's. */
  isMe: boolean;
  close: () => void;
  deleted: () => void;
}

export const UserDialogs = ({ action: asked, ...rest }: Props) => {
  // While it closes it shows what it was: a lock that was made would turn into its opposite.
  const last = useRef({ action: asked, user: rest.user });
  if (asked && asked !== last.current.action) last.current = { action: asked, user: rest.user };
  const { action, user } = last.current;
  return (
    <Dialog title={action ? titleOf(action, user) : ''} opened={asked !== null} close={rest.close}>
      {action && <Body key={action.kind} {...rest} user={user} action={action} />}
    </Dialog>
  );
};

type FormProps = Omit<Props, 'action'>;

const Body = ({ action, ...rest }: FormProps & { action: UserAction }) => {
  switch (action.kind) {
    case 'role':
      return <RoleForm {...rest} team={action.team} role={action.role} />;
    case 'leaveTeam':
      return <LeaveForm {...rest} team={action.team} />;
    case 'password':
      return (
        <ResetPasswordForm
          name={rest.user.name}
          stays={staysAfterReset(rest.user, action.provider)}
          run={() => api.admin.resetPassword.mutate({ userId: rest.user.id })}
          close={rest.close}
        />
      );
    case 'unlink':
      return <UnlinkForm user={rest.user} provider={action.provider} close={rest.close} />;
    case 'delete':
      return <DeleteForm {...rest} />;
    default:
      return <PlainForm {...rest} kind={action.kind} />;
  }
};

const RoleForm = ({ user, team, role, isMe, close }: FormProps & { team: UserTeam; role: Role }) => {
  const change = useUserMutation({
    run: () => api.admin.assignToTeam.mutate({ userId: user.id, teamId: team.id, role }),
    done: () => `${user.name} is ${aRole(role)} of ${team.name}.`,
    after: close,
  });
  return (
    <MutationForm mutation={change} close={close} submit="Change the role" working="Changing…">
      <p>{roleMeans(role)}</p>
      <p className="muted">
        {isMe ? 'That is you: your other sessions end.' : `${user.name} is signed out everywhere.`}
      </p>
      {team.source === 'group' && (
        <p className="muted">
          A group of the identity provider gave the present role. What is set here by hand, no group changes
          any more.
        </p>
      )}
    </MutationForm>
  );
};

const LeaveForm = ({ user, team, close }: FormProps & { team: UserTeam }) => {
  const leave = useUserMutation({
    run: () => api.admin.removeFromTeam.mutate({ userId: user.id, teamId: team.id }),
    done: () => `${user.name} is not in ${team.name} any more.`,
    after: close,
  });
  return (
    <MutationForm
      mutation={leave}
      close={close}
      submit="Remove from the team"
      working="Removing…"
      danger
      cancel="Back"
    >
      <p>
        {user.name} loses every environment of {team.name} at once and is signed out everywhere. What they
        have done stays.
      </p>
    </MutationForm>
  );
};

const PlainForm = ({ user, kind, isMe, close }: FormProps & { kind: PlainKind }) => {
  const { run, submit, danger, done, text } = plainAction(kind, user, isMe);
  const action = useUserMutation({ run, done: () => done, after: close });
  return (
    <MutationForm
      mutation={action}
      close={close}
      submit={submit}
      working="Working…"
      danger={danger}
      cancel="Back"
    >
      <p>{text}</p>
    </MutationForm>
  );
};

const DeleteForm = ({ user, close, deleted }: FormProps) => {
  const remove = useUserMutation({
    run: () => api.admin.deleteUser.mutate({ userId: user.id }),
    done: () => `${user.name} was deleted.`,
    after: () => {
      close();
      deleted();
    },
  });
  return (
    <MutationForm
      mutation={remove}
      close={close}
      submit="Delete the user"
      working="Deleting…"
      danger
      confirm={user.email}
      confirmField={{ mono: true }}
    >
      <p>
        {user.name} loses {plural(user.teams.length, 'team')}, and is signed out at once. Their personal
        tokens and preferences go. Service accounts that they made stay, and so do pipelines, versions and the
        audit log, which names them.
      </p>
      {user.provisioned && (
        <Notice tone="held">
          SCIM keeps this account: take it out of the application at the identity provider too, or it is made
          again.
        </Notice>
      )}
      <p className="muted">To keep somebody out for a while, lock the account instead.</p>
    </MutationForm>
  );
};
