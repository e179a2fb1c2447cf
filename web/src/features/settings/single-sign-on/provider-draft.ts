import type { OidcView, UpdateOidc } from '../../../../../schemas/api/identity/identity-providers.ts';

type Method = OidcView['tokenEndpointAuthMethod'];
type Stored = Pick<
  OidcView,
  'issuer' | 'clientId' | 'clientSecret' | 'displayName' | 'tokenEndpointAuthMethod'
>;

export interface ProviderDraft {
  issuer: string;
  clientId: string;
  /** Empty keeps the one that is stored. */
  clientSecret: string;
  displayName: string;
  method: Method;
}

export const METHODS: readonly { value: Method; word: string; means: string }[] = [
  {
    value: 'client_secret_basic',
    word: 'Secret in the header (client_secret_basic)',
    means: 'What most providers expect.',
  },
  {
    value: 'client_secret_post',
    word: 'Secret in the body (client_secret_post)',
    means: 'For providers that do not read the header.',
  },
  {
    value: 'private_key_jwt',
    word: 'Signed with a private key (private_key_jwt)',
    means: 'The provider has the public key, and no secret is shared. Below goes the private one, in PEM.',
  },
  {
    value: 'none',
    word: 'No secret: public client (none)',
    means: 'The provider knows this client as a public one. PKCE protects the sign-in either way.',
  },
];

export const providerDraft = (oidc: Stored | null): ProviderDraft => ({
  issuer: oidc?.issuer ?? '',
  clientId: oidc?.clientId ?? '',
  clientSecret: '',
  displayName: oidc?.displayName ?? '',
  method: oidc?.tokenEndpointAuthMethod ?? 'client_secret_basic',
});

/** The stored secret belongs to one client of one provider, and is sent to no other. */
export const mayKeepSecret = (draft: ProviderDraft, oidc: Stored | null): boolean =>
  oidc !== null &&
  oidc.clientSecret !== null &&
  draft.issuer.trim() === oidc.issuer &&
  draft.clientId.trim() === oidc.clientId &&
  (draft.method === 'private_key_jwt') === (oidc.tokenEndpointAuthMethod === 'private_key_jwt');

/** Empty where it can be saved. */
export function problemOfProvider(draft: ProviderDraft, oidc: Stored | null): string {
  if (!draft.issuer.trim()) return 'Give the issuer.';
  if (!URL.canParse(draft.issuer.trim())) return 'The issuer is an address: https://login.example.com';
  if (!draft.clientId.trim()) return 'Give the client id.';
  if (draft.method !== 'none' && draft.clientSecret === '' && !mayKeepSecret(draft, oidc))
    return draft.method === 'private_key_jwt' ? 'Give the private key.' : 'Give the client secret.';
  return '';
}

export const providerInput = (draft: ProviderDraft): Omit<UpdateOidc, 'options' | 'providerId'> => ({
  issuer: draft.issuer.trim(),
  clientId: draft.clientId.trim(),
  clientSecret: draft.method === 'none' ? '' : draft.clientSecret,
  ...(draft.displayName.trim() ? { displayName: draft.displayName.trim() } : {}),
  tokenEndpointAuthMethod: draft.method,
});
