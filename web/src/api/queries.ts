/** Every read of the UI. `topics` names the live events after which the answer must be looked at again. */
import { queryOptions } from '@tanstack/react-query';
import type { ComponentKind } from '../../../schemas/api/engine.ts';
import type { UiTopic } from '../../../schemas/api/git-sync.ts';
import type { NotificationFormat } from '../../../schemas/api/notifications.ts';
import type { PresetScope } from '../../../schemas/api/preferences.ts';
import { api } from './client.ts';

export interface LiveMeta extends Record<string, unknown> {
  topics: readonly UiTopic[];
  /** Absent where the answer's environment is not known before it comes. */
  environmentId?: string;
}

/** Rates move with every heartbeat; this is the slowest that they are shown when no event comes. */
const RATES_MS = 5_000;
/** To read thousands of nodes with all that they run is work for the controller: they are asked for less often. */
const LARGE_NODES = 1_000;
const LARGE_FLEET_MS = 15_000;
/** A node becomes unreachable by saying nothing: no event tells of that. */
const HEALTH_MS = 5_000;
/** Deliveries end by themselves: no event tells of that. */
const DELIVERIES_MS = 5_000;
/** Samples come within seconds, and are waited for. */
const SAMPLES_MS = 1_000;
/** What an engine knows stays as long as it is the same one. */
const ENGINE_MS = 300_000;
/** Releases come with files that somebody puts there. */
const RELEASES_MS = 60_000;
/** No event comes when something is delivered. */
const STREAMS_MS = 5_000;

/** What the audit log may be searched for. */
const WORDS_MS = 60_000;

export const live = (topics: readonly UiTopic[], environmentId?: string): LiveMeta => ({
  topics,
  environmentId,
});

export const queries = {
  overview: () =>
    queryOptions({
      queryKey: ['dashboard.operationalOverview'],
      queryFn: () => api.dashboard.operationalOverview.query({}),
      refetchInterval: RATES_MS,
      meta: live(['pipelines', 'fleet', 'git', 'environments', 'alerts']),
    }),
  dashboardStats: (environmentId: string) =>
    queryOptions({
      queryKey: ['dashboard.stats', environmentId],
      queryFn: () => api.dashboard.stats.query({ environmentId }),
      meta: live(['pipelines', 'alerts'], environmentId),
    }),
  recentPipelines: () =>
    queryOptions({
      queryKey: ['dashboard.recentPipelines'],
      queryFn: () => api.dashboard.recentPipelines.query({}),
      meta: live(['pipelines', 'git']),
    }),
  auditActions: () =>
    queryOptions({
      queryKey: ['audit.actions'],
      queryFn: () => api.audit.actions.query({}),
      staleTime: WORDS_MS,
    }),
  auditEntityTypes: () =>
    queryOptions({
      queryKey: ['audit.entityTypes'],
      queryFn: () => api.audit.entityTypes.query({}),
      staleTime: WORDS_MS,
    }),
  auditUsers: () =>
    queryOptions({
      queryKey: ['audit.users'],
      queryFn: () => api.audit.users.query({}),
      staleTime: WORDS_MS,
    }),
  recentAudit: () =>
    queryOptions({
      queryKey: ['dashboard.recentAudit'],
      queryFn: () => api.dashboard.recentAudit.query({}),
      meta: live([
        'pipelines',
        'fleet',
        'git',
        'secrets',
        'certificates',
        'environments',
        'alerts',
        'library',
      ]),
    }),
  nodeCards: () =>
    queryOptions({
      queryKey: ['dashboard.nodeCards'],
      queryFn: () => api.dashboard.nodeCards.query({}),
      refetchInterval: HEALTH_MS,
      meta: live(['fleet']),
    }),
  me: () =>
    queryOptions({ queryKey: ['user.me'], queryFn: () => api.user.me.query({}), meta: live(['teams']) }),
  /** Of the person: their browsers that are signed in. */
  sessions: () =>
    queryOptions({
      queryKey: ['user.listSessions'],
      queryFn: () => api.user.listSessions.query({}),
      meta: live(['teams']),
    }),
  tokens: () => queryOptions({ queryKey: ['user.listTokens'], queryFn: () => api.user.listTokens.query({}) }),
  teams: () =>
    queryOptions({ queryKey: ['team.list'], queryFn: () => api.team.list.query({}), meta: live(['teams']) }),
  /** With its members. */
  team: (id: string) =>
    queryOptions({
      queryKey: ['team.get', id],
      queryFn: () => api.team.get.query({ id }),
      meta: live(['teams', 'environments']),
    }),
  /** For super admins alone, like all teams and the settings. */
  users: () =>
    queryOptions({
      queryKey: ['admin.listUsers'],
      queryFn: () => api.admin.listUsers.query({}),
      meta: live(['teams']),
    }),
  allTeams: () =>
    queryOptions({
      queryKey: ['admin.listTeams'],
      queryFn: () => api.admin.listTeams.query({}),
      meta: live(['teams', 'environments']),
    }),
  /** Of identity providers, empty ones of SCIM too. */
  allGroups: () =>
    queryOptions({
      queryKey: ['admin.listGroups'],
      queryFn: () => api.admin.listGroups.query({}),
      meta: live(['teams']),
    }),
  streams: () =>
    queryOptions({
      queryKey: ['stream.list'],
      queryFn: () => api.stream.list.query({}),
      refetchInterval: STREAMS_MS,
      meta: live(['settings']),
    }),
  scimRefusals: () =>
    queryOptions({
      queryKey: ['settings.scimRefusals'],
      queryFn: () => api.settings.scimRefusals.query({}),
      meta: live(['settings', 'teams']),
    }),
  settings: () =>
    queryOptions({
      queryKey: ['settings.get'],
      queryFn: () => api.settings.get.query({}),
      meta: live(['settings', 'teams']),
    }),
  environments: (teamId: string) =>
    queryOptions({
      queryKey: ['environment.list', teamId],
      queryFn: () => api.environment.list.query({ teamId }),
      meta: live(['environments']),
    }),
  environment: (id: string) =>
    queryOptions({
      queryKey: ['environment.get', id],
      queryFn: () => api.environment.get.query({ id }),
      meta: live(['environments', 'secrets'], id),
    }),
  /** For an ADMIN alone. */
  serviceAccounts: (environmentId: string) =>
    queryOptions({
      queryKey: ['serviceAccount.list', environmentId],
      queryFn: () => api.serviceAccount.list.query({ environmentId }),
      meta: live(['environments'], environmentId),
    }),
  secrets: (environmentId: string) =>
    queryOptions({
      queryKey: ['secret.list', environmentId],
      queryFn: () => api.secret.list.query({ environmentId }),
      meta: live(['secrets', 'pipelines'], environmentId),
    }),
  certificates: (environmentId: string) =>
    queryOptions({
      queryKey: ['certificate.list', environmentId],
      queryFn: () => api.certificate.list.query({ environmentId }),
      meta: live(['certificates', 'pipelines'], environmentId),
    }),
  pipelines: (environmentId: string) =>
    queryOptions({
      queryKey: ['pipeline.list', environmentId],
      queryFn: () => api.pipeline.list.query({ environmentId }),
      refetchInterval: RATES_MS,
      meta: live(['pipelines', 'fleet', 'git'], environmentId),
    }),
  pipeline: (id: string) =>
    queryOptions({
      queryKey: ['pipeline.get', id],
      queryFn: () => api.pipeline.get.query({ id }),
      refetchInterval: RATES_MS,
      meta: live(['pipelines', 'fleet', 'git']),
    }),
  /** Asked again while components are still to answer. */
  sampleResult: (requestId: string) =>
    queryOptions({
      queryKey: ['pipeline.sampleResult', requestId],
      queryFn: () => api.pipeline.sampleResult.query({ requestId }),
      refetchInterval: ({ state: { data, error } }) =>
        error === null && data?.status === 'PENDING' ? SAMPLES_MS : false,
      meta: live(['samples']),
    }),
  eventSchemas: (pipelineId: string) =>
    queryOptions({
      queryKey: ['pipeline.eventSchemas', pipelineId],
      queryFn: () => api.pipeline.eventSchemas.query({ pipelineId }),
      meta: live(['samples']),
    }),
  versions: (pipelineId: string) =>
    queryOptions({
      queryKey: ['pipeline.versions', pipelineId],
      queryFn: () => api.pipeline.versions.query({ pipelineId }),
      meta: live(['pipelines']),
    }),
  /** A version never changes once it is saved. */
  version: (versionId: string) =>
    queryOptions({
      queryKey: ['pipeline.getVersion', versionId],
      queryFn: () => api.pipeline.getVersion.query({ versionId }),
      staleTime: Number.POSITIVE_INFINITY,
    }),
  preview: (pipelineId: string) =>
    queryOptions({
      queryKey: ['deploy.preview', pipelineId],
      queryFn: () => api.deploy.preview.query({ pipelineId }),
      meta: live(['pipelines', 'secrets']),
    }),
  deployTarget: (pipelineId: string) =>
    queryOptions({
      queryKey: ['deploy.environmentInfo', pipelineId],
      queryFn: () => api.deploy.environmentInfo.query({ pipelineId }),
      meta: live(['pipelines', 'environments']),
    }),
  compareVersions: (fromVersionId: string, toVersionId: string) =>
    queryOptions({
      queryKey: ['pipeline.compareVersions', fromVersionId, toVersionId],
      queryFn: () => api.pipeline.compareVersions.query({ fromVersionId, toVersionId }),
      staleTime: Number.POSITIVE_INFINITY,
    }),
  /** Figures of its nodes move with every heartbeat. */
  activeRollout: (pipelineId: string) =>
    queryOptions({
      queryKey: ['stagedRollout.getActive', pipelineId],
      queryFn: () => api.stagedRollout.getActive.query({ pipelineId }),
      refetchInterval: ({ state }) => (state.data ? RATES_MS : false),
      meta: live(['rollouts', 'pipelines', 'fleet']),
    }),
  rollouts: (pipelineId: string) =>
    queryOptions({
      queryKey: ['stagedRollout.list', pipelineId],
      queryFn: () => api.stagedRollout.list.query({ pipelineId }),
      meta: live(['rollouts']),
    }),
  promotionHistory: (pipelineId: string) =>
    queryOptions({
      queryKey: ['promotion.history', pipelineId],
      queryFn: () => api.promotion.history.query({ pipelineId }),
      meta: live(['promotions']),
    }),
  /** An empty name is the one that the server would choose. */
  promotionPreflight: (pipelineId: string, targetEnvironmentId: string, name: string) =>
    queryOptions({
      queryKey: ['promotion.preflight', pipelineId, targetEnvironmentId, name],
      queryFn: () =>
        api.promotion.preflight.query({ pipelineId, targetEnvironmentId, ...(name ? { name } : {}) }),
      meta: live(['promotions', 'pipelines', 'secrets', 'git']),
    }),
  promotionDiff: (pipelineId: string, targetEnvironmentId: string, name: string) =>
    queryOptions({
      queryKey: ['promotion.diffPreview', pipelineId, targetEnvironmentId, name],
      queryFn: () =>
        api.promotion.diffPreview.query({ pipelineId, targetEnvironmentId, ...(name ? { name } : {}) }),
      meta: live(['promotions', 'pipelines', 'git']),
    }),
  pipelineGroups: (environmentId: string) =>
    queryOptions({
      queryKey: ['pipelineGroup.list', environmentId],
      queryFn: () => api.pipelineGroup.list.query({ environmentId }),
      meta: live(['pipelines'], environmentId),
    }),
  dependencies: (pipelineId: string) =>
    queryOptions({
      queryKey: ['pipelineDependency.list', pipelineId],
      queryFn: () => api.pipelineDependency.list.query({ pipelineId }),
      meta: live(['pipelines', 'git']),
    }),
  dependencyCandidates: (environmentId: string, pipelineId: string) =>
    queryOptions({
      queryKey: ['pipelineDependency.listCandidates', environmentId, pipelineId],
      queryFn: () => api.pipelineDependency.listCandidates.query({ environmentId, pipelineId }),
      meta: live(['pipelines'], environmentId),
    }),
  dependencyGraph: (environmentId: string) =>
    queryOptions({
      queryKey: ['pipelineDependency.graph', environmentId],
      queryFn: () => api.pipelineDependency.graph.query({ environmentId }),
      meta: live(['pipelines', 'git'], environmentId),
    }),
  deployWarnings: (pipelineId: string) =>
    queryOptions({
      queryKey: ['pipelineDependency.deployWarnings', pipelineId],
      queryFn: () => api.pipelineDependency.deployWarnings.query({ pipelineId }),
      meta: live(['pipelines']),
    }),
  undeployWarnings: (pipelineId: string) =>
    queryOptions({
      queryKey: ['pipelineDependency.undeployWarnings', pipelineId],
      queryFn: () => api.pipelineDependency.undeployWarnings.query({ pipelineId }),
      meta: live(['pipelines']),
    }),
  templates: (teamId: string) =>
    queryOptions({
      queryKey: ['template.list', teamId],
      queryFn: () => api.template.list.query({ teamId }),
      meta: live(['library']),
    }),
  template: (id: string) =>
    queryOptions({
      queryKey: ['template.get', id],
      queryFn: () => api.template.get.query({ id }),
      meta: live(['library']),
    }),
  snippets: (teamId: string) =>
    queryOptions({
      queryKey: ['vrlSnippet.list', teamId],
      queryFn: () => api.vrlSnippet.list.query({ teamId }),
      meta: live(['library']),
    }),
  sharedComponents: (environmentId: string) =>
    queryOptions({
      queryKey: ['sharedComponent.list', environmentId],
      queryFn: () => api.sharedComponent.list.query({ environmentId }),
      meta: live(['pipelines'], environmentId),
    }),
  /** What the controller's engine knows; another one comes with a restart only. */
  catalogue: () =>
    queryOptions({
      queryKey: ['engine.catalogue'],
      queryFn: () => api.engine.catalogue.query({}),
      staleTime: ENGINE_MS,
    }),
  componentSchema: (kind: ComponentKind, type: string) =>
    queryOptions({
      queryKey: ['engine.componentSchema', kind, type],
      queryFn: () => api.engine.componentSchema.query({ kind, type }),
      staleTime: ENGINE_MS,
    }),
  /** With the archived ones where they are asked for. */
  nodes: (environmentId: string, includeArchived = false) =>
    queryOptions({
      queryKey: ['fleet.list', environmentId, ...(includeArchived ? ['archived'] : [])],
      queryFn: () => api.fleet.list.query({ environmentId, includeArchived }),
      refetchInterval: HEALTH_MS,
      meta: live(['fleet', 'pipelines'], environmentId),
    }),
  nodesWithPipelines: (environmentId: string) =>
    queryOptions({
      queryKey: ['fleet.listWithPipelineStatus', environmentId],
      queryFn: () => api.fleet.listWithPipelineStatus.query({ environmentId }),
      refetchInterval: RATES_MS,
      meta: live(['fleet', 'pipelines'], environmentId),
    }),
  /** Of thousands of nodes: not compared with the answer before. */
  fleetMatrix: (environmentId: string) =>
    queryOptions({
      queryKey: ['fleet.matrix', environmentId],
      queryFn: () => api.fleet.matrix.query({ environmentId }),
      refetchInterval: ({ state }) =>
        (state.data?.nodes.length ?? 0) > LARGE_NODES ? LARGE_FLEET_MS : RATES_MS,
      structuralSharing: false,
      meta: live(['fleet', 'pipelines'], environmentId),
    }),
  node: (id: string) =>
    queryOptions({
      queryKey: ['fleet.get', id],
      queryFn: () => api.fleet.get.query({ id }),
      refetchInterval: RATES_MS,
      meta: live(['fleet', 'pipelines']),
    }),
  /** Of the controller, and the newest agents that it serves. */
  releases: () =>
    queryOptions({
      queryKey: ['settings.checkVersion'],
      queryFn: () => api.settings.checkVersion.query({}),
      staleTime: RELEASES_MS,
    }),
  nodeGroups: (environmentId: string) =>
    queryOptions({
      queryKey: ['nodeGroup.list', environmentId],
      queryFn: () => api.nodeGroup.list.query({ environmentId }),
      meta: live(['fleet', 'git'], environmentId),
    }),
  groupHealth: (environmentId: string) =>
    queryOptions({
      queryKey: ['nodeGroup.groupHealthStats', environmentId],
      queryFn: () => api.nodeGroup.groupHealthStats.query({ environmentId }),
      refetchInterval: HEALTH_MS,
      meta: live(['fleet'], environmentId),
    }),
  /** `groupId` may be `__ungrouped__`. */
  nodesInGroup: (environmentId: string, groupId: string) =>
    queryOptions({
      queryKey: ['nodeGroup.nodesInGroup', environmentId, groupId],
      queryFn: () => api.nodeGroup.nodesInGroup.query({ environmentId, groupId }),
      refetchInterval: HEALTH_MS,
      meta: live(['fleet', 'pipelines'], environmentId),
    }),
  alertRules: (environmentId: string) =>
    queryOptions({
      queryKey: ['alert.listRules', environmentId],
      queryFn: () => api.alert.listRules.query({ environmentId }),
      meta: live(['alerts', 'git', 'pipelines'], environmentId),
    }),
  webhookEndpoints: (teamId: string) =>
    queryOptions({
      queryKey: ['webhookEndpoint.list', teamId],
      queryFn: () => api.webhookEndpoint.list.query({ teamId }),
      refetchInterval: DELIVERIES_MS,
      meta: live(['alerts']),
    }),
  alertWebhooks: (environmentId: string) =>
    queryOptions({
      queryKey: ['alert.listWebhooks', environmentId],
      queryFn: () => api.alert.listWebhooks.query({ environmentId }),
      refetchInterval: DELIVERIES_MS,
      meta: live(['alerts'], environmentId),
    }),
  /** The newest; `environmentId` null where the endpoint is one of the team. */
  notificationDeliveries: (
    { id, teamId, environmentId }: { id: string; teamId: string; environmentId: string | null },
    skip: number,
  ) =>
    queryOptions({
      queryKey: ['notificationDeliveries', id, skip],
      queryFn: () =>
        environmentId === null
          ? api.webhookEndpoint.listDeliveries.query({ webhookEndpointId: id, teamId, skip })
          : api.alert.listDeliveries.query({ webhookId: id, skip }),
      refetchInterval: DELIVERIES_MS,
      meta: live(['alerts']),
    }),
  notificationPreview: (teamId: string, format: NotificationFormat) =>
    queryOptions({
      queryKey: ['webhookEndpoint.preview', teamId, format],
      queryFn: () => api.webhookEndpoint.preview.query({ teamId, format }),
      meta: live([]),
    }),
  filterPresets: (environmentId: string, scope: PresetScope) =>
    queryOptions({
      queryKey: ['filterPreset.list', environmentId, scope],
      queryFn: () => api.filterPreset.list.query({ environmentId, scope }),
      meta: live(['presets'], environmentId),
    }),
  git: (environmentId: string) =>
    queryOptions({
      queryKey: ['gitSync.status', environmentId],
      queryFn: () => api.gitSync.status.query({ environmentId }),
      meta: live(['git', 'pipelines', 'fleet'], environmentId),
    }),
  gitJobs: (environmentId: string, limit: number) =>
    queryOptions({
      queryKey: ['gitSync.jobs', environmentId, limit],
      queryFn: () => api.gitSync.jobs.query({ environmentId, limit }),
      meta: live(['git'], environmentId),
    }),
  importErrors: (environmentId: string) =>
    queryOptions({
      queryKey: ['gitSync.importErrors', environmentId],
      queryFn: () => api.gitSync.importErrors.query({ environmentId, limit: 50 }),
      meta: live(['git'], environmentId),
    }),
  /** Without `ref` what the next pass would do; computed when it is asked for, which takes a moment. */
  gitPlan: (environmentId: string, ref: string) =>
    queryOptions({
      queryKey: ['gitSync.plan', environmentId, ref],
      queryFn: () => api.gitSync.plan.query({ environmentId, ...(ref ? { ref } : {}) }),
      meta: live(['git'], environmentId),
    }),
  gitDrift: (environmentId: string, differing: boolean) =>
    queryOptions({
      queryKey: ['gitSync.drift', environmentId, differing],
      queryFn: () => api.gitSync.drift.query({ environmentId, differing }),
      meta: live(['git', 'pipelines', 'fleet'], environmentId),
    }),
  gitHolds: (environmentId: string) =>
    queryOptions({
      queryKey: ['gitSync.holds', environmentId],
      queryFn: () => api.gitSync.holds.query({ environmentId }),
      meta: live(['git'], environmentId),
    }),
  pullRequests: (environmentId: string, state: 'open' | 'merged' | 'closed' | undefined) =>
    queryOptions({
      queryKey: ['pullRequest.list', environmentId, state],
      queryFn: () => api.pullRequest.list.query({ environmentId, ...(state ? { state } : {}) }),
      meta: live(['promotions', 'git'], environmentId),
    }),
  pullRequest: (environmentId: string, number: number) =>
    queryOptions({
      queryKey: ['pullRequest.get', environmentId, number],
      queryFn: () => api.pullRequest.get.query({ environmentId, number }),
      meta: live(['promotions', 'git', 'teams'], environmentId),
    }),
  /** `head` is what is read: another one is asked for when the reader says so. */
  pullRequestDiff: (environmentId: string, number: number, head: string) =>
    queryOptions({
      queryKey: ['pullRequest.diff', environmentId, number, head],
      queryFn: () => api.pullRequest.diff.query({ environmentId, number }),
      staleTime: Number.POSITIVE_INFINITY,
    }),
  pullRequestPlan: (environmentId: string, number: number) =>
    queryOptions({
      queryKey: ['pullRequest.plan', environmentId, number],
      queryFn: () => api.pullRequest.plan.query({ environmentId, number }),
      meta: live(['promotions', 'git'], environmentId),
    }),
  /** Into the environment and out of it. */
  promotions: (environmentId: string) =>
    queryOptions({
      queryKey: ['promotion.list', environmentId],
      queryFn: () => api.promotion.list.query({ environmentId, limit: 100 }),
      meta: live(['promotions', 'pipelines'], environmentId),
    }),
  promotionContent: (requestId: string) =>
    queryOptions({
      queryKey: ['promotion.content', requestId],
      queryFn: () => api.promotion.content.query({ requestId }),
      meta: live(['promotions', 'pipelines']),
    }),
  promotion: (requestId: string) =>
    queryOptions({
      queryKey: ['promotion.get', requestId],
      queryFn: () => api.promotion.get.query({ requestId }),
      meta: live(['promotions', 'git']),
    }),
};
