/** Backups: what runs, what is stored, when they are made and where. */
import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { BackupEntry } from '../../../../../schemas/api/backups.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { EmptyState, InlineError, Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { formatBytes, plural } from '../../../ui/text/format.ts';
import { type BackupAction, BackupDialogs } from './backup-dialogs.tsx';
import { useBackupMutation } from './backup-mutation.ts';
import { BackupRuns } from './backup-runs.tsx';
import { ScheduleForm } from './schedule-form.tsx';
import { StorageForm } from './storage-form.tsx';

export const BackupsTab = () => {
  const backups = useQuery(queries.backups());
  const runs = useQuery(queries.backupRuns());
  const settings = useQuery(queries.settings());
  const [action, setAction] = useState<BackupAction | null>(null);
  const create = useBackupMutation({
    run: () => api.settings.createBackup.mutate({}),
    done: () => 'A backup is being made.',
  });
  const isBusy = runs.data?.some(({ status }) => status === 'RUNNING') ?? false;
  return (
    <Stack gap="lg">
      <Section
        title="Backups"
        beside={
          <Button
            icon="plus"
            size="small"
            disabled={isBusy || create.isPending}
            onClick={() => create.mutate()}
          >
            {create.isPending ? 'Beginning…' : 'Create backup'}
          </Button>
        }
      >
        <div className="section-body">
          <p className="muted">
            The whole database and the embedded repository, as they were at one moment. Secrets stay
            encrypted: keep the secret key elsewhere, since a backup is of no use without it.
          </p>
        </div>
        {create.isError && <InlineError error={create.error} />}
        {runs.data && <BackupRuns runs={runs.data} />}
        <Loaded query={backups} what="Backups" skeleton={<SkeletonRows rows={4} label="Loading backups" />}>
          {(list) =>
            list.length === 0 ? (
              <EmptyState icon="shield" title="There is no backup yet">
                <p>Create one now, and set a schedule below.</p>
              </EmptyState>
            ) : (
              <ul className="accounts" aria-label="Backups">
                {list.map((backup) => (
                  <BackupRow key={backup.filename} backup={backup} isBusy={isBusy} act={setAction} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </Section>
      <Loaded
        query={settings}
        what="The settings"
        skeleton={<SkeletonRows rows={6} label="Loading settings" />}
      >
        {({ backups: current }) => (
          <Stack gap="lg">
            <ScheduleForm schedule={current.schedule} />
            <StorageForm settings={current} />
          </Stack>
        )}
      </Loaded>
      <BackupDialogs action={action} close={() => setAction(null)} />
    </Stack>
  );
};

interface RowProps {
  backup: BackupEntry;
  isBusy: boolean;
  act: (action: BackupAction) => void;
}

const TRIGGERS = { manual: 'By hand', scheduled: 'Scheduled', command: 'Command line' } as const;

const BackupRow = ({ backup, isBusy, act }: RowProps) => {
  const { filename, size, createdAt, createdBy, trigger, tables, rows } = backup;
  const verify = useBackupMutation({
    run: () => api.settings.verifyBackup.mutate({ filename }),
    done: () => `${filename} is being verified.`,
  });
  return (
    <li aria-label={filename}>
      <div className="preset-head">
        <b className="mono breakable">{filename}</b>
        {trigger && (
          <Badge
            tone="unknown"
            icon={trigger === 'scheduled' ? 'sync' : trigger === 'command' ? 'playground' : 'user'}
          >
            {TRIGGERS[trigger]}
          </Badge>
        )}
      </div>
      {verify.isError && <InlineError error={verify.error} />}
      <div className="account-foot">
        <span className="muted">
          {formatBytes(size)} · made <Time at={createdAt} />
          {createdBy && trigger === 'manual' && ` by ${createdBy}`}
          {rows !== null && tables !== null && ` · ${plural(rows, 'row')} in ${plural(tables, 'table')}`}
        </span>
        <span className="button-row">
          <Button size="small" onClick={() => act({ kind: 'preview', backup })}>
            Preview<span className="sr-only"> {filename}</span>
          </Button>
          <Button size="small" disabled={isBusy || verify.isPending} onClick={() => verify.mutate()}>
            Verify<span className="sr-only"> {filename}</span>
          </Button>
          <Button size="small" disabled={isBusy} onClick={() => act({ kind: 'restore', backup })}>
            Restore<span className="sr-only"> {filename}</span>
          </Button>
          <Button size="small" onClick={() => act({ kind: 'delete', backup })}>
            Delete<span className="sr-only"> {filename}</span>
          </Button>
        </span>
      </div>
    </li>
  );
};
