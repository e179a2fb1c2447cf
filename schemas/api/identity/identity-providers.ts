/** Identity providers that people sign in at, as super admins set them up. */
import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { Input, Nullable, Text, Timestamp } from '../common.ts';

const Url = Type.String({ minLength: 1, maxLength: 2_000 });
/** In addresses and in the file of providers. */
export const ProviderId = Type.String({
  pattern: worded(
    '^[a-z0-9][a-z0-9-]{0,39}$',
    'must be 1 to 40 lower-case letters, digits and -, not beginning with -',
  ),
});
export const FIRST_PROVIDER = 'oidc';
export const MOST_PROVIDERS = 20;

export const TOKEN_ENDPOINT_AUTH_METHODS = [
  ...(['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'] as const),
] as const;
const AuthMethodOfClient = Type.Enum([...TOKEN_ENDPOINT_AUTH_METHODS], { type: 'string' });

export const SECOND_FACTORS = ['ASK', 'CLAIMS', 'PROVIDER'] as const;

const GroupName = Type.String({ minLength: 1, maxLength: 256 });
const Groups = Type.Array(GroupName, { maxItems: 200 });
/** What else may be said of a provider. */
const options = {
  /** Scopes beside `openid profile email`, separated by blanks. */
  scopes: Text(500),
  /** OpenID Connect Core 1.0, 3.1.2.1: `login`, `consent`, `select_account`, separated by blanks. */
  prompt: Text(100),
  acrValues: Text(500),
  /** The address that was typed on the sign-in page goes along as `login_hint`. */
  sendsLoginHint: Type.Boolean(),
  /** Of the authorization request: what some provider asks for, as `hd` or `domain_hint`. */
  extraParameters: Type.Record(Text(64), Text(500), { maxProperties: 10 }),
  /** PEM: authorities that are trusted beside the usual ones. */
  caCertificate: Text(64_000),
  /** `kid` of the key that signs by `private_key_jwt`. */
  clientKeyId: Text(200),
  /** An address without `email_verified` counts as verified. */
  verifiesEmails: Type.Boolean(),
  /** Of the address; none lets all in. */
  allowedDomains: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { maxItems: 100 }),
  /** As the provider writes them; none lets all in. */
  allowedGroups: Groups,
  /** Whose people are super admins for as long as they are in them. */
  superAdminGroups: Groups,
  /** Empty: that of the settings of groups. */
  groupsClaim: Text(200),
  groupsScope: Text(200),
  /** Put before every name of a group, so that those of two providers differ. */
  groupPrefix: Text(50),
  /**
   * How a second factor that a team requires is met: asked for here (`ASK`); shown by `amr` or `acr`, asked for where neither
   * does (`CLAIMS`); left to the provider (`PROVIDER`).
   */
  secondFactor: Type.Enum([...SECOND_FACTORS], { type: 'string' }),
  /** Values of `amr` or `acr` that show one. */
  secondFactorClaims: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 50 }),
  /** SCIM is this provider's: accounts that it keeps are joined at their first sign-in here. */
  keepsScim: Type.Boolean(),
};
export const ProviderOptions = Type.Object(options);
export type ProviderOptions = Static<typeof ProviderOptions>;
/** Absent keeps. */
const ProviderOptionsChange = Type.Partial(Type.Object(options, { additionalProperties: false }));
export type ProviderOptionsChange = Static<typeof ProviderOptionsChange>;

/** A PEM key is longer than a secret. */
const ClientSecret = Text(16_000);

export const TestOidc = Input({
  issuer: Url,
  /** Where they are given, the client is tried too, with a made-up code. Absent are those that are stored. */
  providerId: Type.Optional(ProviderId),
  clientId: Type.Optional(Text(500)),
  clientSecret: Type.Optional(ClientSecret),
  tokenEndpointAuthMethod: Type.Optional(AuthMethodOfClient),
  options: Type.Optional(ProviderOptionsChange),
});
export type TestOidc = Static<typeof TestOidc>;
export const UpdateOidc = Input({
  issuer: Url,
  clientId: Type.String({ minLength: 1, maxLength: 500 }),
  /** Empty keeps the one that is stored, for the same issuer and client. For `private_key_jwt` a private key in PEM (PKCS #8). */
  clientSecret: ClientSecret,
  displayName: Type.Optional(Text(100)),
  /** Default: `client_secret_basic`. */
  tokenEndpointAuthMethod: Type.Optional(AuthMethodOfClient),
  /** Default: `oidc`. An unknown one creates another provider. */
  providerId: Type.Optional(ProviderId),
  options: Type.Optional(ProviderOptionsChange),
});
export type UpdateOidc = Static<typeof UpdateOidc>;
/** What is saved, and may not be meant. */
export const ProviderSaved = Type.Object({
  ok: Type.Literal(true),
  warnings: Type.Array(Type.String()),
});
export const DisableOidc = Input({
  /** Default: `oidc`. */
  providerId: Type.Optional(ProviderId),
});
export const OidcTest = Type.Object({
  ok: Type.Boolean(),
  /** What the provider says that it is called. */
  issuer: Nullable(Type.String()),
  authorizationEndpoint: Nullable(Type.String()),
  tokenEndpoint: Nullable(Type.String()),
  jwksUri: Nullable(Type.String()),
  endSessionEndpoint: Nullable(Type.String()),
  scopes: Type.Array(Type.String()),
  claims: Type.Array(Type.String()),
  /** What would keep people from signing in, each with what to do. */
  problems: Type.Array(Type.String()),
  /** What is not as it may be meant. */
  warnings: Type.Array(Type.String()),
  /** Whether the provider takes the client: null where it was not tried, or says neither. */
  clientAccepted: Nullable(Type.Boolean()),
});
export type OidcTest = Static<typeof OidcTest>;

const Report = Type.Object({ at: Timestamp, message: Type.String() });
export const OidcView = Type.Object({
  id: ProviderId,
  issuer: Type.String(),
  clientId: Type.String(),
  /** `********` where one is stored. */
  clientSecret: Nullable(Type.String()),
  displayName: Nullable(Type.String()),
  tokenEndpointAuthMethod: AuthMethodOfClient,
  options: ProviderOptions,
  /** It stands in HEADGATE_OIDC_FILE, and is changed there. */
  isFromFile: Type.Boolean(),
  /** Why the last sign-in that failed there did. */
  lastFailure: Nullable(Report),
  /** What the last sign-in lacked. */
  lastWarning: Nullable(Report),
});
export type OidcView = Static<typeof OidcView>;
