import type { Static } from 'typebox';
import {
  DeployEnvironmentInfo,
  DeploymentStatus,
  DeployPreview,
} from '../../../schemas/api/pipelines/deployments.ts';
import {
  GetPipeline,
  ListPipelines,
  OfPipeline,
  Pipeline,
  PipelineList,
  type PipelineSummary,
} from '../../../schemas/api/pipelines/pipelines.ts';
import { ConfigValidity, ValidateConfig } from '../../../schemas/api/pipelines/validation.ts';
import {
  CompareVersions,
  GetVersion,
  Version,
  VersionDiff,
  VersionList,
} from '../../../schemas/api/pipelines/versions.ts';
import { selectorText } from '../../../schemas/pipelines/selector.ts';
import { findEnvironment } from '../../fleet/environments/index.ts';
import { memoizePerJoin, type PipelineStatus, readStatus, versionForNode } from '../../fleet/status/index.ts';
import { environmentScope, objectScope } from '../../identity/access/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { notFound } from '../../platform/operation/errors.ts';
import { ownScope, query, type Scope } from '../../platform/operation/operation.ts';
import { allows } from '../../platform/operation/permissions.ts';
import { maskSensitive, maskYaml } from '../definition/mask.ts';
import { previewDeploy } from '../deploy/preview-deploy.ts';
import { componentThroughput } from '../graph/component-operations.ts';
import { validateConfigText } from '../graph/validate-graph.ts';
import { unifiedDiff } from '../versions/unified-diff.ts';
import { listComponentReports } from './deployed-store.ts';
import { hasConfigChanges } from './lock-pipeline.ts';
import { findPipeline, type PipelineRecord } from './store.ts';
import { findVersion, listVersions } from './versions-store.ts';
import { watchPipeline } from './watched-pipelines.ts';

/** Only users who may change a pipeline see config values that look like credentials. */
const seesAll = (ctx: Context, scope: Scope): boolean => allows(ctx.actor, scope, { role: 'EDITOR' });

function summary(status: PipelineStatus): PipelineSummary {
  const { pipeline } = status;
  return {
    id: pipeline.id,
    environmentId: pipeline.environmentId,
    name: pipeline.name,
    description: pipeline.description,
    isDraft: pipeline.isDraft,
    managedBy: pipeline.managedBy,
    groupId: pipeline.groupId,
    deployedAt: pipeline.deployedAt,
    deployedVersionNumber: pipeline.deployedVersion,
    latestVersionNumber: pipeline.latestVersion,
    nodeSelector: pipeline.nodeSelector,
    createdAt: pipeline.createdAt,
    updatedAt: pipeline.updatedAt,
    gate: status.gate,
    nodeCounts: status.counts,
    rates: status.rates,
    commit: pipeline.latestCommit,
    commitMessage: pipeline.latestCommitMessage?.split('\n')[0] ?? null,
    commitAuthor: pipeline.latestCommitAuthor,
  };
}

/** Reads a pipeline with its status. @throws NOT_FOUND */
async function readWithStatus(
  ctx: Context,
  id: string,
): Promise<{ record: PipelineRecord; status: PipelineStatus }> {
  const record = await findPipeline(ctx.db, id);
  if (!record) throw notFound('Pipeline');
  const { pipelines } = await readStatus(ctx, { environmentId: record.environmentId, pipelineId: id });
  const status = pipelines[0];
  if (!status) throw notFound('Pipeline');
  return { record, status };
}

const summaries = memoizePerJoin(({ pipelines }) => pipelines.map(summary));

export const list = query({
  name: 'pipeline.list',
  summary: 'Pipelines of an environment with their gates',
  role: 'VIEWER',
  permission: 'pipelines.read',
  input: ListPipelines,
  output: PipelineList,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  run: async (ctx, input) => summaries(await readStatus(ctx, input)),
});

export const get = query({
  name: 'pipeline.get',
  summary: 'One pipeline: graph, versions and the state on each node',
  role: 'VIEWER',
  permission: 'pipelines.read',
  input: GetPipeline,
  output: Pipeline,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.id),
  async run(ctx, input) {
    const { record, status } = await readWithStatus(ctx, input.id);
    const [environment, versions, reports] = await Promise.all([
      findEnvironment(ctx.db, record.environmentId),
      listVersions(ctx.db, input.id),
      listComponentReports(ctx.db, input.id),
    ]);
    if (!environment) throw notFound('Environment');
    watchPipeline(ctx, input.id);
    const { manifest } = status.pipeline;
    const config = seesAll(ctx, { teamId: environment.teamId, environmentId: environment.id })
      ? { nodes: record.nodes, globalConfig: record.globalConfig }
      : {
          nodes: record.nodes.map((node) => ({ ...node, config: maskSensitive(node.config) })),
          globalConfig: maskSensitive(record.globalConfig),
        };
    return {
      ...summary(status),
      uid: record.uid,
      environment: { id: environment.id, name: environment.name, teamId: environment.teamId },
      nodeSelector: record.nodeSelector,
      logLevel: record.logLevel,
      drainSeconds: record.drainSeconds,
      ...config,
      edges: record.edges,
      graphRevision: record.graphRevision,
      labels: record.labels,
      autoRevert: record.autoRevert,
      latestVersion: versions.find((version) => version.id === record.latestVersionId) ?? null,
      hasConfigChanges: await hasConfigChanges(ctx, record),
      git: manifest && {
        path: manifest.path,
        line: manifest.line,
        commit: manifest.appliedCommit,
        conditions: status.conditions,
      },
      statuses: status.onNodes,
      components: componentThroughput(record.nodes, reports, status.onNodes),
    };
  },
});

export const versions = query({
  name: 'pipeline.versions',
  summary: 'Versions of a pipeline, newest first, at most 500',
  role: 'VIEWER',
  permission: 'pipelines.read',
  input: OfPipeline,
  output: VersionList,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  run: (ctx, input) => listVersions(ctx.db, input.pipelineId),
});

export const getVersion = query({
  name: 'pipeline.getVersion',
  summary: 'One version with its config YAML',
  role: 'VIEWER',
  permission: 'pipelines.read',
  input: GetVersion,
  output: Version,
  scope: (ctx, input) => objectScope(ctx, 'Version', input.versionId),
  async run(ctx, input) {
    const version = await findVersion(ctx.db, input.versionId);
    if (!version) throw notFound('Version');
    const all = seesAll(ctx, await objectScope(ctx, 'Version', input.versionId));
    return all ? version : { ...version, configYaml: maskYaml(version.configYaml) };
  },
});

const configOf = ({ id, version, configYaml }: Static<typeof Version>, all: boolean) => ({
  id,
  version,
  configYaml: all ? configYaml : maskYaml(configYaml),
});

const settingsOf = ({
  logLevel,
  drainSeconds,
  nodeSelector,
}: Static<typeof Version>): Record<string, string> => ({
  logLevel,
  ...(drainSeconds === null ? {} : { drainSeconds: `${drainSeconds} s` }),
  nodeSelector: nodeSelector === null ? 'every node' : selectorText(nodeSelector),
});

export const compareVersions = query({
  name: 'pipeline.compareVersions',
  summary: 'What differs between two versions of a pipeline',
  role: 'VIEWER',
  input: CompareVersions,
  output: VersionDiff,
  scope: (ctx, input) => objectScope(ctx, 'Version', input.fromVersionId),
  async run(ctx, input) {
    const scope = await objectScope(ctx, 'Version', input.fromVersionId);
    const from = await findVersion(ctx.db, input.fromVersionId);
    const to = await findVersion(ctx.db, input.toVersionId);
    if (!from || to?.pipelineId !== from.pipelineId) throw notFound('Version');
    const all = seesAll(ctx, scope);
    const [before, after] = [configOf(from, all), configOf(to, all)];
    const settings = settingsOf(to);
    return {
      from: before,
      to: after,
      diff: unifiedDiff(
        `version ${from.version}`,
        `version ${to.version}`,
        before.configYaml,
        after.configYaml,
      ),
      settings: Object.entries(settingsOf(from)).flatMap(([name, value]) =>
        settings[name] === value ? [] : [{ name, from: value, to: settings[name] ?? '' }],
      ),
    };
  },
});

export const validate = query({
  name: 'validator.validate',
  method: 'POST',
  summary: 'Check an engine config in YAML: every error with component, line and column',
  role: 'VIEWER',
  input: ValidateConfig,
  output: ConfigValidity,
  scope: (ctx, input) =>
    input.environmentId === undefined ? ownScope : environmentScope(ctx, input.environmentId),
  run: (ctx, input) => validateConfigText(ctx, input.yaml, input.environmentId ?? null),
});

export const deploymentStatus = query({
  name: 'pipeline.deploymentStatus',
  summary: 'What each node runs of a pipeline',
  role: 'VIEWER',
  input: OfPipeline,
  output: DeploymentStatus,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, input) {
    const { status } = await readWithStatus(ctx, input.pipelineId);
    return {
      pipelineId: input.pipelineId,
      isDraft: status.pipeline.isDraft,
      deployedVersionNumber: status.pipeline.deployedVersion,
      gate: status.gate,
      counts: status.counts,
      nodes: status.onNodes,
    };
  },
});

export const preview = query({
  name: 'deploy.preview',
  summary: 'The config that a deploy would ship, checked, and its difference from what is deployed',
  role: 'VIEWER',
  input: OfPipeline,
  output: DeployPreview,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, input) {
    const pipeline = await findPipeline(ctx.db, input.pipelineId);
    if (!pipeline) throw notFound('Pipeline');
    const all = seesAll(ctx, await objectScope(ctx, 'Pipeline', input.pipelineId));
    return previewDeploy(ctx, pipeline, all);
  },
});

export const environmentInfo = query({
  name: 'deploy.environmentInfo',
  summary: 'Where a deploy of this pipeline would go',
  role: 'VIEWER',
  input: OfPipeline,
  output: DeployEnvironmentInfo,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, input) {
    const pipeline = await findPipeline(ctx.db, input.pipelineId);
    const environment = pipeline && (await findEnvironment(ctx.db, pipeline.environmentId));
    if (!pipeline || !environment) throw notFound('Pipeline');
    const { nodes } = await readStatus(ctx, { environmentId: environment.id, pipelineId: pipeline.id });
    const matching = nodes.filter(({ node, labels }) =>
      versionForNode(
        {
          ...{ isDraft: false, deployedVersionId: 'any', deployedSelector: pipeline.nodeSelector },
          rollout: null,
        },
        { labels, maintenance: node.maintenance },
      ),
    );
    return {
      environmentId: environment.id,
      environmentName: environment.name,
      teamId: environment.teamId,
      requireApproval: environment.requireApproval,
      nodeCount: nodes.length,
      matchingNodes: matching.map(({ node, health }) => ({ id: node.id, name: node.name, health })),
      managedBy: pipeline.managedBy,
    };
  },
});
