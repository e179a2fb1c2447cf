/** Environments, enrollment tokens, secrets. */
import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { Id, Input, Nullable, Timestamp } from '../common.ts';
import { SecretBackend, SecretBackendConfig, ShownBackendConfig } from '../secrets/secret-backends.ts';

export const EnvironmentName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: worded(
    '^[a-zA-Z0-9][a-zA-Z0-9 _-]*$',
    'must begin with a letter or digit and have only letters, digits, blanks, _ and -',
  ),
});

export const GIT_MODES = ['off', 'observe', 'sync', 'push'] as const;
export const GitMode = Type.Enum([...GIT_MODES]);

export const EnvironmentSummary = Type.Object({
  id: Id,
  name: Type.String(),
  teamId: Id,
  secretBackend: SecretBackend,
  gitMode: GitMode,
  nodeCount: Type.Integer(),
  pipelineCount: Type.Integer(),
  createdAt: Timestamp,
});
export type EnvironmentSummary = Static<typeof EnvironmentSummary>;
export const EnvironmentList = Type.Array(EnvironmentSummary);
export const ListEnvironments = Input({ teamId: Id });
export const EnvironmentId = Input({ environmentId: Id });
export const GetEnvironment = Input({ id: Id });

export const EnrollmentTokenSummary = Type.Object({
  id: Id,
  createdAt: Timestamp,
  expiresAt: Nullable(Timestamp),
  maxUses: Nullable(Type.Integer()),
  uses: Type.Integer(),
});
/** The store outside that an environment keeps its secrets in. */
export const SecretStore = Type.Object({
  /** Credentials are blanked. Null where it cannot be read any longer. */
  config: Nullable(ShownBackendConfig),
  /** When the secret that waits longest was last fetched. */
  fetchedAt: Nullable(Timestamp),
  /** Secrets that could not be fetched; their last good values are served. */
  failing: Type.Integer(),
  error: Nullable(Type.String()),
});
export type SecretStore = Static<typeof SecretStore>;
export const Environment = Type.Object({
  ...EnvironmentSummary.properties,
  requireApproval: Type.Boolean(),
  /** Archived nodes do not count. */
  maxNodes: Nullable(Type.Integer()),
  /** Days of silence after which a node is archived; 0 is never. */
  archiveNodesAfterDays: Type.Integer(),
  /** A version that does not run on a node is taken back there; manifests may say otherwise. */
  autoRevert: Type.Boolean(),
  /** What a gigabyte (10^9 bytes) that sinks send costs, in whatever currency; null: volumes have no price. */
  pricePerGb: Nullable(Type.Number()),
  enrollmentToken: Nullable(EnrollmentTokenSummary),
  secretStore: Nullable(SecretStore),
  /** Command lines that the operator lets the store EXEC run, arguments included. Empty for callers who are not EDITOR. */
  secretCommands: Type.Array(Type.String()),
  /** Patterns of keys whose values are blanked in samples of events and live taps. */
  redactKeys: Type.Array(Type.String()),
  /** It has none of its own: these are the usual ones. */
  redactKeysAreDefault: Type.Boolean(),
});
export type Environment = Static<typeof Environment>;

export const CreateEnvironment = Input({ name: EnvironmentName, teamId: Id });
/** A lower `maxNodes` sends nobody away: it only keeps further nodes out. */
export const UpdateEnvironment = Input({
  id: Id,
  name: Type.Optional(EnvironmentName),
  requireApproval: Type.Optional(Type.Boolean()),
  /** Null is no limit. */
  maxNodes: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }))),
  /** 0 archives nobody; nodes that are archived already stay so until they call. */
  archiveNodesAfterDays: Type.Optional(Type.Integer({ minimum: 0, maximum: 3_650 })),
  autoRevert: Type.Optional(Type.Boolean()),
  /** Of what sinks send, per gigabyte (10^9 bytes). Null: volumes have no price. */
  pricePerGb: Type.Optional(Nullable(Type.Number({ minimum: 0, maximum: 1_000_000 }))),
  secretBackend: Type.Optional(SecretBackend),
  secretBackendConfig: Type.Optional(SecretBackendConfig),
  /** `*` stands for any characters, case does not count. Null is the usual ones, an empty list hides nothing. */
  redactKeys: Type.Optional(
    Nullable(
      Type.Array(
        Type.String({
          minLength: 1,
          maxLength: 100,
          pattern: worded('^[^\\p{Cc}]+$', 'must have no control characters'),
        }),
        { maxItems: 100 },
      ),
    ),
  ),
});
export const DeletedEnvironment = Type.Object({
  deleted: Type.Literal(true),
  /** How many went with it. */
  pipelines: Type.Integer(),
  nodes: Type.Integer(),
});
export const CreatedEnvironment = Type.Object({ id: Id, name: Type.String(), teamId: Id });

export const GenerateEnrollmentToken = Input({
  environmentId: Id,
  /** How many nodes may enroll with it; absent is no limit. */
  maxUses: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  /** Absent is no expiry. */
  expiresInHours: Type.Optional(Type.Integer({ minimum: 1, maximum: 87_600 })),
});
/** The raw token is shown here once and stored only as a hash. */
export const GeneratedEnrollmentToken = Type.Object({
  id: Id,
  token: Type.String(),
  expiresAt: Nullable(Timestamp),
});

export const SecretName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: worded(
    '^[a-zA-Z][a-zA-Z0-9_.-]*$',
    'must begin with a letter and have only letters, digits, _ . and -',
  ),
});
/** A value travels to the engine by environment variable, which cannot carry NUL. */
export const SecretValue = Type.String({ minLength: 1, maxLength: 65_536 });
export const SecretSummary = Type.Object({
  id: Id,
  name: Type.String(),
  /** How manifests refer to it, for example `SVC_SECRET_DB_PASSWORD`. */
  variable: Type.String(),
  /** Where a store outside has it; null for all three where its name says it. */
  path: Nullable(Type.String()),
  property: Nullable(Type.String()),
  version: Nullable(Type.String()),
  /** Names of the deployed pipelines whose config refers to it. */
  usedBy: Type.Array(Type.String()),
  /** Names of the webhook endpoints whose manifests name it. */
  usedByEndpoints: Type.Array(Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  /** When its value was last fetched from a store outside; null where Headgate keeps it. */
  fetchedAt: Nullable(Timestamp),
  /** Why the last try failed; the value from before is served on. */
  fetchError: Nullable(Type.String()),
});
export type SecretSummary = Static<typeof SecretSummary>;
export const SecretList = Type.Array(SecretSummary);
export const CreateSecret = Input({ environmentId: Id, name: SecretName, value: SecretValue });
export const UpdateSecret = Input({ id: Id, environmentId: Id, value: SecretValue });
export const DeleteSecret = Input({ id: Id, environmentId: Id });
/** Where a store outside has a secret; what is left out, its name says. */
const SecretLocation = {
  path: Type.Optional(
    Type.String({
      ...{ minLength: 1, maxLength: 2_048 },
      // As names in AWS, ARNs and folders of Vault are written; none of the segments `.` or `..`.
      pattern: worded(
        '^(?!-)(?!(.*/)?\\.{1,2}(/|$))[A-Za-z0-9/_+=.@!:-]+$',
        'must be a path, a name or an ARN: letters, digits and / _ + = . @ ! : -, not beginning with -, without . or .. between slashes',
      ),
      description: 'where the store keeps it, in place of the name and the prefix: a name, an ARN, a folder',
    }),
  ),
  property: Type.Optional(
    Type.String({
      ...{
        minLength: 1,
        maxLength: 256,
        pattern: worded('^[^\\x00-\\x1f\\x7f]+$', 'must have no control characters'),
      },
      description: 'of an entry that is a JSON object; of Vault the field',
    }),
  ),
  version: Type.Optional(
    Type.String({
      ...{
        minLength: 1,
        maxLength: 256,
        pattern: worded('^[\\w./=+:@-]+$', 'must have only letters, digits and . _ / = + : @ -'),
      },
      description:
        'of AWS a VersionId or a VersionStage, of Vault the number; without it the newest is followed',
    }),
  ),
};
export const RegisterSecret = Input({ environmentId: Id, name: SecretName, ...SecretLocation });
export const RelocateSecret = Input({ id: Id, environmentId: Id, ...SecretLocation });
export const DeletedSecret = Type.Object({
  deleted: Type.Literal(true),
  /** The store outside that it came from has it on. */
  stillInStore: Type.Boolean(),
});
