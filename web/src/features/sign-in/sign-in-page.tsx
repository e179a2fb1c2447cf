import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, type SyntheticEvent, useEffect, useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { providersQuery, sessionQuery, signIn } from '../../api/session.ts';
import { withParameters } from '../../api/sign-in-url.ts';
import { Field } from '../../ui/form/field.tsx';
import { Button, ButtonAnchor } from '../../ui/primitives/button.tsx';
import { Icon, Logo } from '../../ui/primitives/icons.tsx';
import { CodeField } from '../account/code-field.tsx';
import { providerProblem } from './provider-problems.ts';
import { refusalText } from './refusal-text.ts';

/** Only addresses of this site: `//evil.example` and `https:…` are not. */
const safeNext = (next: string | null): string => (next && /^\/[^/\\]/.test(next) ? next : '/');

export const SignInPage = () => {
  const [params] = useSearchParams();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [step, setStep] = useState<'password' | 'code'>('password');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [wrong, setWrong] = useState(false);
  const [tried, setTried] = useState(false);
  /** The password's form, where passwords open break-glass accounts alone. */
  const [opened, setOpened] = useState(false);
  const next = safeNext(params.get('next'));
  const providers = useQuery(providersQuery);
  const isFolded = !opened && (providers.data ?? []).some(({ isBreakGlass }) => isBreakGlass);
  const sentBack = tried ? null : providerProblem(params.get('problem'));

  useEffect(() => {
    document.title = 'Sign in · Headgate';
  }, []);

  const submit = async (event: SyntheticEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    setWrong(false);
    setTried(true);
    try {
      const result = await signIn(email.trim(), password, step === 'code' ? code.trim() : undefined);
      if (result.ok) {
        queryClient.clear();
        queryClient.setQueryData(sessionQuery.queryKey, result.session);
        await navigate(next, { replace: true });
        return;
      }
      setCode('');
      if (result.totpRequired) setStep('code');
      else {
        setProblem(refusalText(result));
        setWrong(step === 'password' && !result.retryAt);
      }
    } catch {
      setProblem('The controller did not answer. Check that it is running, then try again.');
    } finally {
      setBusy(false);
    }
  };
  const startOver = (): void => {
    setStep('password');
    setPassword('');
    setCode('');
    setProblem(null);
  };

  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <div className="sign-in-brand">
          <Logo size={32} />
          <h1>Headgate</h1>
        </div>
        {step === 'password' && <p className="muted">What should run, what does run, and why they differ.</p>}
        {sentBack && (
          <Problem>
            <b>{sentBack.title}.</b> {sentBack.advice}
          </Problem>
        )}
        {isFolded ? null : (
          <form className="form" onSubmit={(event) => void submit(event)} aria-label="Sign in">
            {step === 'password' ? (
              <>
                <Field
                  label="Email"
                  value={email}
                  onChange={setEmail}
                  type="email"
                  autoComplete="username"
                  required
                  autoFocus
                />
                <Field
                  label="Password"
                  value={password}
                  onChange={setPassword}
                  type="password"
                  autoComplete="current-password"
                  required
                />
              </>
            ) : (
              <>
                <p>
                  The password of <b className="breakable">{email.trim()}</b> is right. Now the second factor.
                </p>
                <CodeField value={code} onChange={setCode} />
              </>
            )}
            {problem && <Problem>{problem}</Problem>}
            {wrong && (
              <p className="muted">
                Forgotten? An administrator of your team can make a temporary password for you.
              </p>
            )}
            <Button type="submit" kind="primary" disabled={busy}>
              {busy ? 'Signing in…' : 'Sign in'}
            </Button>
            {step === 'code' && <Button onClick={startOver}>As somebody else</Button>}
          </form>
        )}
        {step === 'password' && <OtherWays next={next} email={email.trim()} isOnly={isFolded} />}
        {isFolded && (
          <p className="sign-in-other muted">
            Passwords are switched off, but for{' '}
            <button type="button" className="link-button" onClick={() => setOpened(true)}>
              break-glass accounts
            </button>
            .
          </p>
        )}
      </div>
    </main>
  );
};

const Problem = ({ children }: { children: ReactNode }) => (
  <p className="inline-error" role="alert">
    <Icon name="warning" size={14} />
    <span>{children}</span>
  </p>
);

/** Below the form, so that nothing moves when they come. */
const OtherWays = ({ next, email, isOnly }: { next: string; email: string; isOnly: boolean }) => {
  const providers = useQuery(providersQuery);
  if (providers.isError) {
    return (
      <p className="sign-in-other muted">
        Whether there are other ways to sign in is not known.{' '}
        <button type="button" className="link-button" onClick={() => void providers.refetch()}>
          Ask again
        </button>
      </p>
    );
  }
  const others = (providers.data ?? []).flatMap(({ id, name, url, takesLoginHint }) =>
    url ? [{ id, name, url, hint: takesLoginHint === true && email.includes('@') }] : [],
  );
  if (others.length === 0) return null;
  return (
    <div className="sign-in-other">
      {!isOnly && <p className="sign-in-or muted">or</p>}
      {others.map(({ id, name, url, hint }) => (
        <ButtonAnchor
          icon="shield"
          key={id}
          href={withParameters(url, {
            ...(next === '/' ? {} : { next }),
            ...(hint && { login_hint: email }),
          })}
        >
          Continue with {name}
        </ButtonAnchor>
      ))}
    </div>
  );
};
