/** Settings of the controller, its backups and streams. */
import { queryOptions } from '@tanstack/react-query';
import { api } from '../client.ts';
import { live } from './live.ts';

/** Of a backup that is being made. */
const BACKUP_MS = 1_000;
/** No event comes when something is delivered. */
const STREAMS_MS = 5_000;

export const installationQueries = {
  streams: () =>
    queryOptions({
      queryKey: ['stream.list'],
      queryFn: () => api.stream.list.query({}),
      refetchInterval: STREAMS_MS,
      meta: live(['settings']),
    }),
  backups: () =>
    queryOptions({
      queryKey: ['settings.listBackups'],
      queryFn: () => api.settings.listBackups.query({}),
      meta: live(['settings']),
    }),
  backupPreview: (filename: string) =>
    queryOptions({
      queryKey: ['settings.previewBackup', filename],
      queryFn: () => api.settings.previewBackup.query({ filename }),
    }),
  backupRuns: () =>
    queryOptions({
      queryKey: ['settings.backupRuns'],
      queryFn: () => api.settings.backupRuns.query({}),
      // Events that progress brings may be lost.
      refetchInterval: ({ state }) =>
        state.data?.some(({ status }) => status === 'RUNNING') ? BACKUP_MS : false,
      meta: live(['settings', 'backups']),
    }),
  settings: () =>
    queryOptions({
      queryKey: ['settings.get'],
      queryFn: () => api.settings.get.query({}),
      meta: live(['settings', 'teams']),
    }),
};
