/** The file that HEADGATE_OIDC_FILE names: sign-in by identity providers, to be kept in git. Secrets are named, and not in it. */
import Type, { type Static } from 'typebox';
import { Role, Text } from './api/common.ts';
import {
  ProviderId,
  ProviderOptions,
  TOKEN_ENDPOINT_AUTH_METHODS,
} from './api/identity/identity-providers.ts';
import { AccessLimits } from './api/settings.ts';
import { worded } from './patterns.ts';

const Path = Type.String({ minLength: 1, maxLength: 4_096 });
const Name = Type.String({ minLength: 1, maxLength: 256 });
const closed = { additionalProperties: false } as const;

const Provider = Type.Object(
  {
    id: ProviderId,
    issuer: Type.String({ minLength: 1, maxLength: 2_000 }),
    clientId: Type.String({ minLength: 1, maxLength: 500 }),
    /** A file with the secret or the private key, or a variable of the controller's environment. */
    clientSecretFile: Type.Optional(Path),
    clientSecretEnv: Type.Optional(
      Type.String({
        pattern: worded('^[A-Za-z_][A-Za-z0-9_]{0,127}$', 'must be the name of an environment variable'),
      }),
    ),
    displayName: Type.Optional(Text(100)),
    tokenEndpointAuthMethod: Type.Optional(Type.Enum([...TOKEN_ENDPOINT_AUTH_METHODS], { type: 'string' })),
    /** In place of `options.caCertificate`. */
    caCertificateFile: Type.Optional(Path),
    options: Type.Optional(Type.Partial(Type.Object(ProviderOptions.properties, closed))),
  },
  closed,
);

export const OidcFile = Type.Object(
  {
    providers: Type.Array(Provider, { maxItems: 20 }),
    /** Absent: as the settings say. */
    groups: Type.Optional(
      Type.Object(
        {
          sync: Type.Boolean(),
          claim: Type.Optional(Text(200)),
          scope: Type.Optional(Text(200)),
          mappings: Type.Optional(
            Type.Array(Type.Object({ group: Name, team: Name, role: Role }, closed), { maxItems: 1_000 }),
          ),
          patterns: Type.Optional(
            Type.Array(Type.Object({ pattern: Name, role: Role }, closed), { maxItems: 50 }),
          ),
          defaultTeam: Type.Optional(Name),
          defaultRole: Type.Optional(Role),
        },
        closed,
      ),
    ),
    access: Type.Optional(
      Type.Object(
        {
          confirmationDays: Type.Optional(Type.Integer(AccessLimits.confirmationDays)),
          requestOfflineAccess: Type.Optional(Type.Boolean()),
          tokenMaxDays: Type.Optional(Type.Integer(AccessLimits.tokenMaxDays)),
          onlyByProvider: Type.Optional(Type.Boolean()),
          /** Addresses of super admins with a password. */
          breakGlass: Type.Optional(Type.Array(Name, { maxItems: 20 })),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type OidcFile = Static<typeof OidcFile>;
