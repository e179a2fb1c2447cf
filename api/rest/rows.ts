/** Every row of the REST interface. */

import {
  gitSyncOperations,
  gitSyncPlanning,
  gitSyncRetries,
  gitSyncToGit,
} from '../../controller/delivery/bindings/index.ts';
import { fleetOperations } from '../../controller/fleet/index.ts';
import { alertOperations } from '../../controller/insight/alerts/index.ts';
import { auditOperations } from '../../controller/insight/audit/index.ts';
import { pipelineDeploying, pipelineOperations } from '../../controller/pipelines/index.ts';
import { badRequest } from '../../controller/platform/operation/errors.ts';
import { findSecretId, secretOperations } from '../../controller/secrets/index.ts';
import { SyncStarted } from '../../schemas/api/delivery/git-sync.ts';
import { ExportedManifests } from '../../schemas/api/delivery/git-words.ts';
import { AuditPage } from '../../schemas/api/insight/audit.ts';
import { Deployed, Retried, Undeployed } from '../../schemas/api/pipelines/deployments.ts';
import {
  AuditQuery,
  DeletedBody,
  DeployBody,
  DeployedBody,
  DeployQuery,
  GitStatusBody,
  JobsBody,
  JobsQuery,
  MaintainedNodeBody,
  MaintenanceBody,
  NamedQuery,
  NewRule,
  NewSecret,
  NodeBody,
  NodesBody,
  NodesQuery,
  PageQuery,
  PipelineBody,
  PipelinesBody,
  PlanBody,
  PlanRequest,
  ReplaceSecret,
  RollbackBody,
  RuleBody,
  RulesBody,
  SecretBody,
  SecretsBody,
  VersionsBody,
  WhichSecret,
} from '../../schemas/api/rest.ts';
import { ALERT_EVENT_ROWS } from './alert-event-rows.ts';
import { ALERT_RULE_ROWS } from './alert-rule-rows.ts';
import { afterDeploy } from './deploy-wait.ts';
import { byId, decodeCursor, nextOf, numberKey } from './paging.ts';
import { PIPELINE_ROWS } from './pipeline-rows.ts';
import { PULL_REQUEST_ROWS } from './pull-request-rows.ts';
import { idOf, type RestRequest, type RestRow, row } from './row.ts';

/** 8 MiB of text, as JSON at its worst but for control characters, which no manifest has. */
const PLAN_BYTES = 24 * 1024 * 1024;

const ofEnvironment = ({ environmentId }: RestRequest) => ({ environmentId });
const ofPipeline = (request: RestRequest) => ({ pipelineId: idOf(request) });

export const REST_ROWS: readonly RestRow[] = [
  row({
    method: 'GET',
    path: '/pipelines',
    operationId: 'listPipelines',
    tag: 'Pipelines',
    summary: 'List the pipelines',
    operation: pipelineOperations.list,
    query: NamedQuery,
    paged: { field: 'pipelines', key: byId },
    response: PipelinesBody,
    input: ofEnvironment,
    output: (pipelines) => ({
      pipelines: pipelines.map((one) => ({ ...one, description: one.description ?? '' })),
    }),
  }),
  row({
    method: 'GET',
    path: '/pipelines/{id}',
    operationId: 'getPipeline',
    tag: 'Pipelines',
    summary: 'One pipeline: its graph, its newest version, what each node runs of it',
    description: 'What looks like a credential in a configuration is blanked.',
    operation: pipelineOperations.get,
    state: 'pipeline',
    response: PipelineBody,
    input: (request) => ({ id: idOf(request) }),
    output: (pipeline) => ({ pipeline: { ...pipeline, description: pipeline.description ?? '' } }),
  }),
  row({
    method: 'POST',
    path: '/pipelines/{id}/deploy',
    operationId: 'deployPipeline',
    tag: 'Pipelines',
    summary: 'Check a pipeline, make a version of it and deploy that',
    description:
      'Agents start it with their next poll. 422 with `validationErrors` where it is not valid, 412 where git describes it, and during a rollout unless `supersede`.',
    operation: pipelineDeploying.deployAgent,
    mayGoToGit: true,
    query: DeployQuery,
    body: DeployBody,
    response: DeployedBody,
    input: (request) => ({ ...ofPipeline(request), ...request.body }),
    output: (deployed) => deployed,
    followUp: afterDeploy,
  }),
  row({
    method: 'POST',
    path: '/pipelines/{id}/undeploy',
    operationId: 'undeployPipeline',
    tag: 'Pipelines',
    summary: 'Take a pipeline off its nodes; it is a draft again',
    operation: pipelineDeploying.undeploy,
    mayGoToGit: true,
    response: Undeployed,
    input: ofPipeline,
    output: (undeployed) => undeployed,
  }),
  row({
    method: 'POST',
    path: '/pipelines/{id}/retry',
    operationId: 'retryPipelineVersion',
    tag: 'Pipelines',
    summary: 'Serve a version again on all nodes where it was taken back',
    operation: pipelineDeploying.retryVersion,
    response: Retried,
    input: ofPipeline,
    output: (retried) => retried,
  }),
  row({
    method: 'GET',
    path: '/pipelines/{id}/versions',
    operationId: 'listPipelineVersions',
    tag: 'Pipelines',
    summary: 'The versions of a pipeline, newest first, at most 500',
    operation: pipelineOperations.versions,
    query: PageQuery,
    paged: {
      field: 'versions',
      key: ({ version }: { version: number }) => numberKey(version),
      descending: true,
    },
    response: VersionsBody,
    input: ofPipeline,
    output: (versions) => ({
      versions: versions.map((one) => ({
        ...one,
        changelog: one.changelog ?? '',
        createdById: one.createdById ?? '',
      })),
    }),
  }),
  row({
    method: 'POST',
    path: '/pipelines/{id}/rollback',
    operationId: 'rollBackPipeline',
    tag: 'Pipelines',
    summary: 'Make a new version of what an earlier one was',
    description: 'A deployed pipeline runs it; a draft stays one.',
    operation: pipelineDeploying.rollback,
    body: RollbackBody,
    response: Deployed,
    input: (request) => ({ ...ofPipeline(request), targetVersionId: request.body.targetVersionId }),
    output: (deployed) => deployed,
  }),
  ...PIPELINE_ROWS,

  row({
    method: 'GET',
    path: '/nodes',
    operationId: 'listNodes',
    tag: 'Nodes',
    summary: 'List the nodes',
    description: 'With `label=<key>:<value>`, repeated where wanted, those that carry every such label.',
    operation: fleetOperations.list,
    query: NodesQuery,
    paged: { field: 'nodes', key: byId },
    response: NodesBody,
    input: ofEnvironment,
    output: (nodes, { query }) => ({
      nodes: nodes.filter(({ labels }) => carriesAll(labels, query.label ?? [])),
    }),
  }),
  row({
    method: 'GET',
    path: '/nodes/{id}',
    operationId: 'getNode',
    tag: 'Nodes',
    summary: 'One node: its running and desired pipelines, its host and its agent',
    operation: fleetOperations.get,
    response: NodeBody,
    input: (request) => ({ id: idOf(request) }),
    output: (node) => ({ node }),
  }),
  row({
    method: 'POST',
    path: '/nodes/{id}/maintenance',
    operationId: 'setNodeMaintenance',
    tag: 'Nodes',
    summary: 'Put a node into maintenance, in which it runs no pipelines, or end its maintenance',
    operation: fleetOperations.setMaintenance,
    body: MaintenanceBody,
    response: MaintainedNodeBody,
    input: (request) => ({ nodeId: idOf(request), enabled: request.body.enabled }),
    output: (node) => ({ node }),
  }),

  row({
    method: 'GET',
    path: '/secrets',
    operationId: 'listSecrets',
    tag: 'Secrets',
    summary: 'Names and times of the secrets, never values',
    operation: secretOperations.list,
    query: NamedQuery,
    paged: { field: 'secrets', key: byId },
    state: 'secrets',
    response: SecretsBody,
    input: ofEnvironment,
    output: (secrets) => ({ secrets }),
  }),
  row({
    method: 'POST',
    path: '/secrets',
    operationId: 'createSecret',
    tag: 'Secrets',
    summary: 'Store a secret, encrypted',
    operation: secretOperations.create,
    body: NewSecret,
    status: 201,
    response: SecretBody,
    input: ({ environmentId, body }) => ({ environmentId, name: body.name, value: body.value }),
    output: (secret) => ({ secret }),
    location: ({ secret }) => `/secrets?name=${encodeURIComponent(secret.name)}`,
  }),
  row({
    method: 'PUT',
    path: '/secrets',
    operationId: 'replaceSecret',
    tag: 'Secrets',
    summary: 'Replace the value of a secret',
    description:
      'The secret is named by `id` or by `name`. The pipelines that use it restart with the new value.',
    operation: secretOperations.update,
    state: 'secrets',
    body: ReplaceSecret,
    example: { name: 'db_password', value: 'correct horse battery staple' },
    response: SecretBody,
    input: async (request) => ({
      environmentId: request.environmentId,
      id: await secretId(request, request.body),
      value: request.body.value,
    }),
    output: (secret) => ({ secret }),
  }),
  row({
    method: 'DELETE',
    path: '/secrets',
    operationId: 'deleteSecret',
    tag: 'Secrets',
    summary: 'Delete a secret',
    description: 'The secret is named by `id` or by `name`. 412 while something deployed uses it.',
    operation: secretOperations.remove,
    state: 'secrets',
    query: WhichSecret,
    response: DeletedBody,
    input: async (request) => ({
      environmentId: request.environmentId,
      id: await secretId(request, request.query),
    }),
    output: ({ deleted }) => ({ deleted }),
  }),

  row({
    method: 'GET',
    path: '/alerts/rules',
    operationId: 'listAlertRules',
    tag: 'Alert rules',
    summary: 'List the alert rules',
    operation: alertOperations.listRules,
    query: NamedQuery,
    paged: { field: 'rules', key: byId },
    response: RulesBody,
    input: ofEnvironment,
    output: (rules) => ({ rules }),
  }),
  row({
    method: 'POST',
    path: '/alerts/rules',
    operationId: 'createAlertRule',
    tag: 'Alert rules',
    summary: 'Make an alert rule',
    description: '`teamId` is the team of the key’s environment.',
    operation: alertOperations.createRule,
    mayBeMissing: true,
    body: NewRule,
    status: 201,
    response: RuleBody,
    input: ({ environmentId, body }) => ({ ...body, environmentId }),
    output: (rule) => ({ rule }),
    location: ({ rule }) => `/alerts/rules/${rule.id}`,
  }),
  ...ALERT_RULE_ROWS,
  ...ALERT_EVENT_ROWS,

  row({
    method: 'GET',
    path: '/git/status',
    operationId: 'getGitStatus',
    tag: 'Git',
    summary: 'How the environment is tied to git, and what became of every manifest',
    operation: gitSyncOperations.status,
    response: GitStatusBody,
    input: ofEnvironment,
    output: (status) => ({ status }),
  }),
  row({
    method: 'GET',
    path: '/git/jobs',
    operationId: 'listGitJobs',
    tag: 'Git',
    summary: 'List the passes over git, newest first',
    operation: gitSyncOperations.jobs,
    query: JobsQuery,
    response: JobsBody,
    input: ({ environmentId, query: { cursor, ...query } }) => ({
      environmentId,
      ...query,
      ...(cursor === undefined ? {} : { before: decodeCursor('jobs', cursor) }),
    }),
    output: (jobs, { query }) => ({
      jobs,
      ...nextOf('jobs', jobs, query, { otherwise: 25, key: byId }),
    }),
  }),
  row({
    method: 'POST',
    path: '/git/jobs/{id}/retry',
    operationId: 'retryGitJob',
    tag: 'Git',
    summary: 'Queue a failed job again',
    description: '412 for a job that did not fail, and where git is off for the environment.',
    operation: gitSyncRetries.retryJob,
    response: SyncStarted,
    input: (request) => ({ jobId: idOf(request) }),
    output: (started) => started,
  }),
  row({
    method: 'POST',
    path: '/git/sync',
    operationId: 'syncGit',
    tag: 'Git',
    summary: 'Look at git now',
    description:
      'Answers with the job, before the pass begins; `GET /git/jobs` shows how it ended. 412 where the environment is not bound to git.',
    operation: gitSyncOperations.syncNow,
    response: SyncStarted,
    input: ofEnvironment,
    output: (started) => started,
  }),
  row({
    method: 'GET',
    path: '/git/export',
    operationId: 'exportManifests',
    tag: 'Git',
    summary: 'Manifests of what the environment holds, ready to be committed',
    description:
      'Paths are relative to the folder of the environment. What holds a credential as plain text, or what no manifest can say, is in `skipped` with the reason.',
    operation: gitSyncToGit.exportManifests,
    response: ExportedManifests,
    input: ofEnvironment,
    output: (exported) => exported,
  }),
  row({
    method: 'POST',
    path: '/git/plan',
    operationId: 'planGit',
    tag: 'Git',
    summary: 'What git would change; nothing is applied',
    description:
      'Of the branch as it stands, of another `ref`, or of `files`: the whole tree that is to be planned instead, 8 MiB of text at most. 412 where the environment is not bound to git or the repository cannot be read.',
    operation: gitSyncPlanning.plan,
    body: PlanRequest,
    bodyBytes: PLAN_BYTES,
    example: { ref: 'lift-the-level' },
    response: PlanBody,
    input: ({ environmentId, body }) => ({ environmentId, ...body }),
    output: (plan) => ({ plan }),
  }),
  ...PULL_REQUEST_ROWS,

  row({
    method: 'GET',
    path: '/audit',
    operationId: 'followAuditLog',
    tag: 'Audit log',
    summary: 'What happened since a cursor, oldest first',
    description:
      'Pass the `cursor` of one answer as `after` of the next request: no event is missed and none comes twice. An empty page gives back the cursor that it was asked with.',
    operation: auditOperations.after,
    query: AuditQuery,
    response: AuditPage,
    input: ({ environmentId, query }) => ({ environmentId, ...query }),
    output: (page) => page,
  }),
];

/** Either side of a colon in a key or a value may hold further colons. */
function carriesAll(labels: Readonly<Record<string, string>>, wanted: readonly string[]): boolean {
  const carried = new Set(Object.entries(labels).map(([key, value]) => `${key}:${value}`));
  return wanted.every((label) => carried.has(label));
}

/** A name that is not there is handed on: no name has the form of an id, and the operation says that it is not found. */
async function secretId(
  { ctx, environmentId }: RestRequest,
  { id, name }: { id?: string; name?: string },
): Promise<string> {
  if (id !== undefined && name === undefined) return id;
  if (name !== undefined && id === undefined)
    return (await findSecretId(ctx.db, environmentId, name)) ?? name;
  throw badRequest('Name the secret either by id or by name');
}
