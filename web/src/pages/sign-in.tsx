import { useQueryClient } from '@tanstack/react-query';
import { type SyntheticEvent, useEffect, useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { sessionQuery, signIn } from '../api/session.ts';
import { Field } from '../components/field.tsx';
import { Icon, Logo } from '../components/icons.tsx';

/** Only addresses of this site: `//evil.example` and `https:…` are not. */
const safeNext = (next: string | null): string => (next && /^\/[^/\\]/.test(next) ? next : '/');

export const SignInPage = () => {
  const [params] = useSearchParams();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [totp, setTotp] = useState('');
  const [totpRequired, setTotpRequired] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  useEffect(() => {
    document.title = 'Sign in · Headgate';
  }, []);

  const submit = async (event: SyntheticEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      const result = await signIn(email.trim(), password, totp.trim() || undefined);
      if (result.ok) {
        queryClient.clear();
        queryClient.setQueryData(sessionQuery.queryKey, { signedIn: true });
        await navigate(safeNext(params.get('next')), { replace: true });
        return;
      }
      setTotpRequired(result.totpRequired);
      setProblem(result.totpRequired && !totp ? null : result.message);
    } catch {
      setProblem('The controller did not answer. Check that it is running, then try again.');
    } finally {
      setBusy(false);
    }
  };

  return (
    <main className="sign-in">
      <form className="sign-in-card" onSubmit={(event) => void submit(event)} aria-label="Sign in">
        <div className="sign-in-brand">
          <Logo size={32} />
          <h1>Headgate</h1>
        </div>
        <p className="muted">What should run, what does run, and why they differ.</p>
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
        {totpRequired && (
          <Field
            label="One-time code"
            value={totp}
            onChange={setTotp}
            autoComplete="one-time-code"
            hint="Six digits from your authenticator app."
            required
          />
        )}
        {problem && (
          <p className="inline-error" role="alert">
            <Icon name="warning" size={14} />
            <span>{problem}</span>
          </p>
        )}
        <button type="submit" className="button" data-kind="primary" disabled={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
};
