import { Notice } from '../../../ui/feedback/notice.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Icon } from '../../../ui/primitives/icons.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { useNow } from '../../../ui/text/clock.ts';
import { formatExact } from '../../../ui/text/format.ts';
import { type Locked, lockedMeans, SOURCES } from './account-text.ts';

const lockedByWord = ({ lockedBy }: Locked): string => (lockedBy === 'scim' ? 'SCIM' : 'admin');

interface Rest {
  restsAt?: Date | null;
  rests?: 'account' | 'roles' | null;
}

const RESTS = {
  account:
    'The identity provider has not confirmed this person for too long, or refuses to: sessions and personal tokens do not count. The next sign-in there wakes them.',
  roles:
    'The identity provider has not confirmed this person for too long, or refuses to: roles by groups do not count. The next sign-in there wakes them.',
} as const;

const restsNow = ({ restsAt }: Rest, now: number): boolean =>
  restsAt !== undefined && restsAt !== null && restsAt.getTime() <= now;

/** In words, while it does. */
export const Resting = ({ user }: { user: Rest }) => {
  const now = useNow();
  if (!user.rests || !restsNow(user, now)) return null;
  return (
    <Notice icon="held" tone="held">
      {RESTS[user.rests]} Since <Time at={user.restsAt ?? null} />.
    </Notice>
  );
};

export const AccountState = ({ account }: { account: Locked & Rest & { mustChangePassword?: boolean } }) => {
  const now = useNow();
  if (account.lockedAt) {
    return (
      <Badge tone="failed" tip={`${lockedMeans(account)} Since ${formatExact(account.lockedAt)}.`}>
        Locked by {lockedByWord(account)}
      </Badge>
    );
  }
  if (account.mustChangePassword) {
    return (
      <Badge tone="held" tip="It signs in to choose a password of its own, and for nothing else until then.">
        Temporary password
      </Badge>
    );
  }
  if (account.rests && account.restsAt && restsNow(account, now)) {
    return (
      <Badge tone="held" tip={`${RESTS[account.rests]} Since ${formatExact(account.restsAt)}.`}>
        {account.rests === 'account' ? 'Rests' : 'Group roles rest'}
      </Badge>
    );
  }
  if (account.rests && account.restsAt)
    return (
      <Badge
        tone="calm"
        tip={`Rests on ${formatExact(account.restsAt)} unless the provider confirms before.`}
      >
        Active
      </Badge>
    );
  return <Badge tone="calm">Active</Badge>;
};

export const TwoFactor = ({ enabled, byProvider }: { enabled: boolean; byProvider: boolean }) => {
  if (enabled) return <Badge tone="ok">On</Badge>;
  return byProvider ? (
    <Badge tone="unknown" icon="dash" tip="Signs in at the identity provider, which asks for it or does not.">
      Provider’s
    </Badge>
  ) : (
    <Badge tone="unknown" icon="dash">
      Off
    </Badge>
  );
};

export const Source = ({ source }: { source: keyof typeof SOURCES }) => (
  <span data-tip={SOURCES[source].means}>{SOURCES[source].word}</span>
);

interface PersonProps {
  person: Locked & { name: string; isSuperAdmin: boolean };
  isMe: boolean;
}

/** In a table: a phone has no room for the column that tells of locks. */
export const PersonName = ({ person, isMe }: PersonProps) => (
  <span className="cell-line">
    <span className="person-name">{person.name}</span>
    {person.isSuperAdmin && (
      <span className="person-mark" data-tip="Super admin: may do everything in every team">
        <Icon name="shield" size={14} />
        <span className="sr-only">Super admin</span>
      </span>
    )}
    {isMe && <span className="muted">you</span>}
    {person.lockedAt && (
      <span className="person-locked">
        <Badge tone="failed">Locked</Badge>
      </span>
    )}
  </span>
);
