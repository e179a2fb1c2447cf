import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Field } from '../../ui/form/field.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';

const MIN_LENGTH = 8;

interface Props {
  /** Of the account: password managers keep the new one with it. */
  email: string;
  /** The one that was given by somebody else. */
  temporary?: boolean;
  done: () => void;
  close?: () => void;
}

export const ChangePassword = ({ email, temporary = false, done, close }: Props) => {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [again, setAgain] = useState('');
  const change = useMutation({
    mutationFn: () => api.user.changePassword.mutate({ currentPassword: current, newPassword: next }),
    onSuccess: done,
  });
  const length = [...next].length;
  const nextProblem =
    next !== '' && length < MIN_LENGTH
      ? `At least ${MIN_LENGTH} characters; ${MIN_LENGTH - length} more.`
      : next !== '' && next === current
        ? 'This is the one that you have.'
        : '';
  const againProblem = again !== '' && again !== next ? 'It is not the same as above.' : '';
  const complete = current !== '' && next !== '' && again === next && nextProblem === '';
  return (
    <MutationForm
      mutation={change}
      close={close}
      submit="Change the password"
      working="Changing…"
      disabled={!complete}
    >
      <input type="text" value={email} autoComplete="username" readOnly hidden />
      <Field
        label={temporary ? 'The password that you were given' : 'Current password'}
        value={current}
        onChange={setCurrent}
        type="password"
        autoComplete="current-password"
        maxLength={1024}
        required
        autoFocus
      />
      <Field
        label="New password"
        value={next}
        onChange={setNext}
        type="password"
        autoComplete="new-password"
        maxLength={1024}
        problem={nextProblem}
        hint={`At least ${MIN_LENGTH} characters, of any kind. What counts: it is long, and you use it nowhere else.`}
        required
      />
      <Field
        label="New password once more"
        value={again}
        onChange={setAgain}
        type="password"
        autoComplete="new-password"
        maxLength={1024}
        problem={againProblem}
        required
      />
      <p className="muted">Your other sessions end.</p>
    </MutationForm>
  );
};
