import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { BackupEntry, BackupPreview } from '../../../../../schemas/api/backups.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { DoneAction, MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { Fact } from '../../../ui/primitives/fact.tsx';
import { formatBytes, formatExact, plural, shortCommit } from '../../../ui/text/format.ts';
import { useBackupMutation } from './backup-mutation.ts';

export interface BackupAction {
  kind: 'preview' | 'restore' | 'delete';
  backup: BackupEntry;
}

interface FormProps {
  filename: string;
  close: () => void;
}

const TITLES = { preview: 'What it holds', restore: 'Restore a backup', delete: 'Delete a backup' } as const;

export const BackupDialogs = ({ action, close }: { action: BackupAction | null; close: () => void }) => (
  <Dialog title={action ? TITLES[action.kind] : ''} opened={action !== null} close={close} size="lg">
    {action?.kind === 'preview' && <Preview filename={action.backup.filename} close={close} />}
    {action?.kind === 'restore' && <RestoreForm filename={action.backup.filename} close={close} />}
    {action?.kind === 'delete' && <DeleteForm filename={action.backup.filename} close={close} />}
  </Dialog>
);

const Preview = ({ filename, close }: FormProps) => {
  const preview = useQuery(queries.backupPreview(filename));
  return (
    <Stack gap="lg">
      <Loaded
        query={preview}
        what="The backup"
        skeleton={<SkeletonRows rows={6} label="Loading the backup" />}
      >
        {(found) => <PreviewContent preview={found} />}
      </Loaded>
      <DoneAction close={close} />
    </Stack>
  );
};

const PreviewContent = ({ preview }: { preview: BackupPreview }) => {
  const { filename, createdAt, createdBy, version, tables, rows, bytes, bindings, hasRepository } = preview;
  const filled = tables.filter((table) => table.rows > 0).sort((a, b) => b.rows - a.rows);
  return (
    <Stack gap="lg">
      <p className="mono breakable">{filename}</p>
      {preview.refusal && (
        <Notice tone="failed" icon="warning">
          {preview.refusal}.
        </Notice>
      )}
      <dl className="facts">
        <Fact name="Made">{formatExact(createdAt)}</Fact>
        <Fact name="By">{createdBy ?? 'unknown'}</Fact>
        <Fact name="Version">{version}</Fact>
        <Fact name="Rows">
          {plural(rows, 'row')} in {plural(tables.length, 'table')}
        </Fact>
        <Fact name="Uncompressed">{formatBytes(bytes)}</Fact>
        <Fact name="Embedded repository">{hasRepository ? 'yes' : 'no'}</Fact>
      </dl>
      {bindings.length > 0 && (
        <ul aria-label="Environments in git">
          {bindings.map(({ environment, repository, branch, commit }) => (
            <li key={environment}>
              {environment}: {branch} of <span className="breakable">{repository}</span>{' '}
              {commit ? <span className="mono">{shortCommit(commit)}</span> : '(nothing applied yet)'}
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary>Tables with rows ({filled.length})</summary>
        <ul aria-label="Tables">
          {filled.map((table) => (
            <li key={table.name}>
              <span className="mono">{table.name}</span>: {table.rows.toLocaleString('en')}
            </li>
          ))}
        </ul>
      </details>
    </Stack>
  );
};

const RestoreForm = ({ filename, close }: FormProps) => {
  const preview = useQuery(queries.backupPreview(filename));
  const restore = useBackupMutation({
    run: () => api.settings.restoreBackup.mutate({ filename }),
    done: () => 'The backup is being restored. You will be asked to sign in.',
    after: close,
  });
  return (
    <Loaded query={preview} what="The backup" skeleton={<SkeletonRows rows={5} label="Loading the backup" />}>
      {({ refusal, createdAt, rows, hasRepository }) => (
        <MutationForm
          mutation={restore}
          close={close}
          submit="Restore the backup"
          working="Beginning…"
          danger
          cancel="Keep what is there"
          disabled={refusal !== null}
          confirm={refusal === null ? filename : null}
          confirmField={{ mono: true, autoFocus: false }}
        >
          {refusal === null ? (
            <Notice tone="failed" icon="warning">
              This replaces everything by {plural(rows, 'row')} of {formatExact(createdAt)}: users,
              environments, pipelines, secrets, history and settings of all teams
              {hasRepository ? ', and the embedded repository' : ''}. What changed since then is gone.
            </Notice>
          ) : (
            <Notice tone="failed" icon="warning">
              {refusal}.
            </Notice>
          )}
          <p className="muted">
            The backup is verified first, and nothing changes before all of it is there. Then every user signs
            in again, with the passwords of the backup. Engines run on.
          </p>
        </MutationForm>
      )}
    </Loaded>
  );
};

const DeleteForm = ({ filename, close }: FormProps) => {
  const remove = useBackupMutation({
    run: () => api.settings.deleteBackup.mutate({ filename }),
    done: () => `${filename} is deleted.`,
    after: close,
  });
  return (
    <MutationForm mutation={remove} close={close} submit="Delete the backup" working="Deleting…" danger>
      <p>
        <span className="mono breakable">{filename}</span> is deleted from the storage, and does not come
        back.
      </p>
    </MutationForm>
  );
};
