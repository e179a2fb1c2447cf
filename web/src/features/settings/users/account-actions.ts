/** What can be done with an account by a word alone: its consequences, and how it is asked for. */
import type { UserSummary } from '../../../../../schemas/api/identity/people.ts';
import { api } from '../../../api/client.ts';
import { plural } from '../../../ui/text/format.ts';
import { lockedMeans } from '../accounts/account-text.ts';

export type PlainKind = 'lock' | 'unlock' | 'twoFactor' | 'sessions' | 'superAdmin';

interface Plain {
  run: () => Promise<unknown>;
  submit: string;
  danger: boolean;
  done: string;
  text: string;
}

/** The texts and the request of an action; `isMe` where the account is the current user's. */
export function plainAction(kind: PlainKind, user: UserSummary, isMe: boolean): Plain {
  const { id: userId, name, isSuperAdmin } = user;
  switch (kind) {
    case 'lock':
      return {
        run: () => api.admin.lockUser.mutate({ userId }),
        submit: 'Lock the account',
        danger: true,
        done: `The account of ${name} is locked.`,
        text: `${name} is signed out everywhere at once and cannot sign in, by password or at the identity provider; their personal tokens are rejected. Roles and history stay, and it can be unlocked.`,
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
        text: `Their authenticator and backup codes end, and ${name} is signed out everywhere. The password alone signs them in then: verify first that the request comes from them, and have them set up another one. A team that requires two-factor asks for it at once.`,
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
