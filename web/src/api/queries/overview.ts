/** Of the overview, and what the audit log may be searched for. */
import { queryOptions } from '@tanstack/react-query';
import { api } from '../client.ts';
import { live } from './live.ts';

/** Rates move with every heartbeat; this is the slowest that they are shown when no event comes. */
const RATES_MS = 5_000;
/** A node becomes unreachable by saying nothing: no event tells of that. */
const HEALTH_MS = 5_000;
/** What the audit log may be searched for. */
const WORDS_MS = 60_000;

export const overviewQueries = {
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
};
