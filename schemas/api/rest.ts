/**
 * What the REST interface takes and answers where that differs from the procedures: its paths and its key say which object
 * and which environment is meant, and some texts are never null.
 */
import Type from 'typebox';
import { AlertRule, CreateAlertRule } from './alerts.ts';
import { AUDIT_LIMIT, AuditAction, AuditCursor } from './audit.ts';
import { Id, Input, Nullable } from './common.ts';
import { SecretName, SecretSummary, SecretValue } from './environments.ts';
import { FleetNode, MaintainedNode, NodeSummary } from './fleet.ts';
import { GitPlan, PlanGit } from './git-plan.ts';
import { GitJobList, GitSyncStatus, ListGitJobs } from './git-sync.ts';
import {
  DeployPipeline,
  Pipeline,
  PipelineSummary,
  RollbackPipeline,
  ValidationError,
  VersionSummary,
} from './pipelines.ts';

export const RestPipelineItem = Type.Object({
  ...PipelineSummary.properties,
  /** Empty where there is none. */
  description: Type.String(),
});
export const RestPipelineDetails = Type.Object({ ...Pipeline.properties, description: Type.String() });
export const RestVersion = Type.Object({
  ...VersionSummary.properties,
  /** Empty where nothing was said. */
  changelog: Type.String(),
  /** The user or the service account that created the version; empty where git did. */
  createdById: Type.String(),
});

export const PipelinesBody = Type.Object({ pipelines: Type.Array(RestPipelineItem) });
export const PipelineBody = Type.Object({ pipeline: RestPipelineDetails });
export const VersionsBody = Type.Object({ versions: Type.Array(RestVersion) });
export const DeployBody = Input({
  changelog: DeployPipeline.properties.changelog,
  supersede: DeployPipeline.properties.supersede,
});
export const RollbackBody = Input({ targetVersionId: RollbackPipeline.properties.targetVersionId });

/** `<key>:<value>`; several must all be there. */
export const LabelFilter = Type.String({ minLength: 2, maxLength: 385, pattern: '^[^:]+:' });
export const NodesQuery = Input({ label: Type.Optional(Type.Array(LabelFilter, { maxItems: 64 })) });
export const NodesBody = Type.Object({ nodes: Type.Array(NodeSummary) });
export const NodeBody = Type.Object({ node: FleetNode });
export const MaintenanceBody = Input({ enabled: Type.Boolean() });
export const MaintainedNodeBody = Type.Object({ node: MaintainedNode });

export const SecretsBody = Type.Object({ secrets: Type.Array(SecretSummary) });
export const SecretBody = Type.Object({ secret: SecretSummary });
export const NewSecret = Input({ name: SecretName, value: SecretValue });
/** Either `id` or `name`, and not both. */
export const ReplaceSecret = Input({
  id: Type.Optional(Id),
  name: Type.Optional(SecretName),
  value: SecretValue,
});
/** Either of them, and not both. */
export const WhichSecret = Input({ id: Type.Optional(Id), name: Type.Optional(SecretName) });
export const DeletedBody = Type.Object({ deleted: Type.Literal(true) });

const { environmentId: _, ...ruleFields } = CreateAlertRule.properties;
export const NewRule = Input(ruleFields);
export const RulesBody = Type.Object({ rules: Type.Array(AlertRule) });
export const RuleBody = Type.Object({ rule: AlertRule });

const { environmentId: _environment, ...planFields } = PlanGit.properties;
export const PlanRequest = Input(planFields);
export const PlanBody = Type.Object({ plan: GitPlan });
export const GitStatusBody = Type.Object({ status: GitSyncStatus });
export const JobsQuery = Input({
  status: ListGitJobs.properties.status,
  limit: ListGitJobs.properties.limit,
});
export const JobsBody = Type.Object({ jobs: GitJobList });

export const AuditQuery = Input({
  after: Type.Optional(AuditCursor),
  limit: Type.Optional(Type.Integer(AUDIT_LIMIT)),
  action: Type.Optional(AuditAction),
});

/** Open: what else a program may need of an error stands beside it. */
export const RestError = Type.Object(
  {
    /** A sentence for people: what is wrong and what to do. */
    error: Type.String(),
    /** With 400: each place of the input that is wrong, as a JSON pointer. */
    details: Type.Optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))),
    /** With 422: why what was to be deployed is not valid. */
    validationErrors: Type.Optional(Type.Array(ValidationError)),
    /** With 412: the file and line of the manifest that describes the thing. */
    path: Type.Optional(Nullable(Type.String())),
    line: Type.Optional(Nullable(Type.Integer())),
  },
  { additionalProperties: true },
);
