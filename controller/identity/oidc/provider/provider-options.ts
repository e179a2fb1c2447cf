/** What else is said of a provider: what stands where nothing is said, and what cannot stand. No I/O. */
import { X509Certificate } from 'node:crypto';
import {
  FIRST_PROVIDER,
  type ProviderOptions,
  type ProviderOptionsChange,
} from '../../../../schemas/api/identity-providers.ts';
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

/** Of the request itself: OpenID Connect Core 1.0, 3.1.2.1, RFC 7636, RFC 9101. They have settings of their own, or none. */
const RESERVED = new Set([
  ...['client_id', 'redirect_uri', 'response_type', 'response_mode', 'scope', 'state', 'nonce', 'prompt'],
  ...['code_challenge', 'code_challenge_method', 'acr_values', 'login_hint', 'request', 'request_uri'],
]);
const PARAMETER = /^[A-Za-z0-9_.:-]{1,64}$/;
const PROMPTS = new Set(['login', 'consent', 'select_account', 'create']);
/** RFC 6749, 3.3. */
const SCOPES = /^[\x21\x23-\x5b\x5d-\x7e]*( [\x21\x23-\x5b\x5d-\x7e]+)*$/;
const DOMAIN = /^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)*$/;
/** Control characters would end up in an address or in a header. */
const ODD = /\p{Cc}/u;

const blanks = (text: string): string => text.trim().split(/\s+/).filter(Boolean).join(' ');
const names = (list: readonly string[]): string[] => [
  ...new Set(list.map((name) => name.trim()).filter(Boolean)),
];

/** As it is stored: without blanks that were pasted along. @throws BAD_REQUEST */
export function changedOptions(before: ProviderOptions, change: ProviderOptionsChange): ProviderOptions {
  const given = { ...before, ...change };
  const after: ProviderOptions = {
    ...given,
    ...{ scopes: blanks(given.scopes), prompt: blanks(given.prompt), acrValues: blanks(given.acrValues) },
    ...{ groupsClaim: given.groupsClaim.trim(), groupsScope: blanks(given.groupsScope) },
    ...{ clientKeyId: given.clientKeyId.trim(), caCertificate: given.caCertificate.trim() },
    allowedDomains: names(given.allowedDomains).map((domain) => domain.toLowerCase().replace(/^@/, '')),
    ...{ allowedGroups: names(given.allowedGroups), superAdminGroups: names(given.superAdminGroups) },
    secondFactorClaims: names(given.secondFactorClaims),
  };
  for (const field of ['scopes', 'acrValues', 'groupsScope'] as const)
    if (!SCOPES.test(after[field]))
      throw badRequest(`options.${field}: give names of printable ASCII, separated by blanks`);
  const prompt = after.prompt.split(' ').find((word) => word !== '' && !PROMPTS.has(word));
  if (prompt !== undefined)
    throw badRequest(`options.prompt: "${prompt}" is none of ${[...PROMPTS].join(', ')}`);
  for (const [name, value] of Object.entries(after.extraParameters)) {
    if (!PARAMETER.test(name))
      throw badRequest(`options.extraParameters: "${name}" is no name of a parameter`);
    if (RESERVED.has(name))
      throw badRequest(
        `options.extraParameters.${name} is said by Headgate itself, or by a setting of its own`,
      );
    if (ODD.test(value)) throw badRequest(`options.extraParameters.${name} has a control character`);
  }
  const domain = after.allowedDomains.find((one) => !DOMAIN.test(one));
  if (domain !== undefined)
    throw badRequest(`options.allowedDomains: "${domain}" is no domain; write it as example.org`);
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
    throw badRequest('options.caCertificate: give certificates in PEM, and nothing else: no key');
  }
}
