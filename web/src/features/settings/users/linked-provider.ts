import type { OidcView } from '../../../../../schemas/api/identity/identity-providers.ts';
import type { UserSummary } from '../../../../../schemas/api/identity/people.ts';

type Named = readonly Pick<OidcView, 'issuer' | 'displayName'>[];

/** As people know it from the sign-in page, which names those alone that are set now. */
export const issuerName = (issuer: string, providers: Named): string =>
  providers.find((provider) => provider.issuer === issuer)?.displayName || issuer;

/** What an account is linked to, in a sentence. */
export function linkedProvider({ linkedTo }: Pick<UserSummary, 'linkedTo'>, providers: Named): string {
  const [only, ...others] = linkedTo;
  if (only === undefined || others.length > 0) return 'the identity provider';
  const name = issuerName(only, providers);
  // An address reads as no name.
  return name === only ? 'the identity provider' : name;
}
