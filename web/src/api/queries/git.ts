/** Bindings with their plans, pull requests and promotions. */
import { queryOptions } from '@tanstack/react-query';
import { api } from '../client.ts';
import { live } from './live.ts';

export const gitQueries = {
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
