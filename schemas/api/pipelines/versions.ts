/** Versions of a pipeline. */
import Type, { type Static } from 'typebox';
import { AGENT_LIMITS } from '../../agent/limits.ts';
import { Id, Input, LabelMap, LogLevelName, Nullable, Text, Timestamp } from '../common.ts';
import { ConfigYaml } from './validation.ts';

export const DrainSeconds = Type.Integer({ minimum: 1, maximum: AGENT_LIMITS.drainSeconds });

export const VersionSummary = Type.Object({
  id: Id,
  pipelineId: Id,
  version: Type.Integer(),
  changelog: Nullable(Type.String()),
  /** Where it came from: a user, git, or a service account by REST. */
  source: Type.Enum(['ui', 'git', 'api']),
  /** The user or the service account; null for git, and where a user is gone. */
  createdById: Nullable(Type.String()),
  createdByName: Nullable(Type.String()),
  createdAt: Timestamp,
  commit: Nullable(Type.String()),
  commitAuthor: Nullable(Type.String()),
  commitMessage: Nullable(Type.String()),
  path: Nullable(Type.String()),
  isDeployed: Type.Boolean(),
});
export type VersionSummary = Static<typeof VersionSummary>;

export const VersionList = Type.Array(VersionSummary);

export const Version = Type.Object({
  ...VersionSummary.properties,
  configYaml: Type.String(),
  logLevel: LogLevelName,
  drainSeconds: Nullable(DrainSeconds),
  nodeSelector: Nullable(LabelMap),
});
export type Version = Static<typeof Version>;

export const GetVersion = Input({ versionId: Id });
export const Changelog = Text(2_000);

export const CreateVersion = Input({
  pipelineId: Id,
  configYaml: ConfigYaml,
  changelog: Type.Optional(Changelog),
});

export const RollbackPipeline = Input({ pipelineId: Id, targetVersionId: Id });
export const CompareVersions = Input({ fromVersionId: Id, toVersionId: Id });

export const VersionDiff = Type.Object({
  from: Type.Object({ id: Id, version: Type.Integer(), configYaml: Type.String() }),
  to: Type.Object({ id: Id, version: Type.Integer(), configYaml: Type.String() }),
  /** Unified diff, empty where the configs are equal. */
  diff: Type.String(),
  /** What else differs: the log level, the node selector. */
  settings: Type.Array(Type.Object({ name: Type.String(), from: Type.String(), to: Type.String() })),
});
