/** The options of a provider: defaults and validation. No I/O. */
import { X509Certificate } from 'node:crypto';
import {
  FIRST_PROVIDER,
  type ProviderOptions,
  type ProviderOptionsChange,
} from '../../../../schemas/api/identity/identity-providers.ts';
import { badRequest } from '../../../platform/operation/errors.ts';

export const optionsOf = (providerId: string, stored: Partial<ProviderOptions>): ProviderOptions => ({
  ...{ scopes: '', prompt: '', acrValues: '', sendsLoginHint: false, extraParameters: {} },
  ...{ caCertificate: '', clientKeyId: '', verifiesEmails: false },
  ...{ allowedDomains: [], allowedGroups: [], superAdminGroups: [] },
  ...{ groupsClaim: '', groupsScope: '', groupPrefix: '' },
  // RFC 8176, section 2.
  ...{ secondFactor: 'ASK', secondFactorClaims: ['mfa'] },
  keepsScim: providerId === FIRST_PROVIDER,
  ...stored,
});

/** Parameters that Headgate sets itself or by other settings: OpenID Connect Core 1.0, 3.1.2.1, RFC 7636, RFC 9101. */
const RESERVED = new Set([
  ...['client_id', 'redirect_uri', 'response_type', 'response_mode', 'scope', 'state', 'nonce', 'prompt'],
  ...['code_challenge', 'code_challenge_method', 'acr_values', 'login_hint', 'request', 'request_uri'],
]);
const PARAMETER = /^[A-Za-z0-9_.:-]{1,64}$/;
const PROMPTS = new Set(['login', 'consent', 'select_account', 'create']);
/** RFC 6749, 3.3. */
const SCOPES = /^[\x21\x23-\x5b\x5d-\x7e]*( [\x21\x23-\x5b\x5d-\x7e]+)*$/;
const DOMAIN = /^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)*$/;
/** Control characters must not get into an address or a header. */
const CONTROL = /\p{Cc}/u;

const normalizeBlanks = (text: string): string => text.trim().split(/\s+/).filter(Boolean).join(' ');
const uniqueNames = (list: readonly string[]): string[] => [
  ...new Set(list.map((name) => name.trim()).filter(Boolean)),
];

/** Merges a change and trims its texts. @throws BAD_REQUEST */
export function changeOptions(before: ProviderOptions, change: ProviderOptionsChange): ProviderOptions {
  const merged = { ...before, ...change };
  const after: ProviderOptions = {
    ...merged,
    ...{
      scopes: normalizeBlanks(merged.scopes),
      prompt: normalizeBlanks(merged.prompt),
      acrValues: normalizeBlanks(merged.acrValues),
    },
    ...{ groupsClaim: merged.groupsClaim.trim(), groupsScope: normalizeBlanks(merged.groupsScope) },
    ...{ clientKeyId: merged.clientKeyId.trim(), caCertificate: merged.caCertificate.trim() },
    allowedDomains: uniqueNames(merged.allowedDomains).map((domain) =>
      domain.toLowerCase().replace(/^@/, ''),
    ),
    ...{
      allowedGroups: uniqueNames(merged.allowedGroups),
      superAdminGroups: uniqueNames(merged.superAdminGroups),
    },
    secondFactorClaims: uniqueNames(merged.secondFactorClaims),
  };
  for (const field of ['scopes', 'acrValues', 'groupsScope'] as const)
    if (!SCOPES.test(after[field]))
      throw badRequest(`options.${field}: enter names in printable ASCII, separated by blanks`);
  const prompt = after.prompt.split(' ').find((value) => value !== '' && !PROMPTS.has(value));
  if (prompt !== undefined)
    throw badRequest(`options.prompt: "${prompt}" is not one of ${[...PROMPTS].join(', ')}`);
  for (const [name, value] of Object.entries(after.extraParameters)) {
    if (!PARAMETER.test(name))
      throw badRequest(`options.extraParameters: "${name}" is not a valid parameter name`);
    if (RESERVED.has(name))
      throw badRequest(`options.extraParameters.${name} is set by Headgate itself or has its own setting`);
    if (CONTROL.test(value)) throw badRequest(`options.extraParameters.${name} contains a control character`);
  }
  const domain = after.allowedDomains.find((one) => !DOMAIN.test(one));
  if (domain !== undefined)
    throw badRequest(`options.allowedDomains: "${domain}" is not a domain; write it as example.org`);
  if (after.caCertificate !== '') assertCertificates(after.caCertificate);
  return after;
}

function assertCertificates(pem: string): void {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const rest = blocks.reduce((text, block) => text.replace(block, ''), pem);
  try {
    if (blocks.length === 0 || /-----BEGIN/.test(rest)) throw new Error('none');
    for (const block of blocks) new X509Certificate(block);
  } catch {
    throw badRequest('options.caCertificate: enter certificates in PEM and nothing else, no key');
  }
}
