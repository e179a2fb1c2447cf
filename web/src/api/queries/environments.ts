/** Environments with their secrets, certificates and service accounts. */
import { queryOptions } from '@tanstack/react-query';
import { api } from '../client.ts';
import { live } from './live.ts';

export const environmentsQueries = {
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
};
