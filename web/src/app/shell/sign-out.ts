import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { SIGNED_OUT, sessionQuery, signOut } from '../../api/session.ts';
import { notify } from '../../ui/feedback/toast.tsx';
import { forgetDrafts } from '../draft-storage.ts';
import { paths } from '../paths.ts';

/** Ends the session and forgets everything that was read with it; users of an identity provider sign out there too. */
export function useSignOut(): () => Promise<void> {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    let next: string | null;
    try {
      next = await signOut();
    } catch {
      notify('You are still signed in: the controller did not answer. Try again.', undefined, 'failed');
      return;
    }
    forgetDrafts();
    if (next) {
      window.location.assign(next);
      return;
    }
    await navigate(paths.signIn());
    queryClient.clear();
    queryClient.setQueryData(sessionQuery.queryKey, SIGNED_OUT);
  };
}
