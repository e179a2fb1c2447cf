/** What somebody has to do before anything else. There is no way around it but to sign out. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import type { Me } from '../../../../schemas/api/identity/people.ts';
import { queries } from '../../api/queries/index.ts';
import { SIGNED_OUT, sessionQuery } from '../../api/session.ts';
import { useSignOut } from '../../app/shell/sign-out.ts';
import { Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { ToastLayer } from '../../ui/feedback/toast.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Logo } from '../../ui/primitives/icons.tsx';
import { ChangePassword } from './change-password.tsx';
import { askedForBy } from './requiring-teams.ts';
import { TwoFactorSetup } from './two-factor-setup.tsx';
import { ProveTwoFactor } from './verify-two-factor.tsx';

type RequiredAction = NonNullable<Me['owes']>;

const TITLES: Record<RequiredAction, string> = {
  CHANGE_PASSWORD: 'Choose a password of your own',
  SET_UP_TWO_FACTOR: 'Set up two-factor sign-in',
  PROVE_TWO_FACTOR: 'Give your second factor',
};

export const OwingPage = ({ owes }: { owes: RequiredAction }) => {
  const me = useQuery(queries.me());
  const met = useMet();
  return (
    <Frame title={TITLES[owes]} beside={me.data && <Whose person={me.data} />}>
      <Loaded query={me} what="Your account" skeleton={<SkeletonBlock height={280} />}>
        {(person) =>
          owes === 'PROVE_TWO_FACTOR' ? (
            <ProveTwoFactor intro={askedForBy(person.twoFactorRequiredBy)} done={() => void met()} />
          ) : owes === 'CHANGE_PASSWORD' ? (
            <>
              <p>
                Somebody else has seen the password that you signed in with. It is good for nothing but this.
              </p>
              <ChangePassword email={person.email} done={() => void met()} temporary />
            </>
          ) : (
            <TwoFactorSetup
              email={person.email}
              intro={askedForBy(person.twoFactorRequiredBy)}
              done={() => void met()}
            />
          )
        }
      </Loaded>
    </Frame>
  );
};

const Whose = ({ person }: { person: Me }) => {
  const leave = useSignOut();
  return (
    <p className="owing-foot">
      <span className="muted">
        Signed in as <b className="breakable">{person.email}</b>
      </span>
      <Button icon="leave" size="small" onClick={() => void leave()}>
        Sign out
      </Button>
    </p>
  );
};

const Frame = ({ title, beside, children }: { title: string; beside: ReactNode; children: ReactNode }) => {
  useEffect(() => {
    document.title = `${title} · Headgate`;
  }, [title]);
  return (
    <main className="sign-in">
      <div className="sign-in-card" data-wide>
        <div className="sign-in-brand">
          <Logo size={24} />
          <span>Headgate</span>
        </div>
        <h1>{title}</h1>
        {children}
        {beside}
        <ToastLayer />
      </div>
    </main>
  );
};

/** Called when the required action is done or another one follows: reloads what was refused meanwhile. */
function useMet(): () => Promise<void> {
  const queryClient = useQueryClient();
  return async () => {
    queryClient.removeQueries({ predicate: ({ state }) => state.status === 'error' });
    const session = await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 }).catch(() => null);
    queryClient.setQueryData(
      sessionQuery.queryKey,
      (known = SIGNED_OUT) => session ?? { ...known, owes: null },
    );
  };
}
