import { queryOptions } from '@tanstack/react-query';

/** Signed in or not. The session lives in a cookie that scripts cannot read. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async (): Promise<{ signedIn: boolean }> => {
    const response = await fetch('/api/auth/session', { headers: { accept: 'application/json' } });
    if (response.status === 401) return { signedIn: false };
    if (!response.ok)
      throw new Error(`The controller answered ${response.status} when asked for the session.`);
    return { signedIn: true };
  },
  staleTime: Number.POSITIVE_INFINITY,
  retry: 2,
});

export type SignInResult = { ok: true } | { ok: false; totpRequired: boolean; message: string };

export async function signIn(email: string, password: string, totp?: string): Promise<SignInResult> {
  const response = await fetch('/api/auth/sign-in', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password, ...(totp ? { totp } : {}) }),
  });
  if (response.ok) return { ok: true };
  const body: { error?: string; code?: string } = await response.json().catch(() => ({}));
  const fallback =
    response.status === 429
      ? 'Too many tries. Wait a minute and try again.'
      : `The controller answered ${response.status}. Try again, or look in its log.`;
  return { ok: false, totpRequired: body.code === 'TOTP_REQUIRED', message: body.error ?? fallback };
}

export async function signOut(): Promise<void> {
  await fetch('/api/auth/sign-out', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
}
