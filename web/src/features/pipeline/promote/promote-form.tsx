import { Group, Stack } from '@mantine/core';
/** A promotion before it is asked for: where to, what stands in the way, what changes there, what becomes of it. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { FieldPair } from '../../../ui/form/field-pair.tsx';
import '../rollout/rollout.css';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import type { PromotionPreflight } from '../../../../../schemas/api/delivery/promotions.ts';
import type { EnvironmentSummary } from '../../../../../schemas/api/fleet/environments.ts';
import type { PipelineSummary } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { matchesSelector } from '../../../../../schemas/pipelines/selector.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { paths } from '../../../app/paths.ts';
import { isProduction, usePlace } from '../../../app/scope.tsx';
import { useAddressParam } from '../../../app/search-params.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { useSettled } from '../../../ui/form/debounced-value.ts';
import { Field, SelectField } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { plural } from '../../../ui/text/format.ts';
import { useRenewPipelines } from '../../pipelines/actions/pipeline-actions.ts';
import { pipelineNameProblem } from '../../pipelines/pipeline-name.ts';
import { useRenewPromotions } from '../../promotions/promotion-mutations.ts';
import { PromoteDiff } from './promote-diff.tsx';
import { PromoteFindings } from './promote-findings.tsx';
import { outcomeText, promoteWord, targetsOf } from './promote-text.ts';

interface Props {
  pipeline: PipelineSummary;
  close: () => void;
}

/** The address holds the target, so that a link to the form can be shared. */
export const PromoteForm = ({ pipeline, close }: Props) => {
  const { environments, environment } = usePlace();
  const { targets, next } = targetsOf(environments, environment.id);
  const [wanted, setWanted] = useAddressParam('to', { replace: true });
  const target = targets.find(({ id }) => id === wanted) ?? next;
  if (!target) {
    return (
      <Stack gap="lg">
        <p>
          A promotion brings a pipeline from one environment of the team into another, and there is no other
          yet. A super admin makes one under Settings, Teams; an editor with <code>environment.create</code>{' '}
          of the API.
        </p>
        <Group gap="sm" justify="flex-end">
          <Button onClick={close}>Close</Button>
        </Group>
      </Stack>
    );
  }
  return (
    // What was typed and found is of one target.
    <Into
      key={target.id}
      pipeline={pipeline}
      close={close}
      target={target}
      choice={
        <SelectField
          label="Into"
          value={target.id}
          onChange={setWanted}
          options={targets.map((each) => ({
            value: each.id,
            word:
              isProduction(each) && !/production/i.test(each.name) ? `${each.name} (production)` : each.name,
          }))}
          hint={isProduction(target) ? `Production, with ${plural(target.nodeCount, 'node')}.` : undefined}
        />
      }
    />
  );
};

interface IntoProps extends Props {
  target: EnvironmentSummary;
  choice: React.ReactNode;
}

const Into = ({ pipeline, target, choice, close }: IntoProps) => {
  const [typed, setTyped] = useState('');
  const name = useSettled(typed.trim());
  const problem = typed === '' ? '' : pipelineNameProblem(typed);
  const asked = problem === '' ? name : '';
  const preflight = useQuery({
    ...queries.promotionPreflight(pipeline.id, target.id, asked),
    staleTime: 0,
    placeholderData: (before) => before,
  });
  const into = useInto(pipeline, target, preflight.data);
  const promote = usePromote(pipeline, target, typed.trim(), close);
  const found = preflight.data;
  const isBehind = preflight.isPlaceholderData || typed.trim() !== name;
  return (
    <MutationForm
      mutation={promote}
      close={close}
      submit={found ? promoteWord(found, target.name) : 'Promote'}
      working="Promoting…"
      disabled={!found?.canProceed || problem !== '' || isBehind}
      confirm={found?.outcome === 'DEPLOYED' && isProduction(target) ? target.name : null}
      confirmField={{ autoFocus: false, hint: `It restarts what runs in ${target.name} at once.` }}
    >
      <FieldPair>
        {choice}
        <Field
          label="Name there"
          value={typed}
          onChange={setTyped}
          autoComplete="off"
          maxLength={100}
          placeholder={found?.targetName ?? pipeline.name}
          problem={problem}
          hint={typed === '' ? `Empty: ${found?.targetName ?? pipeline.name}.` : undefined}
        />
      </FieldPair>
      <Loaded
        query={preflight}
        what="What stands in the way"
        skeleton={<SkeletonBlock height={168} label="Checking the promotion" />}
      >
        {(shown) => (
          <>
            <PromoteFindings target={target} preflight={shown} />
            <PromoteDiff
              pipelineId={pipeline.id}
              target={target}
              name={asked}
              isNew={shown.nameCollision === null}
              isBlocked={shown.blockers.length > 0}
              waiting={shown.waiting?.pullRequest?.number}
            />
            {shown.canProceed && (
              <Notice
                icon={shown.outcome === 'AWAITING_PR_MERGE' ? 'git' : 'moving'}
                tone="moving"
                role="status"
              >
                {outcomeText(shown, into)}
              </Notice>
            )}
          </>
        )}
      </Loaded>
    </MutationForm>
  );
};

/** Branch and nodes of the target. What is new there takes the node selector along. */
function useInto(
  pipeline: PipelineSummary,
  target: EnvironmentSummary,
  preflight: PromotionPreflight | undefined,
) {
  const isGit = target.gitMode === 'sync';
  const git = useQuery({ ...queries.git(target.id), enabled: isGit, select: ({ branch }) => branch });
  const there = preflight?.nameCollision?.pipelineId ?? null;
  const pipelines = useQuery({ ...queries.pipelines(target.id), enabled: !isGit && there !== null });
  const nodes = useQuery({ ...queries.nodes(target.id), enabled: !isGit });
  const runs = there === null ? pipeline : pipelines.data?.find(({ id }) => id === there);
  return {
    target: target.name,
    branch: git.data ?? null,
    nodes:
      runs && nodes.data
        ? nodes.data.filter(({ labels }) => matchesSelector(runs.nodeSelector, labels)).length
        : null,
  };
}

/** Leads to what it became: the pull request, the request, or the pipeline there. */
function usePromote(
  { id: pipelineId }: PipelineSummary,
  target: EnvironmentSummary,
  name: string,
  close: () => void,
) {
  const navigate = useNavigate();
  const renewPromotions = useRenewPromotions();
  const renew = useRenewPipelines();
  return useMutation({
    mutationFn: () =>
      api.promotion.initiate.mutate({
        pipelineId,
        targetEnvironmentId: target.id,
        ...(name ? { name } : {}),
      }),
    onSuccess: async ({ status, pullRequest, targetPipelineId, updated }) => {
      close();
      if (pullRequest) {
        notify(
          updated
            ? `Pull request #${pullRequest.number} is brought up to date.`
            : `Pull request #${pullRequest.number} is open: nothing changes in ${target.name} before it is merged.`,
        );
        void navigate(paths.pullRequest(target.id, pullRequest.number));
      } else if (status === 'DEPLOYED' && targetPipelineId) {
        notify(`It is deployed to ${target.name}.`);
        void navigate(paths.pipeline(target.id, targetPipelineId));
      } else {
        notify(`The request waits for another member of the team.`);
        void navigate(paths.promotions(target.id, { tab: 'requests' }));
      }
      await Promise.all([renew(), renewPromotions()]);
    },
  });
}
