/** What an identity provider could not do, by the code with which it sends the browser back. */
interface Problem {
  title: string;
  /** What to do. */
  advice: string;
}

const PROBLEMS: Record<string, Problem> = {
  oidc_unavailable: {
    title: 'The identity provider does not answer',
    advice: 'Try again in a moment, or sign in with your password.',
  },
  oidc_refused: {
    title: 'The answer of the identity provider was not accepted',
    advice: 'Try again. If it stays, ask the operator of Headgate to look in its log.',
  },
  oidc_denied: {
    title: 'The identity provider did not let you in',
    advice:
      'You declined there, or may not use Headgate. Ask the administrator of the provider for access, then try again.',
  },
  not_allowed: {
    title: 'Your account at the identity provider may not come in here',
    advice:
      'Only certain groups or addresses may. Ask an administrator of Headgate which; the audit log says what was missing.',
  },
  too_many: {
    title: 'Too many sign-ins from your address',
    advice: 'Wait a minute, then try again.',
  },
  unavailable: {
    title: 'Headgate cannot reach its database',
    advice: 'Try again in a moment.',
  },
  link_refused: {
    title: 'Linking has to be begun from your settings',
    advice: 'Sign in, open Settings → You, and link the identity provider there.',
  },
  oidc_expired: {
    title: 'Signing in at the identity provider took too long',
    advice: 'Start again, and finish it within ten minutes in the same browser.',
  },
  account_locked: {
    title: 'Your account is locked',
    advice: 'Ask an administrator of your team to unlock it, or at the identity provider to activate it.',
  },
  email_taken: {
    title:
      'An account with your address exists already, and is not linked to your account at the identity provider',
    advice:
      'If it has a password, sign in with it, then link the identity provider in your settings. If it has none, ask a super admin to unlink it under Settings → Users, then sign in here again.',
  },
  email_unverified: {
    title: 'The identity provider has not verified your address',
    advice: 'Verify it there, then sign in again.',
  },
  no_email: {
    title: 'The identity provider does not say what your address is',
    advice: 'Ask its administrator to send the claim “email” to Headgate.',
  },
  already_linked: {
    title: 'That account of the identity provider belongs to somebody else here',
    advice: 'Sign out at the provider, then link your own account of it.',
  },
};

const UNKNOWN: Problem = {
  title: 'Signing in at the identity provider did not work',
  advice: 'Try again. If it stays, ask the operator of Headgate to look in its log.',
};

/** Null where there was no problem. */
export const providerProblem = (code: string | null): Problem | null =>
  code ? (Object.hasOwn(PROBLEMS, code) ? (PROBLEMS[code] ?? UNKNOWN) : UNKNOWN) : null;
