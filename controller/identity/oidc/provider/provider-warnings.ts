/** Warns of scopes and claims in the settings that the provider does not list. No I/O. */
import type { ServerMetadata } from 'openid-client';
import type { ProviderOptions } from '../../../../schemas/api/identity/identity-providers.ts';

/** Only warnings, because a provider need not list everything that it supports: OpenID Connect Discovery 1.0, section 3. */
export function warningsOf(
  { scopes_supported: scopes, claims_supported: claims }: ServerMetadata,
  options: Pick<ProviderOptions, 'scopes' | 'groupsScope' | 'groupsClaim'>,
): string[] {
  const scopesRequested = [
    ...new Set(`${options.scopes} ${options.groupsScope}`.split(/\s+/).filter(Boolean)),
  ];
  const warnings = (scopes ? scopesRequested.filter((scope) => !scopes.includes(scope)) : []).map(
    (scope) =>
      `The provider does not list the scope "${scope}": some providers reject every sign-in with an unknown scope`,
  );
  const [first = ''] = options.groupsClaim.split('.');
  if (
    options.groupsClaim !== '' &&
    claims &&
    !claims.includes(options.groupsClaim) &&
    !claims.includes(first)
  )
    warnings.push(
      `The provider does not list the claim "${options.groupsClaim}"; many providers have claims that they do not list`,
    );
  return warnings;
}
