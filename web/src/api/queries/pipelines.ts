/** Pipelines with their versions, rollouts, promotions and dependencies. */
import { queryOptions } from '@tanstack/react-query';
import { api } from '../client.ts';
import { live } from './live.ts';

/** Rates move with every heartbeat; this is the slowest that they are shown when no event comes. */
const RATES_MS = 5_000;
/** Samples come within seconds, and are waited for. */
const SAMPLES_MS = 1_000;

export const pipelinesQueries = {
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
};
