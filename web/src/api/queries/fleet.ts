/** Nodes and node groups. */
import { queryOptions } from '@tanstack/react-query';
import { api } from '../client.ts';
import { live } from './live.ts';

/** Rates move with every heartbeat; this is the slowest that they are shown when no event comes. */
const RATES_MS = 5_000;
/** To read thousands of nodes with all that they run is work for the controller: they are asked for less often. */
const LARGE_NODES = 1_000;
const LARGE_FLEET_MS = 15_000;
/** A node becomes unreachable by saying nothing: no event tells of that. */
const HEALTH_MS = 5_000;
/** Releases come with files that somebody puts there. */
const RELEASES_MS = 60_000;

export const fleetQueries = {
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
};
