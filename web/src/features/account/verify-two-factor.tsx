import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Field } from '../../ui/form/field.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { useUserMutation } from '../settings/accounts/user-mutations.ts';

/** The identity provider has shown no second factor: it is asked for here. */
export const ProveTwoFactor = ({ intro, done }: { intro: string; done: () => void }) => {
  const [code, setCode] = useState('');
  const prove = useUserMutation({
    run: () => api.user.proveTwoFactor.mutate({ code }),
    done: () => 'You are signed in.',
    after: done,
  });
  return (
    <MutationForm mutation={prove} submit="Go on" working="Looking…" disabled={code.trim() === ''}>
      <p>{intro}</p>
      <Field
        label="Code of your authenticator, or a backup code"
        value={code}
        onChange={setCode}
        autoComplete="one-time-code"
        autoFocus
        maxLength={64}
      />
    </MutationForm>
  );
};
