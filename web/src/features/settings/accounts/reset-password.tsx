import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { GivenPassword } from './temporary-password.tsx';
import { useUserMutation } from './user-mutations.ts';

interface Props {
  name: string;
  /** What of the account a reset leaves as it is, and where that is ended. */
  stays: string;
  run: () => Promise<{ temporaryPassword: string; expiresAt: Date }>;
  close: () => void;
}

/** Asks, then shows the temporary password once. */
export const ResetPasswordForm = ({ name, stays, run, close }: Props) => {
  const reset = useUserMutation({ run, done: () => null });
  if (reset.data)
    return (
      <GivenPassword
        name={name}
        password={reset.data.temporaryPassword}
        expiresAt={reset.data.expiresAt}
        close={close}
      />
    );
  return (
    <MutationForm
      mutation={reset}
      close={close}
      submit="Make a temporary password"
      working="Making it…"
      danger
      cancel="Back"
    >
      <p>
        The present password of {name} ends at once, they are signed out everywhere, and their personal tokens
        are deleted. A temporary one is made and shown here once: it is for you to hand over.
      </p>
      <p className="muted">{stays}</p>
    </MutationForm>
  );
};
