/** What of the settings a provider does not list, for whoever saves them. No I/O. */
import type { ServerMetadata } from 'openid-client';
import type { ProviderOptions } from '../../../../schemas/api/identity-providers.ts';

/** Providers need not list all that they know: OpenID Connect Discovery 1.0, section 3. */
export function warningsOf(
  { scopes_supported: scopes, claims_supported: claims }: ServerMetadata,
  options: Pick<ProviderOptions, 'scopes' | 'groupsScope' | 'groupsClaim'>,
): string[] {
  const asked = [...new Set(`${options.scopes} ${options.groupsScope}`.split(/\s+/).filter(Boolean))];
  const warnings = (scopes ? asked.filter((scope) => !scopes.includes(scope)) : []).map(
    (scope) =>
      `The provider does not list the scope "${scope}": some refuse every sign-in that asks for one that they do not know`,
  );
  const [first = ''] = options.groupsClaim.split('.');
  if (
    options.groupsClaim !== '' &&
    claims &&
    !claims.includes(options.groupsClaim) &&
    !claims.includes(first)
  )
    warnings.push(
      `The provider does not list the claim "${options.groupsClaim}"; many have claims that they do not list`,
    );
  return warnings;
}
