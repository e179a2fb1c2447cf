import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { EnvironmentSummary, SecretSummary } from '../../../../schemas/api/environments.ts';
import { api } from '../../api/client.ts';
import { isProduction } from '../../app/environment.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { plural } from '../../components/format.ts';
import { InlineError } from '../../components/states.tsx';

export type SecretAction =
  | { kind: 'create' }
  | { kind: 'replace'; secret: SecretSummary }
  | { kind: 'delete'; secret: SecretSummary };

interface Props {
  environment: EnvironmentSummary;
  action: SecretAction | null;
  close: () => void;
}

const NAME = /^[a-zA-Z][a-zA-Z0-9_.-]*$/;

/** Creates a secret, or gives one a new value. */
export const SecretValueDialog = ({ environment, action, close }: Props) => {
  const opened = action?.kind === 'create' || action?.kind === 'replace';
  const title = action?.kind === 'replace' ? `Replace the value of ${action.secret.name}` : 'Add a secret';
  return (
    <Dialog title={title} opened={opened} close={close}>
      {opened && (
        <ValueForm
          environment={environment}
          secret={action.kind === 'replace' ? action.secret : null}
          close={close}
        />
      )}
    </Dialog>
  );
};

interface FormProps {
  environment: EnvironmentSummary;
  secret: SecretSummary | null;
  close: () => void;
}

const ValueForm = ({ environment, secret, close }: FormProps) => {
  const queryClient = useQueryClient();
  const [name, setName] = useState(secret?.name ?? '');
  const [value, setValue] = useState('');
  const save = useMutation({
    mutationFn: async (): Promise<void> => {
      if (secret) await api.secret.update.mutate({ id: secret.id, environmentId: environment.id, value });
      else await api.secret.create.mutate({ environmentId: environment.id, name, value });
    },
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['secret.list', environment.id] });
      close();
    },
  });
  const nameProblem =
    name && !NAME.test(name) ? 'Begin with a letter; then letters, digits, _ . and - only.' : '';
  const variable = `\${SVC_SECRET_${(name || 'NAME').toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}}`;
  return (
    <form
      className="form"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      {!secret && (
        <Field
          label="Name"
          value={name}
          onChange={setName}
          mono
          required
          autoFocus
          autoComplete="off"
          problem={nameProblem}
          hint={`Manifests write ${variable}`}
        />
      )}
      <Field
        label={secret ? 'New value' : 'Value'}
        value={value}
        onChange={setValue}
        type="password"
        required
        autoFocus={secret !== null}
        autoComplete="new-password"
        hint="One line. It is not shown again after saving."
      />
      {secret && (
        <p className="muted">Engines that name it restart with the new value at their node’s next poll.</p>
      )}
      {save.isError && <InlineError error={save.error} />}
      <div className="form-actions">
        <button type="button" className="button" onClick={close}>
          Cancel
        </button>
        <button
          type="submit"
          className="button"
          data-kind="primary"
          disabled={save.isPending || !value || !name || nameProblem !== ''}
        >
          {save.isPending ? 'Saving…' : secret ? 'Replace the value' : 'Add the secret'}
        </button>
      </div>
    </form>
  );
};

export const DeleteSecretDialog = ({ environment, action, close }: Props) => {
  const opened = action?.kind === 'delete';
  return (
    <Dialog title={opened ? `Delete ${action.secret.name}` : 'Delete'} opened={opened} close={close}>
      {opened && <DeleteForm environment={environment} secret={action.secret} close={close} />}
    </Dialog>
  );
};

const DeleteForm = ({ environment, secret, close }: FormProps & { secret: SecretSummary }) => {
  const queryClient = useQueryClient();
  const [typed, setTyped] = useState('');
  const mustConfirm = isProduction(environment);
  const remove = useMutation({
    mutationFn: () => api.secret.delete.mutate({ id: secret.id, environmentId: environment.id }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['secret.list', environment.id] });
      close();
    },
  });
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        remove.mutate();
      }}
    >
      <p>
        This deletes <strong className="mono">{secret.name}</strong> from {environment.name}. Its value cannot
        be brought back.
      </p>
      <p>
        {secret.usedBy.length === 0
          ? 'Nothing that is deployed refers to it.'
          : `${plural(secret.usedBy.length, 'deployed pipeline refers', 'deployed pipelines refer')} to it and must let go of it first: ${secret.usedBy.join(', ')}.`}
      </p>
      {mustConfirm && (
        <Field
          label={`Type ${secret.name} to confirm`}
          value={typed}
          onChange={setTyped}
          mono
          autoFocus
          autoComplete="off"
        />
      )}
      {remove.isError && <InlineError error={remove.error} />}
      <div className="form-actions">
        <button type="button" className="button" onClick={close}>
          Keep it
        </button>
        <button
          type="submit"
          className="button"
          data-kind="danger"
          disabled={remove.isPending || secret.usedBy.length > 0 || (mustConfirm && typed !== secret.name)}
        >
          {remove.isPending ? 'Deleting…' : 'Delete the secret'}
        </button>
      </div>
    </form>
  );
};
