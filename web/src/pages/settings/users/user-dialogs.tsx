import { type ReactNode, useRef } from 'react';
import type { Role } from '../../../../../schemas/api/common.ts';
import type { UserSummary } from '../../../../../schemas/api/people.ts';
import { api } from '../../../api/client.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { plural } from '../../../components/format.ts';
import { MutationForm } from '../../../components/mutation-form.tsx';
import { lockedMeans } from '../people/account-badges.tsx';
import { GivenPassword } from '../people/given-password.tsx';
import { aRole, roleMeans } from '../people/roles.tsx';
import { usePeopleAction } from '../people/use-people-action.ts';

type UserTeam = UserSummary['teams'][number];

export type UserAction =
  | { kind: 'role'; team: UserTeam; role: Role }
  | { kind: 'leaveTeam'; team: UserTeam }
  | { kind: 'lock' | 'unlock' | 'password' | 'twoFactor' | 'sessions' | 'superAdmin' | 'delete' };

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

interface Props {
  user: UserSummary;
  action: UserAction | null;
  /** Whether it is about whoever looks. */
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
      return <PasswordForm {...rest} />;
    case 'delete':
      return <DeleteForm {...rest} />;
    default:
      return <PlainForm {...rest} kind={action.kind} />;
  }
};

const RoleForm = ({ user, team, role, isMe, close }: FormProps & { team: UserTeam; role: Role }) => {
  const change = usePeopleAction({
    run: () => api.admin.assignToTeam.mutate({ userId: user.id, teamId: team.id, role }),
    done: () => `${user.name} is ${aRole(role)} of ${team.name}.`,
    after: close,
  });
  return (
    <MutationForm mutation={change} close={close} submit="Change the role" working="Changing…">
      <p>{roleMeans(role)}</p>
      <p className="muted">{isMe ? 'You are' : `${user.name} is`} signed out everywhere.</p>
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
  const leave = usePeopleAction({
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

type PlainKind = 'lock' | 'unlock' | 'twoFactor' | 'sessions' | 'superAdmin';

interface Plain {
  run: () => Promise<unknown>;
  submit: string;
  danger: boolean;
  done: string;
  text: ReactNode;
}

function plainAction(kind: PlainKind, user: UserSummary, isMe: boolean): Plain {
  const { id: userId, name, isSuperAdmin } = user;
  switch (kind) {
    case 'lock':
      return {
        run: () => api.admin.lockUser.mutate({ userId }),
        submit: 'Lock the account',
        danger: true,
        done: `The account of ${name} is locked.`,
        text: `${name} is signed out everywhere at once and cannot sign in, by password or at the identity provider; personal tokens of theirs are refused. Roles and history stay, and it can be unlocked.`,
      };
    case 'unlock':
      return {
        run: () => api.admin.unlockUser.mutate({ userId }),
        submit: 'Unlock the account',
        danger: false,
        done: `The account of ${name} is unlocked.`,
        text: `${lockedMeans(user)} Unlocked, ${name} can sign in again with the roles that they have, and their personal tokens work again.`,
      };
    case 'twoFactor':
      return {
        run: () => api.admin.resetTwoFactor.mutate({ userId }),
        submit: 'Reset two-factor',
        danger: true,
        done: `${name} has no second factor any more.`,
        text: `Their authenticator and backup codes end, and ${name} is signed out everywhere. The password alone signs them in then: do it for somebody of whom you know that they ask, and have them set up another one. A team that requires two-factor asks for it at once.`,
      };
    case 'sessions':
      return {
        run: () => api.admin.endSessions.mutate({ userId }),
        submit: 'End all sessions',
        danger: true,
        done: `${name} is signed out everywhere.`,
        text: `${name} is signed out in every browser, at once. They may sign in again. Personal tokens stay.`,
      };
    case 'superAdmin':
      return {
        run: () => api.admin.toggleSuperAdmin.mutate({ userId, isSuperAdmin: !isSuperAdmin }),
        submit: isSuperAdmin ? 'Take it away' : 'Make a super admin',
        danger: isSuperAdmin,
        done: isSuperAdmin ? `${name} is no super admin any more.` : `${name} is a super admin.`,
        text: isSuperAdmin
          ? `${isMe ? 'That is you: you keep' : `${name} keeps`} the roles in ${plural(user.teams.length, 'team')}, and loses everything else: other teams, users, and these settings.`
          : `${name} may then do everything in every team, make and delete users, and change how people sign in.`,
      };
  }
}

const PlainForm = ({ user, kind, isMe, close }: FormProps & { kind: PlainKind }) => {
  const { run, submit, danger, done, text } = plainAction(kind, user, isMe);
  const action = usePeopleAction({ run, done: () => done, after: close });
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

const PasswordForm = ({ user, close }: FormProps) => {
  const reset = usePeopleAction({
    run: () => api.admin.resetPassword.mutate({ userId: user.id }),
    done: () => null,
  });
  if (reset.data)
    return (
      <GivenPassword
        name={user.name}
        password={reset.data.temporaryPassword}
        expiresAt={reset.data.expiresAt}
        close={close}
      />
    );
  return (
    <MutationForm
      mutation={reset}
      close={close}
      submit="Make a temporary password"
      working="Making it…"
      danger
      cancel="Back"
    >
      <p>
        The present password of {user.name} ends at once, and they are signed out everywhere. A temporary one
        is made and shown here once: it is for you to hand over.
      </p>
      <p className="muted">A second factor stays as it is.</p>
    </MutationForm>
  );
};

const DeleteForm = ({ user, close, deleted }: FormProps) => {
  const remove = usePeopleAction({
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
        <p className="notice" data-tone="held">
          <span>
            SCIM keeps this account: take it out of the application at the identity provider too, or it is
            made again.
          </span>
        </p>
      )}
      <p className="muted">To keep somebody out for a while, lock the account instead.</p>
    </MutationForm>
  );
};
