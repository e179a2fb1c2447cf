/** Environments, enrollment tokens, secrets. */
import Type, { type Static } from 'typebox';
import { Id, Input, Nullable, Timestamp } from './common.ts';

export const SecretBackend = Type.Enum(['BUILTIN', 'VAULT', 'CLOUD_SM', 'EXEC']);
export const EnvironmentName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[a-zA-Z0-9][a-zA-Z0-9 _-]*$',
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
export const Environment = Type.Object({
  ...EnvironmentSummary.properties,
  requireApproval: Type.Boolean(),
  maxNodes: Nullable(Type.Integer()),
  enrollmentToken: Nullable(EnrollmentTokenSummary),
});
export type Environment = Static<typeof Environment>;

export const CreateEnvironment = Input({ name: EnvironmentName, teamId: Id });
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

export const SecretName = Type.String({ minLength: 1, maxLength: 100, pattern: '^[a-zA-Z][a-zA-Z0-9_.-]*$' });
/** A value travels to the engine by environment variable, which cannot carry a line break or NUL. */
export const SecretValue = Type.String({ minLength: 1, maxLength: 65_536 });
export const SecretSummary = Type.Object({
  id: Id,
  name: Type.String(),
  /** How manifests refer to it, for example `SVC_SECRET_DB_PASSWORD`. */
  variable: Type.String(),
  /** Names of the deployed pipelines whose config refers to it. */
  usedBy: Type.Array(Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type SecretSummary = Static<typeof SecretSummary>;
export const SecretList = Type.Array(SecretSummary);
export const CreateSecret = Input({ environmentId: Id, name: SecretName, value: SecretValue });
export const UpdateSecret = Input({ id: Id, environmentId: Id, value: SecretValue });
export const DeleteSecret = Input({ id: Id, environmentId: Id });
export const DeletedSecret = Type.Object({ deleted: Type.Literal(true) });
