/** Every read of the UI. `topics` names the live events after which the answer must be looked at again. */
import { queryOptions } from '@tanstack/react-query';
import type { UiTopic } from '../../../schemas/api/git-sync.ts';
import { api } from './client.ts';
import { recordRates } from './rate-history.ts';

export interface LiveMeta extends Record<string, unknown> {
  topics: readonly UiTopic[];
  /** Absent where the answer's environment is not known before it comes. */
  environmentId?: string;
}

/** Rates move with every heartbeat; this is the slowest that they are shown when no event comes. */
const RATES_MS = 5_000;
/** A node becomes unreachable by saying nothing: no event tells of that. */
const HEALTH_MS = 5_000;

const live = (topics: readonly UiTopic[], environmentId?: string): LiveMeta => ({ topics, environmentId });

export const queries = {
  me: () =>
    queryOptions({ queryKey: ['user.me'], queryFn: () => api.user.me.query({}), meta: live(['teams']) }),
  tokens: () => queryOptions({ queryKey: ['user.listTokens'], queryFn: () => api.user.listTokens.query({}) }),
  teams: () =>
    queryOptions({ queryKey: ['team.list'], queryFn: () => api.team.list.query({}), meta: live(['teams']) }),
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
      meta: live(['environments'], id),
    }),
  secrets: (environmentId: string) =>
    queryOptions({
      queryKey: ['secret.list', environmentId],
      queryFn: () => api.secret.list.query({ environmentId }),
      meta: live(['secrets'], environmentId),
    }),
  pipelines: (environmentId: string) =>
    queryOptions({
      queryKey: ['pipeline.list', environmentId],
      queryFn: async () => {
        const list = await api.pipeline.list.query({ environmentId });
        for (const pipeline of list) recordRates(pipeline.id, pipeline.rates);
        return list;
      },
      refetchInterval: RATES_MS,
      meta: live(['pipelines', 'fleet', 'git'], environmentId),
    }),
  pipeline: (id: string) =>
    queryOptions({
      queryKey: ['pipeline.get', id],
      queryFn: async () => {
        const pipeline = await api.pipeline.get.query({ id });
        recordRates(pipeline.id, pipeline.rates);
        return pipeline;
      },
      refetchInterval: RATES_MS,
      meta: live(['pipelines', 'fleet', 'git']),
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
  nodes: (environmentId: string) =>
    queryOptions({
      queryKey: ['fleet.list', environmentId],
      queryFn: () => api.fleet.list.query({ environmentId }),
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
  node: (id: string) =>
    queryOptions({
      queryKey: ['fleet.get', id],
      queryFn: () => api.fleet.get.query({ id }),
      refetchInterval: RATES_MS,
      meta: live(['fleet', 'pipelines']),
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
};
