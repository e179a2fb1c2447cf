/** Who is signed in, and the ways in and out. The session lives in a cookie that scripts cannot read. */
import { queryOptions } from '@tanstack/react-query';
import type { Me } from '../../../schemas/api/identity/people.ts';
import { obligationOf } from './required-action.ts';

export interface Session {
  signedIn: boolean;
  /** What has to be done before anything else. */
  owes: Me['owes'];
  /** Null where nobody is signed in. */
  userId: Me['id'] | null;
}

export const SIGNED_OUT: Session = { signedIn: false, owes: null, userId: null };

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async (): Promise<Session> => {
    const response = await fetch('/api/auth/session', { headers: { accept: 'application/json' } });
    if (response.status === 401) return SIGNED_OUT;
    if (!response.ok)
      throw new Error(`The controller answered ${response.status} when asked for the session.`);
    return sessionOf(await response.json());
  },
  staleTime: Number.POSITIVE_INFINITY,
  retry: 2,
});

export interface Provider {
  id: string;
  name: string;
  /** Where the browser goes to sign in; absent for the password. */
  url?: string;
  /** The address that was typed may go along. */
  takesLoginHint?: true;
  /** Of the password: it opens a few accounts alone. */
  isBreakGlass?: true;
}

export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: async (): Promise<Provider[]> => {
    const response = await fetch('/api/auth/providers', { headers: { accept: 'application/json' } });
    if (!response.ok) throw new Error(`The controller answered ${response.status} when asked for providers.`);
    const { providers }: { providers: Provider[] } = await response.json();
    return providers;
  },
  staleTime: 60_000,
});

export type SignInResult =
  | { ok: true; session: Session }
  | {
      ok: false;
      totpRequired: boolean;
      message: string;
      /** When the next try will be looked at. */
      retryAt: Date | null;
    };

export async function signIn(email: string, password: string, totp?: string): Promise<SignInResult> {
  const response = await fetch('/api/auth/sign-in', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password, ...(totp ? { totp } : {}) }),
  });
  if (response.ok) return { ok: true, session: sessionOf(await response.json()) };
  const body: { error?: string; code?: string } = await response.json().catch(() => ({}));
  const fallback =
    response.status === 429
      ? 'Too many tries.'
      : `The controller answered ${response.status}. Try again, or look in its log.`;
  return {
    ok: false,
    totpRequired: body.code === 'TOTP_REQUIRED',
    message: body.error ?? fallback,
    retryAt: response.status === 429 ? retryTime(response.headers.get('retry-after')) : null,
  };
}

/** Answers where the browser goes next: the end of the session at the identity provider, or null. */
export async function signOut(): Promise<string | null> {
  const response = await fetch('/api/auth/sign-out', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  const { redirect }: { redirect?: unknown } = await response.json().catch(() => ({}));
  return typeof redirect === 'string' && /^https?:\/\//.test(redirect) ? redirect : null;
}

const sessionOf = ({ user }: { user: { id: Me['id']; owes?: unknown } }): Session => ({
  signedIn: true,
  owes: obligationOf(user.owes),
  userId: user.id,
});

function retryTime(seconds: string | null): Date | null {
  const count = Number(seconds);
  return count > 0 ? new Date(Date.now() + count * 1_000) : null;
}
