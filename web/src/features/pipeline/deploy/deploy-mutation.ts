/** The two ways in which a version goes out. */
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import type { Static } from 'typebox';
import type { CreateRollout } from '../../../../../schemas/api/delivery/rollouts.ts';
import { api } from '../../../api/client.ts';
import { paths } from '../../../app/paths.ts';
import { usePlace } from '../../../app/scope.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { useBecameGit } from '../../ownership/git-edits.tsx';
import { useRenewPipelines } from '../../pipelines/actions/pipeline-actions.ts';

type Create = Static<typeof CreateRollout>;
type Deploy = Pick<Create, 'pipelineId' | 'changelog' | 'supersede'>;

/** `deployed` gets the version, unless the deploy became a change in git. */
export function useDeploy(input: Deploy, close: () => void, deployed: (version: number) => void) {
  const renew = useRenewPipelines();
  const became = useBecameGit();
  return useMutation({
    mutationFn: () => api.deploy.agent.mutate(input),
    onSuccess: async (done) => {
      if (became(done)) close();
      else if ('versionNumber' in done) deployed(done.versionNumber);
      await renew();
    },
  });
}

/** The page of the pipeline shows how it goes on. */
export function useRollout(input: Create, close: () => void) {
  const { environment } = usePlace();
  const renew = useRenewPipelines();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: () => api.stagedRollout.create.mutate(input),
    onSuccess: async () => {
      close();
      notify('The canary nodes take the version at their next poll.', {
        word: 'Watch it',
        run: () => void navigate(paths.pipeline(environment.id, input.pipelineId)),
      });
      await renew();
    },
  });
}
