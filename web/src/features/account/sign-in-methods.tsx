/** The ways in: password, second factor, identity provider. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useLocation } from 'react-router';
import type { Me } from '../../../../schemas/api/identity/people.ts';
import { type Provider, providersQuery } from '../../api/session.ts';
import { withParameters } from '../../api/sign-in-url.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button, ButtonAnchor } from '../../ui/primitives/button.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { plural } from '../../ui/text/format.ts';
import { names } from './requiring-teams.ts';
import { type SignInAction, SignInDialogs } from './sign-in-dialogs.tsx';

const FEW_CODES = 3;

export const SigningIn = ({ me }: { me: Me }) => {
  const providers = useQuery(providersQuery);
  const others = (providers.data ?? []).filter(({ url }) => url !== undefined);
  const [action, setAction] = useState<SignInAction | null>(null);
  return (
    <>
      <ul className="ways" aria-label="Ways to sign in">
        <PasswordWay me={me} act={setAction} />
        <TwoFactorWay me={me} act={setAction} />
        {me.linkedToProvider ? (
          <ProviderWay
            me={me}
            provider={others.length > 1 ? undefined : others[0]}
            isOffered={others.length > 0}
            act={setAction}
          />
        ) : (
          others.map((provider) => (
            <ProviderWay key={provider.id} me={me} provider={provider} isOffered act={setAction} />
          ))
        )}
      </ul>
      <SignInDialogs me={me} action={action} close={() => setAction(null)} />
    </>
  );
};

interface WayProps {
  me: Me;
  act: (action: SignInAction) => void;
}

const Way = ({ name, state, children }: { name: string; state: ReactNode; children?: ReactNode }) => (
  <li>
    <span className="way-name">{name}</span>
    <span className="way-state">{state}</span>
    <span className="button-row">{children}</span>
  </li>
);

const PasswordWay = ({ me, act }: WayProps) => (
  <Way
    name="Password"
    state={
      me.hasPassword ? (
        <>
          <Badge tone="ok">Set</Badge>
          {me.passwordChangedAt && (
            <span className="muted">
              <Time at={me.passwordChangedAt} />
            </span>
          )}
        </>
      ) : (
        <>
          <Badge tone="unknown" icon="dash">
            None
          </Badge>
          <span className="muted">You sign in at the identity provider.</span>
        </>
      )
    }
  >
    {me.hasPassword && (
      <Button size="small" onClick={() => act('password')}>
        Change<span className="sr-only"> the password</span>
      </Button>
    )}
  </Way>
);

const TwoFactorWay = ({ me, act }: WayProps) => {
  const asked = me.twoFactorRequiredBy;
  const why =
    asked.length > 0 ? `${names(asked)} ${asked.length === 1 ? 'requires' : 'require'} it` : undefined;
  if (!me.twoFactorEnabled) {
    return (
      <Way
        name="Two-factor"
        state={
          <>
            <Badge tone="unknown" icon="dash">
              Off
            </Badge>
            <span className="muted">
              {me.hasPassword
                ? 'A code from your phone beside the password: the password alone does not sign anybody in.'
                : 'It goes with a password. What the identity provider asks for is set there.'}
            </span>
          </>
        }
      >
        {me.hasPassword && (
          <Button size="small" onClick={() => act('two-factor')}>
            Set up<span className="sr-only"> two-factor</span>
          </Button>
        )}
      </Way>
    );
  }
  return (
    <Way
      name="Two-factor"
      state={
        <>
          <Badge tone="ok">On</Badge>
          <span className={me.backupCodesLeft < FEW_CODES ? 'way-few' : 'muted'}>
            {plural(me.backupCodesLeft, 'backup code')} left
            {me.backupCodesLeft < FEW_CODES ? ': make new ones' : ''}
          </span>
          {why && <span className="muted">{why}.</span>}
        </>
      }
    >
      <Button size="small" onClick={() => act('backup-codes')}>
        New backup codes
      </Button>
      <Button size="small" disabled={why !== undefined} tip={why} onClick={() => act('no-two-factor')}>
        Turn off<span className="sr-only"> two-factor</span>
      </Button>
    </Way>
  );
};

interface ProviderWayProps extends WayProps {
  /** Absent where there is none, or it is not known which of several it is. */
  provider: Provider | undefined;
  isOffered: boolean;
}

const ProviderWay = ({ me, provider, isOffered, act }: ProviderWayProps) => {
  const { pathname } = useLocation();
  const name = provider?.name ?? 'Identity provider';
  if (me.linkedToProvider) {
    return (
      <Way
        name={name}
        state={
          <>
            <Badge tone="ok">Linked</Badge>
            {!isOffered && <span className="muted">Signing in by it is switched off.</span>}
            {!me.hasPassword && <span className="muted">It is your only way in.</span>}
          </>
        }
      >
        <Button
          size="small"
          disabled={!me.hasPassword}
          tip={me.hasPassword ? undefined : 'There is no password to sign in with instead'}
          onClick={() => act('unlink')}
        >
          Unlink<span className="sr-only"> {name}</span>
        </Button>
      </Way>
    );
  }
  return (
    <Way
      name={name}
      state={
        <Badge tone="unknown" icon="dash">
          Not linked
        </Badge>
      }
    >
      {provider?.url && (
        <ButtonAnchor size="small" href={withParameters(provider.url, { link: '1', next: pathname })}>
          Link it<span className="sr-only">: {name}</span>
        </ButtonAnchor>
      )}
    </Way>
  );
};
