import type { UserSummary } from '../../../../../schemas/api/people.ts';
import type { OidcView } from '../../../../../schemas/api/settings.ts';

/** As people know it from the sign-in page, which names the one that is set now alone. */
export const issuerName = (issuer: string, oidc: OidcView | null | undefined): string =>
  (oidc?.issuer === issuer && oidc.displayName) || issuer;

/** What an account is linked to, in a sentence. */
export function linkedProvider({ linkedTo }: Pick<UserSummary, 'linkedTo'>, oidc?: OidcView | null): string {
  const [only, ...others] = linkedTo;
  if (only === undefined || others.length > 0) return 'the identity provider';
  const name = issuerName(only, oidc);
  // An address reads as no name.
  return name === only ? 'the identity provider' : name;
}
