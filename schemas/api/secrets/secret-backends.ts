/** Where the secrets of an environment are kept, and how Headgate gets at them. Credentials go in and never come out. */
import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { Input } from '../common.ts';

export const SECRET_BACKENDS = ['BUILTIN', 'VAULT', 'CLOUD_SM', 'EXEC'] as const;
export type SecretBackend = (typeof SECRET_BACKENDS)[number];
export const SecretBackend = Type.Unsafe<SecretBackend>({ type: 'string', enum: [...SECRET_BACKENDS] });

const Url = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 2_048,
    pattern: worded('^https?://[^\\s]+$', 'must be an address that begins with https:// or http://'),
    description,
  });
/** Segments of letters, digits, dot, dash and underscore; none of them `.` or `..`. */
const Path = (options: { default?: string; description: string }) =>
  Type.String({
    minLength: 1,
    maxLength: 256,
    pattern: worded(
      '^(?!(.*/)?\\.{1,2}(/|$))[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$',
      'must be names of letters, digits, _ . and -, with single slashes between and none at the ends',
    ),
    ...options,
  });
const Credential = (description: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4_096,
      pattern: worded('^[\\x21-\\x7e]+$', 'must have no blanks, and only ASCII characters'),
      description,
    }),
  );

const TokenAuth = Input({ method: Type.Literal('token'), token: Credential('kept where it is left out') });
const AppRoleAuth = Input({
  method: Type.Literal('approle'),
  mount: Type.Optional(Path({ default: 'approle', description: 'where the method is mounted' })),
  roleId: Type.String({
    minLength: 1,
    maxLength: 256,
    pattern: worded('^[\\x21-\\x7e]+$', 'must have no blanks, and only ASCII characters'),
  }),
  secretId: Credential('kept where it is left out'),
});
const KubernetesAuth = Input({
  method: Type.Literal('kubernetes'),
  mount: Type.Optional(Path({ default: 'kubernetes', description: 'where the method is mounted' })),
  role: Type.String({
    minLength: 1,
    maxLength: 256,
    pattern: worded('^[\\w.:/-]+$', 'must have only letters, digits and _ . : / -'),
  }),
});
const RoleName = Type.Optional(
  Type.String({
    ...{
      minLength: 1,
      maxLength: 256,
      pattern: worded('^[\\w.:/-]+$', 'must have only letters, digits and _ . : / -'),
    },
    description: 'without it the method chooses',
  }),
);
const JwtAuth = Input({
  method: Type.Literal('jwt'),
  mount: Type.Optional(Path({ default: 'jwt', description: 'where the method is mounted' })),
  role: RoleName,
  jwt: Type.Optional(
    Type.String({
      ...{
        minLength: 1,
        maxLength: 16_384,
        pattern: worded(
          '^[\\w-]+\\.[\\w-]+\\.[\\w-]+$',
          'must be a signed JWT: three parts with dots between',
        ),
      },
      description: 'signed by a provider that the method trusts; kept where it is left out',
    }),
  ),
});
const CertAuth = Input({
  method: Type.Literal('cert'),
  mount: Type.Optional(Path({ default: 'cert', description: 'where the method is mounted' })),
  role: RoleName,
  certificate: Type.String({ minLength: 1, maxLength: 65_536, description: 'PEM, with those between' }),
  key: Type.Optional(
    Type.String({ minLength: 1, maxLength: 16_384, description: 'PEM; kept where it is left out' }),
  ),
});
const AccessKeyId = Type.String({
  minLength: 16,
  maxLength: 128,
  pattern: worded('^\\w+$', 'must be an access key id, of letters and digits'),
});
const AwsAuth = Input({
  method: Type.Literal('aws'),
  mount: Type.Optional(Path({ default: 'aws', description: 'where the method is mounted' })),
  role: RoleName,
  region: Type.Optional(
    Type.String({
      ...{
        minLength: 1,
        maxLength: 64,
        pattern: worded('^[a-z0-9-]+$', 'must be a region such as eu-central-1'),
      },
      description: 'whose STS Vault asks; without it the global one',
    }),
  ),
  serverId: Type.Optional(
    Type.String({
      ...{
        minLength: 1,
        maxLength: 256,
        pattern: worded('^[\\x21-\\x7e]+$', 'must have no blanks, and only ASCII characters'),
      },
      description: 'X-Vault-AWS-IAM-Server-ID, where the method asks for it',
    }),
  ),
  accessKeyId: AccessKeyId,
  secretAccessKey: Credential('kept where it is left out'),
  sessionToken: Credential('of temporary credentials; kept where it is left out'),
});
/** By `method`. */
export const VAULT_AUTH = {
  token: TokenAuth,
  approle: AppRoleAuth,
  kubernetes: KubernetesAuth,
  jwt: JwtAuth,
  cert: CertAuth,
  aws: AwsAuth,
} as const;

/** How often it is looked for other values; without it every five minutes in Secrets Manager, every minute elsewhere. */
const RefreshSeconds = Type.Optional(
  Type.Integer({ minimum: 30, maximum: 86_400, description: 'between two looks for other values' }),
);

const VAULT = {
  refreshSeconds: RefreshSeconds,
  address: Url('of Vault, for example https://vault.example.com:8200'),
  namespace: Type.Optional(Path({ description: 'of Vault Enterprise or OpenBao' })),
  mount: Type.Optional(Path({ default: 'secret', description: 'of the KV engine, of version 2 or 1' })),
  prefix: Type.Optional(Path({ description: 'folder in which the names of secrets are looked up' })),
  field: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, default: 'value', description: 'that holds the value' }),
  ),
  ca: Type.Optional(
    Type.String({ minLength: 1, maxLength: 65_536, description: 'PEM of a private authority' }),
  ),
};
export const VaultConfig = Input({
  ...VAULT,
  auth: Type.Union([TokenAuth, AppRoleAuth, KubernetesAuth, JwtAuth, CertAuth, AwsAuth]),
});
export type VaultConfig = Static<typeof VaultConfig>;
/** The same without a look into `auth`, which its method decides on. */
export const VaultConfigOutline = Input({
  ...VAULT,
  auth: Type.Object({ method: Type.Enum(['token', 'approle', 'kubernetes', 'jwt', 'cert', 'aws']) }),
});

const CLOUD_SM = {
  refreshSeconds: RefreshSeconds,
  roleArn: Type.Optional(
    Type.String({
      ...{
        minLength: 20,
        maxLength: 2_048,
        pattern: worded(
          '^arn:[a-z-]+:iam::[0-9]{12}:role/[\\w+=,.@/-]+$',
          'must be the ARN of a role, such as arn:aws:iam::123456789012:role/headgate',
        ),
      },
      description: 'of a role to take on',
    }),
  ),
  region: Type.String({
    minLength: 1,
    maxLength: 64,
    pattern: worded('^[a-z0-9-]+$', 'must be a region such as eu-central-1'),
  }),
  prefix: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      pattern: worded('^[A-Za-z0-9/_+=.@-]+$', 'must have only letters, digits and / _ + = . @ -'),
      description: 'stands before the names of secrets as it is, for example `headgate/staging/`',
    }),
  ),
  endpoint: Type.Optional(Url('in the place of the one of the region')),
};
export const CloudConfig = Input({
  ...CLOUD_SM,
  accessKeyId: Type.Optional(AccessKeyId),
  secretAccessKey: Credential('kept where it is left out'),
  externalId: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 1_224,
      pattern: worded('^[\\w+=,.@:/-]+$', 'must have only letters, digits and + = , . @ : / -'),
      description: 'that the role asks for',
    }),
  ),
  sessionToken: Credential('of temporary credentials; kept where it is left out'),
});
export type CloudConfig = Static<typeof CloudConfig>;

export const ExecConfig = Input({
  refreshSeconds: RefreshSeconds,
  command: Type.String({
    minLength: 2,
    maxLength: 1_024,
    pattern: worded(
      '^/(?!(.*/)?\\.{0,2}(/|$))[^\\0]*[^/\\0]$',
      'must be an absolute path, without . or .. in it and no / at its end',
    ),
    description: 'an absolute path; no shell is between',
  }),
  args: Type.Optional(Type.Array(Type.String({ maxLength: 1_024 }), { maxItems: 32 })),
  timeoutSeconds: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 60, default: 10, description: 'for up to 50 names' }),
  ),
});
export type ExecConfig = Static<typeof ExecConfig>;

/** What holds for each backend is checked by its own schema, so that a fault names the field. */
export const SecretBackendConfig = Type.Unsafe<VaultConfig | CloudConfig | ExecConfig>({
  type: 'object',
  maxProperties: 16,
});

/** As it is set, with credentials blanked. */
export const ShownBackendConfig = Type.Union([
  Type.Object({
    ...VAULT,
    auth: Type.Union([
      Type.Object({ method: Type.Literal('token'), hasToken: Type.Boolean() }),
      Type.Object({
        method: Type.Literal('approle'),
        mount: AppRoleAuth.properties.mount,
        roleId: AppRoleAuth.properties.roleId,
        hasSecretId: Type.Boolean(),
      }),
      Type.Object({
        method: Type.Literal('kubernetes'),
        mount: KubernetesAuth.properties.mount,
        role: KubernetesAuth.properties.role,
      }),
      Type.Object({
        method: Type.Literal('jwt'),
        mount: JwtAuth.properties.mount,
        role: RoleName,
        hasJwt: Type.Boolean(),
      }),
      Type.Object({
        method: Type.Literal('cert'),
        mount: CertAuth.properties.mount,
        role: RoleName,
        certificate: CertAuth.properties.certificate,
        hasKey: Type.Boolean(),
      }),
      Type.Object({
        method: Type.Literal('aws'),
        mount: AwsAuth.properties.mount,
        role: RoleName,
        region: AwsAuth.properties.region,
        serverId: AwsAuth.properties.serverId,
        accessKeyId: AccessKeyId,
        hasSecretAccessKey: Type.Boolean(),
        hasSessionToken: Type.Boolean(),
      }),
    ]),
  }),
  Type.Object({
    ...CLOUD_SM,
    accessKeyId: CloudConfig.properties.accessKeyId,
    externalId: CloudConfig.properties.externalId,
    hasSecretAccessKey: Type.Boolean(),
    hasSessionToken: Type.Boolean(),
  }),
  Type.Object(ExecConfig.properties),
]);
export type ShownBackendConfig = Static<typeof ShownBackendConfig>;
