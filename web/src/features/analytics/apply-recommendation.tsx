/** Applies a recommendation, after a look at what it changes. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import type { CostRecommendation } from '../../../../schemas/api/insight/cost-recommendations.ts';
import { api } from '../../api/client.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { Hunks } from '../../ui/code/diff-hunks.tsx';
import { Notice } from '../../ui/feedback/notice.tsx';
import { Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';
import { useBecameGit } from '../ownership/git-edits.tsx';
import { recommendationQueries, useRenewRecommendations } from './recommendation-queries.ts';

interface Props {
  recommendation: CostRecommendation;
  close: () => void;
}

export const ApplyDialog = ({ recommendation, close }: Props) => {
  const { id, environmentId, pipelineId, pipelineName, change, managedBy } = recommendation;
  const { environment } = usePlace();
  const navigate = useNavigate();
  const renew = useRenewRecommendations();
  const became = useBecameGit();
  const detail = useQuery(recommendationQueries.detail(environmentId, id));
  const isGit = managedBy === 'git';
  const undeploys = change?.action === 'undeploy' && !isGit;
  const apply = useMutation({
    mutationFn: () => api.costRecommendation.apply.mutate({ environmentId, id }),
    onSuccess: async (output) => {
      close();
      await renew();
      if (became(output) || !('applied' in output)) return;
      const { applied } = output;
      const open = (tab: 'versions' | 'nodes') => () =>
        void navigate(paths.pipeline(environment.id, pipelineId, { tab }));
      if (applied.action === 'undeployed')
        notify(`${pipelineName} is a draft again; nodes stop it at their next poll.`, {
          ...{ word: 'Open', run: open('nodes') },
        });
      else
        notify(`Saved as version ${applied.versionNumber} of ${pipelineName}: deploy it to make it run.`, {
          ...{ word: 'Look at it', run: open('versions') },
        });
    },
  });
  return (
    <Dialog title={`Apply to ${pipelineName}`} opened close={close} size="lg">
      <MutationForm
        mutation={apply}
        close={close}
        submit={isGit ? 'Open a pull request' : undeploys ? `Undeploy ${pipelineName}` : 'Save as a version'}
        working={isGit ? 'Opening…' : undeploys ? 'Undeploying…' : 'Saving…'}
        danger={undeploys}
        disabled={detail.data?.diff === null || detail.data === undefined}
      >
        <p>{recommendation.explanation}</p>
        <Loaded
          query={detail}
          what="The change"
          skeleton={<SkeletonBlock height={160} label="Loading the change" />}
        >
          {({ diff }) =>
            diff === null ? (
              <Notice icon="warning" tone="held">
                The pipeline was changed since it was analyzed, and the change does not fit it any more. An
                ADMIN can analyze the environment now; otherwise it is analyzed within a day.
              </Notice>
            ) : (
              <section aria-label="What changes">
                <Hunks diff={diff} beforeLabel="The manifest now" afterLabel="The manifest as recommended" />
              </section>
            )
          }
        </Loaded>
        {isGit ? (
          <Notice icon="git" tone="moving">
            Git describes it: this opens a pull request with the figures in its text. Nothing changes before
            it is merged.
          </Notice>
        ) : undeploys ? (
          <Notice icon="warning" tone="held">
            Nodes stop it at their next poll. The graph and all versions stay.
          </Notice>
        ) : (
          <Notice icon="deploy" tone="moving">
            It becomes a new version. What runs stays until that is deployed.
          </Notice>
        )}
      </MutationForm>
    </Dialog>
  );
};
