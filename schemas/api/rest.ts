/**
 * What the REST interface takes and answers where that differs from the procedures: its paths and its key say which object
 * and which environment is meant, and some texts are never null.
 */
import Type from 'typebox';
import { worded } from '../patterns.ts';
import { Id, Input, Nullable } from './common.ts';
import { GitPlan, PlanGit } from './delivery/git-plan.ts';
import { GitJobList, GitSyncStatus, ListGitJobs } from './delivery/git-sync.ts';
import {
  ListPullRequests,
  MergePullRequest,
  PullRequest,
  PullRequestList,
  ReviewPullRequest,
} from './delivery/pull-requests.ts';
import { ErrorCode } from './error-codes.ts';
import { SecretName, SecretSummary, SecretValue } from './fleet/environments.ts';
import { FleetNode, MaintainedNode, NodeSummary } from './fleet/fleet.ts';
import {
  AcknowledgeEvent,
  AlertEvent,
  AlertEventDetail,
  AlertRule,
  AlertSilence,
  AlertSilenceList,
  CreateAlertRule,
  CreateSilence,
  ListAlertEvents,
  UpdateAlertRule,
} from './insight/alerts.ts';
import { AUDIT_LIMIT, AuditAction, AuditCursor } from './insight/audit.ts';
import { Deployed, Deployment, DeployPipeline } from './pipelines/deployments.ts';
import { PipelineConfig, SaveConfig } from './pipelines/graph.ts';
import {
  CreatePipeline,
  Pipeline,
  PipelineRef,
  PipelineSummary,
  UpdatePipeline,
} from './pipelines/pipelines.ts';
import { ValidationError } from './pipelines/validation.ts';
import { CreateVersion, RollbackPipeline, Version, VersionSummary } from './pipelines/versions.ts';

/** How many items a page has at most. */
export const PAGE_LIMIT = { minimum: 1, maximum: 1_000 } as const;
export const PageCursor = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: worded('^[A-Za-z0-9_-]+$', 'must be a cursor that an earlier answer gave'),
});
/** Of every list that has no rules of its own; without both it is answered whole. */
const paging = { limit: Type.Optional(Type.Integer(PAGE_LIMIT)), cursor: Type.Optional(PageCursor) };
const nextCursor = {
  /** Where `limit` or `cursor` was given: the `cursor` of the next page; null after the last. */
  nextCursor: Type.Optional(Nullable(PageCursor)),
};
/** Exactly this name. */
const NameFilter = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }));
export const PageQuery = Input(paging);
export const NamedQuery = Input({ ...paging, name: NameFilter });

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

export const PipelinesBody = Type.Object({ pipelines: Type.Array(RestPipelineItem), ...nextCursor });
export const PipelineBody = Type.Object({ pipeline: RestPipelineDetails });
export const VersionsBody = Type.Object({ versions: Type.Array(RestVersion), ...nextCursor });
export const VersionBody = Type.Object({ version: Version });
export const NewPipeline = Input({
  name: CreatePipeline.properties.name,
  description: CreatePipeline.properties.description,
});
const { id: _pipeline, ...pipelineFields } = UpdatePipeline.properties;
export const PipelineChanges = Input(pipelineFields);
export const PipelineRefBody = Type.Object({ pipeline: PipelineRef });
export const ConfigBody = Type.Object({ config: PipelineConfig });
export const NewConfig = Input({ configYaml: SaveConfig.properties.configYaml });
export const NewVersion = Input({
  configYaml: CreateVersion.properties.configYaml,
  changelog: CreateVersion.properties.changelog,
});
/** How long `POST …/deploy` may wait for the nodes, seconds. */
export const WAIT_SECONDS = { minimum: 1, maximum: 60 } as const;
export const DeployQuery = Input({ wait: Type.Optional(Type.Integer(WAIT_SECONDS)) });
export const DeployedBody = Type.Object({
  ...Deployed.properties,
  /** With `wait`: where it stands when the answer is sent. `GET /deployments/{id}` follows it from there. */
  deployment: Type.Optional(Deployment),
});
export const DeploymentBody = Type.Object({ deployment: Deployment });
export const DeployBody = Input({
  changelog: DeployPipeline.properties.changelog,
  supersede: DeployPipeline.properties.supersede,
});
export const RollbackBody = Input({ targetVersionId: RollbackPipeline.properties.targetVersionId });

/** `<key>:<value>`; several must all be there. */
export const LabelFilter = Type.String({
  minLength: 2,
  maxLength: 385,
  pattern: worded('^[^:]+:', 'must be key:value'),
});
export const NodesQuery = Input({
  ...paging,
  name: NameFilter,
  label: Type.Optional(Type.Array(LabelFilter, { maxItems: 64 })),
});
export const NodesBody = Type.Object({ nodes: Type.Array(NodeSummary), ...nextCursor });
export const NodeBody = Type.Object({ node: FleetNode });
export const MaintenanceBody = Input({ enabled: Type.Boolean() });
export const MaintainedNodeBody = Type.Object({ node: MaintainedNode });

export const SecretsBody = Type.Object({ secrets: Type.Array(SecretSummary), ...nextCursor });
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
export const RulesBody = Type.Object({ rules: Type.Array(AlertRule), ...nextCursor });
const { id: _rule, ...ruleChanges } = UpdateAlertRule.properties;
export const RuleChanges = Input(ruleChanges);
export const RuleBody = Type.Object({ rule: AlertRule });
const { environmentId: _events, ...eventFilter } = ListAlertEvents.properties;
export const AlertEventsQuery = Input(eventFilter);
export const AlertEventsBody = Type.Object({
  events: Type.Array(AlertEvent),
  ...nextCursor,
});
export const AlertEventBody = Type.Object({ event: AlertEvent });
export const AlertEventDetailBody = Type.Object({ event: AlertEventDetail });
export const AcknowledgementBody = Input({ note: AcknowledgeEvent.properties.note });
export const SilencesBody = Type.Object({ silences: AlertSilenceList, ...nextCursor });
export const SilenceBody = Type.Object({ silence: AlertSilence });
const { environmentId: _silence, ...silenceFields } = CreateSilence.properties;
export const NewSilence = Input(silenceFields);

const { environmentId: _environment, ...planFields } = PlanGit.properties;
export const PlanRequest = Input(planFields);
export const PlanBody = Type.Object({ plan: GitPlan });
export const GitStatusBody = Type.Object({ status: GitSyncStatus });
export const JobsQuery = Input({
  status: ListGitJobs.properties.status,
  limit: ListGitJobs.properties.limit,
  cursor: Type.Optional(PageCursor),
});
export const JobsBody = Type.Object({ jobs: GitJobList, ...nextCursor });

export const PullsQuery = Input({
  state: ListPullRequests.properties.state,
  limit: ListPullRequests.properties.limit,
  cursor: Type.Optional(PageCursor),
});
export const PullsBody = Type.Object({ pullRequests: PullRequestList, ...nextCursor });
export const PullBody = Type.Object({ pullRequest: PullRequest });
const { environmentId: _reviewed, number: _n, ...reviewFields } = ReviewPullRequest.properties;
export const NewReview = Input(reviewFields);
const { environmentId: _merged, number: _m, ...mergeFields } = MergePullRequest.properties;
export const NewMerge = Input(mergeFields);

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
    /** For programs: stable, and listed in the documentation. */
    code: ErrorCode,
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
