import type { ProviderOptions } from '../../../../../schemas/api/identity/identity-providers.ts';

/** Lists are typed as lines, and parameters as `name=value` lines. */
type Lists = 'allowedDomains' | 'allowedGroups' | 'superAdminGroups' | 'secondFactorClaims';
export type OptionsDraft = Omit<ProviderOptions, Lists | 'extraParameters'> &
  Record<Lists | 'extraParameters', string>;

export const NO_OPTIONS: ProviderOptions = {
  ...{ scopes: '', prompt: '', acrValues: '', sendsLoginHint: false, extraParameters: {} },
  ...{ caCertificate: '', clientKeyId: '', verifiesEmails: false },
  ...{ allowedDomains: [], allowedGroups: [], superAdminGroups: [] },
  ...{ groupsClaim: '', groupsScope: '', groupPrefix: '', keepsScim: false },
  ...{ secondFactor: 'ASK', secondFactorClaims: ['mfa'] },
};

const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

export const optionsDraft = (options: ProviderOptions): OptionsDraft => ({
  ...options,
  allowedDomains: options.allowedDomains.join('\n'),
  allowedGroups: options.allowedGroups.join('\n'),
  superAdminGroups: options.superAdminGroups.join('\n'),
  secondFactorClaims: options.secondFactorClaims.join('\n'),
  extraParameters: Object.entries(options.extraParameters)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n'),
});

export const optionsInput = (draft: OptionsDraft): ProviderOptions => ({
  ...draft,
  allowedDomains: lines(draft.allowedDomains),
  allowedGroups: lines(draft.allowedGroups),
  superAdminGroups: lines(draft.superAdminGroups),
  secondFactorClaims: lines(draft.secondFactorClaims),
  extraParameters: Object.fromEntries(
    lines(draft.extraParameters).map((line) => {
      const [name = '', value = ''] = line.split(/=(.*)/s);
      return [name.trim(), value.trim()];
    }),
  ),
});

/** Empty where it can be saved; what else is wrong the server says. */
export function problemOfOptions(draft: OptionsDraft): string {
  const odd = lines(draft.extraParameters).find((line) => !/^[^=\s]+\s*=/.test(line));
  return odd === undefined ? '' : `Write parameters as name=value: “${odd.slice(0, 60)}” is none.`;
}
