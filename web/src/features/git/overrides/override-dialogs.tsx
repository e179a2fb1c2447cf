import { Group } from '@mantine/core';
/** Dialogs in which somebody says a word to the loop: suspend, hold, adopt, let go. */
import { useState } from 'react';
import type { ManifestStatus } from '../../../../../schemas/api/delivery/git-sync.ts';
import { api } from '../../../api/client.ts';
import { isProduction, usePlace } from '../../../app/scope.tsx';
import { Field, SelectField } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { type GitObject, isOwnable, nameOfObject } from '../git-object.ts';
import { useWord } from './override-mutations.ts';

const MAX_REASON = 500;

interface OneProps {
  env: string;
  object: GitObject;
  close: () => void;
}

export const AdoptDialog = ({ env, object, close }: OneProps) => {
  const adopt = useWord({
    run: () => api.gitSync.adopt.mutate({ environmentId: env, ...object }),
    done: () => `${nameOfObject(object)} is taken over by git with the next pass.`,
    close,
  });
  return (
    <Dialog title={`Adopt ${nameOfObject(object)}`} opened close={close}>
      <MutationForm mutation={adopt} close={close} submit="Let git take it over" working="Saying so…">
        <p>
          The UI owns <strong>{object.name}</strong>, and git describes one of that name. The next pass makes
          it what git says; it keeps its id, versions and history.
        </p>
        <p className="muted">From then on it is changed in git. The plan shows what that changes.</p>
      </MutationForm>
    </Dialog>
  );
};

export const HoldDialog = ({ env, object, close }: OneProps) => {
  const [reason, setReason] = useState('');
  const hold = useWord({
    run: () => api.gitSync.hold.mutate({ environmentId: env, ...object, reason: reason.trim() }),
    done: () => `${nameOfObject(object)} is held: what git has now is not applied again.`,
    close,
  });
  return (
    <Dialog title={`Hold ${nameOfObject(object)}`} opened close={close}>
      <MutationForm
        mutation={hold}
        close={close}
        submit="Hold it"
        working="Holding…"
        disabled={reason.trim() === ''}
      >
        <p>
          What git says of <strong>{object.name}</strong> now is not applied again. What runs stays, and a
          newer commit that changes it is taken.
        </p>
        <Reason value={reason} onChange={setReason} />
      </MutationForm>
    </Dialog>
  );
};

export const ConfirmPruneDialog = ({ env, object, close }: OneProps) => {
  const { environment } = usePlace();
  const confirm = useWord({
    run: () => api.gitSync.confirmPrune.mutate({ environmentId: env, ...object }),
    done: () => `${nameOfObject(object)} is deleted with the next pass.`,
    close,
  });
  return (
    <Dialog title={`Delete ${nameOfObject(object)}`} opened close={close}>
      <MutationForm
        mutation={confirm}
        close={close}
        submit="Delete it"
        working="Saying so…"
        danger
        confirm={isProduction(environment) ? object.name : null}
        confirmField={{ mono: true }}
      >
        <p>
          The manifest of <strong>{object.name}</strong> left git. The next pass takes it off its nodes and
          deletes it. Adding the manifest back within 24 hours brings it back with its history.
        </p>
      </MutationForm>
    </Dialog>
  );
};

interface SuspendProps {
  env: string;
  manifests: readonly ManifestStatus[];
  /** True where the whole loop rests already. */
  isAllSuspended: boolean;
  close: () => void;
}

const ALL = '';

/** Of the whole environment, or of one object. */
export const SuspendDialog = ({ env, manifests, isAllSuspended, close }: SuspendProps) => {
  const { environment } = usePlace();
  const [reason, setReason] = useState('');
  const objects = objectsOf(manifests);
  const [chosen, setChosen] = useState(isAllSuspended ? keyOf(objects[0]) : ALL);
  const object = objects.find((each) => keyOf(each) === chosen) ?? null;
  const suspend = useWord({
    run: () =>
      api.gitSync.suspend.mutate({
        environmentId: env,
        ...object,
        ...(reason.trim() ? { reason: reason.trim() } : {}),
      }),
    done: () =>
      object ? `${nameOfObject(object)} is suspended.` : `The loop of ${environment.name} is suspended.`,
    close,
  });
  const whole = isAllSuspended ? [] : [{ value: ALL, word: `The whole loop of ${environment.name}` }];
  return (
    <Dialog title="Suspend" opened close={close}>
      <MutationForm
        mutation={suspend}
        close={close}
        submit="Suspend"
        working="Suspending…"
        disabled={isAllSuspended && !object}
      >
        <SelectField
          label="What git is to leave alone"
          value={chosen}
          onChange={setChosen}
          options={[...whole, ...objects.map((each) => ({ value: keyOf(each), word: nameOfObject(each) }))]}
        />
        <p className="muted">
          {object
            ? 'Nothing that git says of it is applied, and drift of it is not put back, before somebody resumes it.'
            : 'Commits are not applied and drift is not put back before somebody resumes it. What runs goes on.'}
        </p>
        <Reason value={reason} onChange={setReason} />
      </MutationForm>
    </Dialog>
  );
};

interface ChooseProps {
  manifests: readonly ManifestStatus[];
  choose: (object: GitObject) => void;
  close: () => void;
}

/** Which object is to be held. */
export const ChooseHoldDialog = ({ manifests, choose, close }: ChooseProps) => {
  const objects = objectsOf(manifests);
  const [chosen, setChosen] = useState(keyOf(objects[0]));
  const object = objects.find((each) => keyOf(each) === chosen);
  return (
    <Dialog title="Hold an object" opened close={close}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (object) choose(object);
        }}
      >
        <SelectField
          label="Object"
          value={chosen}
          onChange={setChosen}
          options={objects.map((each) => ({ value: keyOf(each), word: nameOfObject(each) }))}
          hint="A hold is about what git says of it now: a newer commit is taken."
        />
        <Group gap="sm" justify="flex-end">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={!object}>
            Next
          </Button>
        </Group>
      </form>
    </Dialog>
  );
};

const keyOf = (object: GitObject | undefined): string => (object ? `${object.kind}/${object.name}` : '');

const objectsOf = (manifests: readonly ManifestStatus[]): GitObject[] =>
  manifests
    .flatMap(({ kind, name }) => (isOwnable(kind) ? [{ kind, name }] : []))
    .sort((a, b) => a.kind.localeCompare(b.kind) || a.name.localeCompare(b.name));

const Reason = ({ value, onChange }: { value: string; onChange: (value: string) => void }) => (
  <Field
    label="Why"
    value={value}
    onChange={onChange}
    maxLength={MAX_REASON}
    placeholder="INC-42: the new parser drops events"
    hint="Shown wherever it stands, and kept in the audit log."
  />
);
