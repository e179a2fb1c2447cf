import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { EnvironmentSummary } from '../../../../schemas/api/environments.ts';
import type { GitSyncStatus } from '../../../../schemas/api/git-sync.ts';
import { api } from '../../api/client.ts';
import { isProduction } from '../../app/environment.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field, SelectField } from '../../components/field.tsx';
import { MutationForm } from '../../components/mutation-form.tsx';

const MODES = [
  { value: 'observe', word: 'Observe: plan only, apply nothing' },
  { value: 'sync', word: 'Sync: apply what is committed' },
  { value: 'push', word: 'Push: write the database to git' },
  { value: 'off', word: 'Off: do not read git' },
] as const;

interface Props {
  environment: EnvironmentSummary;
  status: GitSyncStatus;
  opened: boolean;
  close: () => void;
}

export const ConfigureGit = ({ opened, close, environment, status }: Props) => (
  <Dialog title={`Bind ${environment.name} to git`} opened={opened} close={close}>
    {opened && <ConfigureForm environment={environment} status={status} close={close} />}
  </Dialog>
);

const ConfigureForm = ({ environment, status, close }: Omit<Props, 'opened'>) => {
  const queryClient = useQueryClient();
  const [mode, setMode] = useState<GitSyncStatus['mode']>(status.configured ? status.mode : 'sync');
  const [repositoryUrl, setRepositoryUrl] = useState(status.repositoryUrl ?? 'embedded');
  const [branch, setBranch] = useState(status.branch ?? 'main');
  const [path, setPath] = useState(
    status.path ?? `environments/${environment.name.toLowerCase().replaceAll(' ', '-')}`,
  );
  const mustConfirm = isProduction(environment);
  const save = useMutation({
    mutationFn: () =>
      api.gitSync.configure.mutate({ environmentId: environment.id, mode, repositoryUrl, branch, path }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['gitSync.status', environment.id] });
      close();
    },
  });
  return (
    <MutationForm
      mutation={save}
      close={close}
      submit="Save the binding"
      working="Saving…"
      confirm={mustConfirm ? environment.name : null}
      confirmField={{
        autoFocus: false,
        hint: `This decides what all ${environment.nodeCount} nodes of ${environment.name} run.`,
      }}
    >
      <SelectField label="Mode" value={mode} onChange={setMode} options={MODES} />
      <Field
        label="Repository"
        value={repositoryUrl}
        onChange={setRepositoryUrl}
        mono
        required
        hint="An address, or “embedded” for the repository that Headgate itself serves."
      />
      <Field label="Branch" value={branch} onChange={setBranch} mono required />
      <Field
        label="Folder"
        value={path}
        onChange={setPath}
        mono
        hint="Everything below it belongs to this environment."
      />
    </MutationForm>
  );
};
