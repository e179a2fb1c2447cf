import { Checkbox, Stack } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Permission, ServiceAccount } from '../../../../../schemas/api/identity/service-accounts.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { Field, NameField, SelectField } from '../../../ui/form/field.tsx';
import { DoneAction, MutationForm } from '../../../ui/form/mutation-form.tsx';
import { CommandBlock } from '../../../ui/primitives/command-block.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { PERMISSION_LABELS, PERMISSIONS } from './permission-text.ts';

export type AccountAction =
  | { kind: 'create' }
  | { kind: 'revoke'; account: ServiceAccount }
  | { kind: 'delete'; account: ServiceAccount };

interface Props {
  environmentId: string;
  action: AccountAction | null;
  close: () => void;
}

const LIFETIMES = [
  { value: '30', word: '30 days' },
  { value: '90', word: '90 days' },
  { value: '365', word: '1 year' },
  { value: '', word: 'No end' },
] as const;

const titleOf = (action: AccountAction | null): string => {
  if (action === null || action.kind === 'create') return 'New service account';
  return `${action.kind === 'revoke' ? 'Revoke' : 'Delete'} ${action.account.name}`;
};

export const ServiceAccountDialogs = ({ environmentId, action, close }: Props) => (
  <Dialog
    title={titleOf(action)}
    opened={action !== null}
    close={close}
    size={action?.kind === 'create' ? 'md' : 'sm'}
  >
    {action?.kind === 'create' && <CreateForm environmentId={environmentId} close={close} />}
    {action && action.kind !== 'create' && (
      <EndForm environmentId={environmentId} kind={action.kind} account={action.account} close={close} />
    )}
  </Dialog>
);

const CreateForm = ({ environmentId, close }: { environmentId: string; close: () => void }) => {
  const queryClient = useQueryClient();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [permissions, setPermissions] = useState<readonly Permission[]>([]);
  const [days, setDays] = useState<(typeof LIFETIMES)[number]['value']>('90');
  const create = useMutation({
    mutationFn: () =>
      api.serviceAccount.create.mutate({
        environmentId,
        name: name.trim(),
        permissions: [...permissions],
        ...(description.trim() ? { description: description.trim() } : {}),
        ...(days ? { expiresInDays: Number(days) } : {}),
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['serviceAccount.list', environmentId] }),
  });
  if (create.data) return <CreatedKey account={create.data} close={close} />;
  const toggle = (permission: Permission): void =>
    setPermissions((before) =>
      before.includes(permission) ? before.filter((each) => each !== permission) : [...before, permission],
    );
  return (
    <MutationForm
      mutation={create}
      close={close}
      submit="Make the key"
      working="Making the key…"
      disabled={!name.trim() || permissions.length === 0}
      autoComplete="off"
    >
      <NameField
        value={name}
        onChange={setName}
        autoFocus
        placeholder="deploys from CI"
        hint="It stands in the audit log as who did it."
      />
      <Field label="What it is for" value={description} onChange={setDescription} autoComplete="off" />
      <fieldset className="permissions">
        <legend>It may</legend>
        {PERMISSIONS.map((permission) => (
          <Checkbox
            key={permission}
            checked={permissions.includes(permission)}
            onChange={() => toggle(permission)}
            label={
              <>
                <span className="mono">{permission}</span>{' '}
                <span className="muted">{PERMISSION_LABELS[permission]}</span>
              </>
            }
          />
        ))}
      </fieldset>
      <SelectField label="It ends after" value={days} onChange={setDays} options={LIFETIMES} />
    </MutationForm>
  );
};

const CreatedKey = ({ account, close }: { account: ServiceAccount & { key: string }; close: () => void }) => (
  <Stack gap="lg">
    <p role="status">
      Copy the key now: it is shown <strong>only once</strong>. Headgate keeps a hash of it.
    </p>
    <CommandBlock label="the key" lines={[account.key]} />
    {account.permissions.includes('pipelines.read') && (
      <CommandBlock
        label="a command that tries it"
        lines={[`curl -H "Authorization: Bearer $KEY" ${window.location.origin}/api/v1/pipelines`]}
      />
    )}
    <DoneAction close={close} />
  </Stack>
);

interface EndProps {
  environmentId: string;
  kind: 'revoke' | 'delete';
  account: ServiceAccount;
  close: () => void;
}

const EndForm = ({ environmentId, kind, account: asListed, close }: EndProps) => {
  const queryClient = useQueryClient();
  // The list does not follow the use of a key, and that is what decides here.
  const { data } = useQuery({ ...queries.serviceAccounts(environmentId), refetchOnMount: 'always' });
  const account = data?.find(({ id }) => id === asListed.id) ?? asListed;
  const end = useMutation({
    mutationFn: async (): Promise<void> => {
      if (kind === 'revoke') await api.serviceAccount.revoke.mutate({ id: account.id });
      else await api.serviceAccount.delete.mutate({ id: account.id });
    },
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['serviceAccount.list', environmentId] });
      close();
    },
  });
  return (
    <MutationForm
      mutation={end}
      close={close}
      submit={kind === 'revoke' ? 'Revoke the key' : 'Delete the account'}
      working="Ending it…"
      danger
    >
      <p>
        {kind === 'revoke'
          ? `Programs that use the key of ${account.name} are refused at once, and that cannot be taken back. The entry stays, and the name is free again.`
          : account.revokedAt
            ? `Its key does not work any more; now the entry of ${account.name} goes as well. What it did stays in the audit log.`
            : `The key of ${account.name} stops working at once, and its entry goes. What it did stays in the audit log.`}
      </p>
      {!account.revokedAt && (
        <p className="muted">
          {account.lastUsedAt ? (
            <>
              It was used <Time at={account.lastUsedAt} />: give that program another key first.
            </>
          ) : (
            'It was never used.'
          )}
        </p>
      )}
    </MutationForm>
  );
};
