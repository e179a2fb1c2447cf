import { Checkbox } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { EnvironmentSummary, SecretSummary } from '../../../../schemas/api/fleet/environments.ts';
import type { SecretBackend } from '../../../../schemas/api/secrets/secret-backends.ts';
import { api } from '../../api/client.ts';
import { Field, NameField, TextAreaField } from '../../ui/form/field.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';
import { Restarts } from './restarts.tsx';
import { storeNoun } from './store-text.ts';

export type SecretAction =
  | { kind: 'create' }
  | { kind: 'register' }
  | { kind: 'replace'; secret: SecretSummary }
  | { kind: 'relocate'; secret: SecretSummary }
  | { kind: 'delete'; secret: SecretSummary };

export interface SecretDialogProps {
  environment: EnvironmentSummary;
  backend: SecretBackend;
  action: SecretAction | null;
  close: () => void;
}

const NAME = /^[a-zA-Z][a-zA-Z0-9_.-]*$/;
const nameProblem = (name: string): string =>
  name && !NAME.test(name) ? 'Begin with a letter; then letters, digits, _ . and - only.' : '';
const variableOf = (name: string): string =>
  `\${SVC_SECRET_${(name || 'NAME').toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}}`;

/** Creates a secret, or gives one a new value. */
export const SecretValueDialog = ({ action, close, ...rest }: SecretDialogProps) => {
  const opened = action?.kind === 'create' || action?.kind === 'replace';
  const title = action?.kind === 'replace' ? `Replace the value of ${action.secret.name}` : 'Add a secret';
  return (
    <Dialog title={title} opened={opened} close={close}>
      {opened && (
        <ValueForm secret={action.kind === 'replace' ? action.secret : null} close={close} {...rest} />
      )}
    </Dialog>
  );
};

interface FormProps extends Omit<SecretDialogProps, 'action'> {
  secret: SecretSummary | null;
}

const ValueForm = ({ environment, backend, secret, close }: FormProps) => {
  const queryClient = useQueryClient();
  const [name, setName] = useState(secret?.name ?? '');
  const [value, setValue] = useState('');
  const [lines, setLines] = useState(false);
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
  const problem = nameProblem(name);
  /** An input of one line would join them. */
  const showLines = (on: boolean): void => {
    if (!on && /[\r\n]/.test(value)) setValue('');
    setLines(on);
  };
  const field = {
    label: secret ? 'New value' : 'Value',
    value,
    onChange: setValue,
    required: true,
    autoFocus: secret !== null,
    maxLength: 65_536,
    hint: lines
      ? 'It is visible while you type, and not shown again after saving.'
      : 'It is not shown again after saving.',
  };
  return (
    <MutationForm
      mutation={save}
      close={close}
      submit={secret ? 'Replace the value' : 'Add the secret'}
      working="Saving…"
      disabled={!value || !name || problem !== ''}
      autoComplete="off"
    >
      {!secret && (
        <NameField
          value={name}
          onChange={setName}
          mono
          autoFocus
          problem={problem}
          hint={`Manifests write ${variableOf(name)}`}
        />
      )}
      {lines ? (
        <TextAreaField {...field} mono rows={8} />
      ) : (
        <Field {...field} type="password" autoComplete="new-password" />
      )}
      <Checkbox
        checked={lines}
        onChange={(event) => showLines(event.target.checked)}
        label="Several lines, such as a private key or JSON"
      />
      {backend !== 'BUILTIN' && <p className="muted">It is written to {storeNoun(backend)} first.</p>}
      {secret && <Restarts pipelines={secret.usedBy} />}
    </MutationForm>
  );
};

/** Names a secret that a store outside has already. */
export const RegisterSecretDialog = ({ action, close, ...rest }: SecretDialogProps) => {
  const opened = action?.kind === 'register';
  return (
    <Dialog title="Register a name" opened={opened} close={close}>
      {opened && <RegisterForm close={close} {...rest} />}
    </Dialog>
  );
};

const NO_LOCATION = { path: '', property: '', version: '' };
type Location = typeof NO_LOCATION;

/** What was left empty is left out. */
const givenOf = (location: Location): Partial<Location> =>
  Object.fromEntries(Object.entries(location).filter(([, text]) => text !== ''));

const LocationFields = ({
  backend,
  location,
  setLocation,
  autoFocus = false,
}: {
  backend: SecretBackend;
  location: Location;
  setLocation: (location: Location) => void;
  autoFocus?: boolean;
}) => {
  const set = (part: keyof Location) => (text: string) => setLocation({ ...location, [part]: text.trim() });
  const common = { mono: true, autoComplete: 'off' } as const;
  return (
    <>
      <Field
        {...common}
        label="Path"
        value={location.path}
        onChange={set('path')}
        maxLength={2_048}
        autoFocus={autoFocus}
        hint={PATH_HINTS[backend]}
      />
      <Field
        {...common}
        label={backend === 'VAULT' ? 'Field' : 'Property'}
        value={location.property}
        onChange={set('property')}
        maxLength={256}
        hint={
          backend === 'VAULT'
            ? 'In place of the field that is set for the store.'
            : 'Of an entry that is a JSON object, such as password.'
        }
      />
      {backend !== 'EXEC' && (
        <Field
          {...common}
          label="Version"
          value={location.version}
          onChange={set('version')}
          maxLength={256}
          hint={
            backend === 'VAULT'
              ? 'A number. Leave it empty to follow the newest.'
              : 'A VersionId, or a stage such as AWSPREVIOUS. Leave it empty to follow the newest.'
          }
        />
      )}
    </>
  );
};

const RegisterForm = ({ environment, backend, close }: Omit<SecretDialogProps, 'action'>) => {
  const queryClient = useQueryClient();
  const [name, setName] = useState('');
  const [location, setLocation] = useState(NO_LOCATION);
  const register = useMutation({
    mutationFn: () =>
      api.secret.register.mutate({ environmentId: environment.id, name, ...givenOf(location) }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['secret.list', environment.id] });
      close();
    },
  });
  const problem = nameProblem(name);
  return (
    <MutationForm
      mutation={register}
      close={close}
      submit="Register the name"
      working="Asking the store…"
      disabled={!name || problem !== ''}
      autoComplete="off"
    >
      <p className="muted">
        The value is in {storeNoun(backend)} already. Headgate reads it now, and again and again: a value that
        is changed there restarts exactly the pipelines that name it.
      </p>
      <Field
        label="Name in the store"
        value={name}
        onChange={setName}
        mono
        required
        autoFocus
        autoComplete="off"
        problem={problem}
        hint={`With a path below, only its name here. Manifests write ${variableOf(name)}`}
      />
      <details>
        <summary>More</summary>
        <div className="stack details-body">
          <LocationFields backend={backend} location={location} setLocation={setLocation} />
        </div>
      </details>
    </MutationForm>
  );
};

/** Says where a secret that is registered already is from now on. */
export const RelocateSecretDialog = ({ action, close, ...rest }: SecretDialogProps) => {
  const opened = action?.kind === 'relocate';
  return (
    <Dialog
      title={opened ? `Where the store has ${action.secret.name}` : 'Where the store has it'}
      opened={opened}
      close={close}
    >
      {opened && <RelocateForm secret={action.secret} close={close} {...rest} />}
    </Dialog>
  );
};

const RelocateForm = ({ environment, backend, secret, close }: FormProps & { secret: SecretSummary }) => {
  const queryClient = useQueryClient();
  const [location, setLocation] = useState<Location>({
    ...{ path: secret.path ?? '', property: secret.property ?? '', version: secret.version ?? '' },
  });
  const relocate = useMutation({
    mutationFn: () =>
      api.secret.relocate.mutate({ environmentId: environment.id, id: secret.id, ...givenOf(location) }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['secret.list', environment.id] });
      close();
    },
  });
  return (
    <MutationForm
      mutation={relocate}
      close={close}
      submit="Read it from there"
      working="Asking the store…"
      autoComplete="off"
    >
      <p className="muted">
        Manifests go on to write {`\${${secret.variable}}`}. What is left empty, the name{' '}
        <strong className="mono">{secret.name}</strong> says. It is read there first; where it is not, nothing
        changes.
      </p>
      <LocationFields backend={backend} location={location} setLocation={setLocation} autoFocus />
      <Restarts pipelines={secret.usedBy} />
    </MutationForm>
  );
};

const PATH_HINTS: Record<SecretBackend, string> = {
  BUILTIN: '',
  VAULT: 'Below the mount, in place of the prefix and the name: team/shop/db',
  CLOUD_SM: 'A name or an ARN, in place of the prefix and the name: rds!db-1234',
  EXEC: 'What the program is asked for, in place of the name.',
};
