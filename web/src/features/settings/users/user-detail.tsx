import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { UserSummary } from '../../../../../schemas/api/identity/people.ts';
import { queries } from '../../../api/queries/index.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { ShortId } from '../../../ui/primitives/copyable.tsx';
import { Fact } from '../../../ui/primitives/fact.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { AccountState, Resting, TwoFactor } from '../accounts/account-badges.tsx';
import { lockedMeans } from '../accounts/account-text.ts';
import { issuerName, linkedProvider } from './linked-provider.ts';
import { type UserAction, UserDialogs } from './user-dialogs.tsx';
import { UserGroups } from './user-groups.tsx';
import { UserTeams } from './user-teams.tsx';

interface Props {
  user: UserSummary;
  /** Back to the list. */
  leave: () => void;
}

/** One account: who it is, what it may, where that comes from, and what can be done with it. */
export const UserDetail = ({ user, leave }: Props) => {
  const me = useQuery(queries.me());
  const providers = useQuery(queries.settings()).data?.oidcProviders ?? [];
  const [action, setAction] = useState<UserAction | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  // The row that was followed is gone: the reader goes on at what came in its place.
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  const isMe = me.data?.id === user.id;
  return (
    <div className="stack settings-narrow">
      <div className="user-head">
        <Button icon="chevronLeft" size="small" onClick={leave}>
          All users
        </Button>
        <h2 ref={heading} tabIndex={-1}>
          {user.name}
        </h2>
        <AccountState account={user} />
        {user.isSuperAdmin && (
          <Badge tone="moving" icon="shield">
            Super admin
          </Badge>
        )}
        {isMe && <span className="muted">That is you.</span>}
      </div>
      <Section title="Account">
        <div className="section-body form">
          <dl className="facts">
            <Fact name="Email">
              <span className="breakable">{user.email}</span>
            </Fact>
            <Fact name="Signs in by">
              {user.authMethod === 'OIDC' ? 'the identity provider' : 'password'}
            </Fact>
            {user.linkedTo.length > 0 && (
              <Fact name="Linked to">
                <span className="breakable">
                  {user.linkedTo.map((issuer) => issuerName(issuer, providers)).join(', ')}
                </span>
              </Fact>
            )}
            <Fact name="Two-factor">
              <TwoFactor enabled={user.twoFactorEnabled} byProvider={user.authMethod === 'OIDC'} />
            </Fact>
            <Fact name="Kept by">{user.provisioned ? 'SCIM' : 'Headgate'}</Fact>
            <Fact name="Signed in">
              <Time at={user.lastSignInAt} />
            </Fact>
            {user.confirmedAt && (
              <Fact name="Confirmed by the provider">
                <Time at={user.confirmedAt} />
              </Fact>
            )}
            {user.restsAt && (
              <Fact name={user.rests === 'account' ? 'Rests' : 'Group roles rest'}>
                <Time at={user.restsAt} />
              </Fact>
            )}
            <Fact name="Made">
              <Time at={user.createdAt} />
            </Fact>
            <Fact name="Id">
              <ShortId id={user.id} />
            </Fact>
          </dl>
          {user.lockedAt && (
            <Notice icon="held" tone="failed">
              {lockedMeans(user)} Since <Time at={user.lockedAt} />.
            </Notice>
          )}
          <Resting user={user} />
          {user.provisioned && (
            <p className="muted">
              The identity provider keeps name and address of this account by SCIM: change them there.
            </p>
          )}
          <AccountActions
            user={user}
            isMe={isMe}
            provider={linkedProvider(user, providers)}
            act={setAction}
          />
        </div>
      </Section>
      <UserTeams user={user} act={setAction} />
      <UserGroups user={user} />
      <Section title="Super admin">
        <div className="section-body tab-head">
          <p>
            {user.isSuperAdmin
              ? 'Runs the server: all teams, all users, sign-in and these settings.'
              : 'Has the roles above, in those teams, and nothing beyond them.'}
          </p>
          <Button onClick={() => setAction({ kind: 'superAdmin' })}>
            {user.isSuperAdmin ? 'Take super admin away' : 'Make a super admin'}
          </Button>
        </div>
      </Section>
      <Section title="Delete the user">
        <div className="section-body tab-head">
          <p className="muted">
            The account, its roles, sessions and tokens go. What it has done stays in the audit log, under its
            name.
          </p>
          <Button
            kind="danger"
            disabled={isMe}
            tip={isMe ? 'That is your own account: another super admin may' : undefined}
            onClick={() => setAction({ kind: 'delete' })}
          >
            Delete {user.name}
          </Button>
        </div>
      </Section>
      <UserDialogs user={user} action={action} isMe={isMe} close={() => setAction(null)} deleted={leave} />
    </div>
  );
};

interface ActionProps {
  user: UserSummary;
  isMe: boolean;
  /** What the account is linked to, if it is. */
  provider: string;
  act: (action: UserAction) => void;
}

const AccountActions = ({ user, isMe, provider, act }: ActionProps) => {
  const isLocked = user.lockedAt !== null;
  const own = isMe ? 'That is your own account: see “You”' : undefined;
  return (
    <span className="button-row">
      <Button disabled={isMe} tip={own} onClick={() => act({ kind: isLocked ? 'unlock' : 'lock' })}>
        {isLocked ? 'Unlock the account' : 'Lock the account'}
      </Button>
      <Button disabled={isMe} tip={own} onClick={() => act({ kind: 'password', provider })}>
        Reset the password
      </Button>
      {user.linkedTo.length > 0 && (
        <Button disabled={isMe} tip={own} onClick={() => act({ kind: 'unlink', provider })}>
          Unlink from {provider}
        </Button>
      )}
      <Button
        disabled={isMe || !user.twoFactorEnabled}
        tip={own ?? (user.twoFactorEnabled ? undefined : 'There is no second factor')}
        onClick={() => act({ kind: 'twoFactor' })}
      >
        Reset two-factor
      </Button>
      <Button disabled={isMe} tip={own} onClick={() => act({ kind: 'sessions' })}>
        End all sessions
      </Button>
    </span>
  );
};
