import type { UserSummary } from '../../../../../schemas/api/identity/people.ts';
import { api } from '../../../api/client.ts';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useUserMutation } from '../accounts/user-mutations.ts';

interface Props {
  user: UserSummary;
  /** As it is called. */
  provider: string;
  close: () => void;
}

/** Asks before the link to an identity provider's account is taken away. */
export const UnlinkForm = ({ user, provider, close }: Props) => {
  const unlink = useUserMutation({
    run: () => api.admin.unlinkProvider.mutate({ userId: user.id }),
    done: () => `${user.name} is not linked to ${provider} any more.`,
    after: close,
  });
  return (
    <MutationForm
      mutation={unlink}
      close={close}
      submit={`Unlink from ${provider}`}
      working="Unlinking…"
      danger
      cancel="Back"
    >
      <p>
        The linked account at {provider} no longer signs in here. {user.name} is signed out everywhere, their
        personal tokens are deleted, and roles that came with groups of the sign-in go.
      </p>
      <p className="muted">
        An account with a password is signed in to by it from then on: reset it too where somebody else may
        know it. One without is joined by the next sign-in there with its verified address, within 90 days; a
        super admin’s is not, and needs its password reset. To keep somebody out, lock the account.
      </p>
    </MutationForm>
  );
};
