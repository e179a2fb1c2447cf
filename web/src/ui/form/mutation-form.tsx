import { Group } from '@mantine/core';
import { type ComponentProps, type ReactNode, useState } from 'react';
import { InlineError } from '../feedback/page-states.tsx';
import { Button } from '../primitives/button.tsx';
import { useHeldOpen } from '../primitives/dialog.tsx';
import { Field } from './field.tsx';

interface Props {
  /** What is sent, of `useMutation` or alike. */
  mutation: {
    mutate: () => void;
    isPending: boolean;
    /** It waits for the network, perhaps for long. */
    isPaused?: boolean;
    isError: boolean;
    error: unknown;
  };
  /** On the button, and on it while the mutation is under way. */
  submit: string;
  working: string;
  /** Absent where the form is no dialog: then there is nothing to cancel. */
  close?: () => void;
  cancel?: string;
  /** It takes something away. */
  danger?: boolean;
  /** Something in `children` is missing or wrong. */
  disabled?: boolean;
  /** What must be typed first; null asks for nothing. */
  confirm?: string | null;
  confirmField?: Pick<ComponentProps<typeof Field>, 'mono' | 'hint' | 'autoFocus'>;
  /** What the server found, in more words than its error has. */
  findings?: ReactNode;
  /** The form is a part of a page, which not everybody may change. */
  fieldset?: { disabled: boolean; legend?: string };
  /** Closing it ends what it does, and loses nothing. */
  endsByClosing?: boolean;
  autoComplete?: 'off';
  children?: ReactNode;
}

/** A form that sends one mutation: its error, and its buttons with the word for what they do now. */
export const MutationForm = ({
  mutation,
  submit,
  working,
  close,
  danger = false,
  cancel = danger ? 'Keep it' : 'Cancel',
  disabled = false,
  confirm = null,
  confirmField,
  findings,
  fieldset,
  autoComplete,
  endsByClosing = false,
  children,
}: Props) => {
  const [typed, setTyped] = useState('');
  const isOff = mutation.isPending || disabled || (confirm !== null && typed !== confirm);
  const isSending = mutation.isPending && !mutation.isPaused && !endsByClosing;
  useHeldOpen(isSending);
  const content = (
    <>
      {children}
      {confirm !== null && (
        <Field
          label={`Type ${confirm} to confirm`}
          value={typed}
          onChange={setTyped}
          autoFocus
          autoComplete="off"
          {...confirmField}
        />
      )}
      {findings}
      {mutation.isError && <InlineError error={mutation.error} />}
      <Group gap="sm" justify="flex-end">
        {close && (
          <Button onClick={close} disabled={isSending}>
            {cancel}
          </Button>
        )}
        <Button type="submit" kind={danger ? 'danger' : 'primary'} disabled={isOff}>
          {mutation.isPending ? working : submit}
        </Button>
      </Group>
    </>
  );
  return (
    <form
      className={fieldset ? 'section-body' : 'form'}
      autoComplete={autoComplete}
      onSubmit={(event) => {
        event.preventDefault();
        // A key sends it too, whatever its button is.
        if (!isOff) mutation.mutate();
      }}
    >
      {fieldset ? (
        <fieldset className="form plain-fieldset" disabled={fieldset.disabled}>
          {fieldset.legend && <legend className="sr-only">{fieldset.legend}</legend>}
          {content}
        </fieldset>
      ) : (
        content
      )}
    </form>
  );
};

/** Ends a dialog that shows what was made. */
export const DoneAction = ({ close }: { close: () => void }) => (
  <Group gap="sm" justify="flex-end">
    <Button kind="primary" onClick={close}>
      Done
    </Button>
  </Group>
);
