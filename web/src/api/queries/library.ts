/** Templates, snippets, shared components, and what the engine knows. */
import { queryOptions } from '@tanstack/react-query';
import type { ComponentKind } from '../../../../schemas/api/pipelines/engine.ts';
import { api } from '../client.ts';
import { live } from './live.ts';

/** What an engine knows stays as long as it is the same one. */
const ENGINE_MS = 300_000;

export const libraryQueries = {
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
};
