import { Group } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from 'react-router';
import type {
  CostRecommendation,
  RecommendationStatus,
  RecommendationType,
} from '../../../../schemas/api/insight/cost-recommendations.ts';
import { api } from '../../api/client.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { InlineError } from '../../ui/feedback/page-states.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import type { IconName } from '../../ui/primitives/icons.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import type { Tone } from '../../ui/primitives/tone.ts';
import { formatMoney, formatPricedBytes } from './cost-text.ts';
import { useRenewRecommendations } from './recommendation-queries.ts';

const TYPES: Readonly<Record<RecommendationType, { word: string; tone: Tone; icon: IconName }>> = {
  LOW_REDUCTION: { word: 'Low reduction', tone: 'held', icon: 'filter' },
  HIGH_ERROR_RATE: { word: 'High error rate', tone: 'failed', icon: 'warning' },
  STALE_PIPELINE: { word: 'Stale pipeline', tone: 'unknown', icon: 'stop' },
  HIGH_CARDINALITY: { word: 'High cardinality', tone: 'held', icon: 'metrics' },
};

interface Props {
  recommendation: CostRecommendation;
  apply: () => void;
}

export const RecommendationCard = ({ recommendation, apply }: Props) => {
  const { environment } = usePlace();
  const { type, title, explanation, pipelineId, pipelineName, status } = recommendation;
  const { word, tone, icon } = TYPES[type];
  return (
    <li className="recommendation" aria-label={`${word}: ${pipelineName}`}>
      <div className="recommendation-head">
        <Badge tone={tone} icon={icon}>
          {word}
        </Badge>
        <Link to={paths.pipeline(environment.id, pipelineId, { tab: 'metrics' })}>{pipelineName}</Link>
        <Saved recommendation={recommendation} />
      </div>
      <h3>{title}</h3>
      <p className="recommendation-text">{explanation}</p>
      {status === 'PENDING' ? (
        <Decisions recommendation={recommendation} apply={apply} />
      ) : (
        <Resolution recommendation={recommendation} />
      )}
    </li>
  );
};

const Saved = ({
  recommendation: { savedBytesPerMonth: bytes, savedCostPerMonth: cost },
}: Pick<Props, 'recommendation'>) =>
  bytes === null || bytes <= 0 ? null : (
    <span className="recommendation-saving mono">
      {cost === null ? '' : `${formatMoney(cost)} · `}
      {formatPricedBytes(bytes)} a month
    </span>
  );

const Decisions = ({ recommendation, apply }: Props) => {
  const { team } = usePlace();
  const { id, environmentId, pipelineName, change, pullRequest } = recommendation;
  const renew = useRenewRecommendations();
  const decide = useMutation({
    mutationFn: (decision: 'dismiss' | 'markApplied') =>
      api.costRecommendation[decision].mutate({ environmentId, id }),
    onSuccess: async (_, decision) => {
      notify(
        decision === 'dismiss'
          ? `Dismissed: ${pipelineName} gets no such recommendation for 30 days.`
          : `Marked as applied: ${pipelineName} gets no such recommendation for 30 days.`,
      );
      await renew();
    },
  });
  const mayEdit = team.role !== 'VIEWER';
  const isOpen = pullRequest?.state === 'open';
  return (
    <>
      {pullRequest && <PullRequestLine recommendation={recommendation} />}
      {decide.isError && <InlineError error={decide.error} />}
      {mayEdit && (
        <Group gap="sm">
          {change && !isOpen && (
            <Button kind="primary" onClick={apply}>
              Apply…
            </Button>
          )}
          <Button disabled={decide.isPending} onClick={() => decide.mutate('markApplied')}>
            Mark as applied
          </Button>
          <Button disabled={decide.isPending} onClick={() => decide.mutate('dismiss')}>
            Dismiss
          </Button>
        </Group>
      )}
    </>
  );
};

const STATES = {
  open: { tone: 'moving', word: 'In review' },
  merged: { tone: 'ok', word: 'Merged' },
  closed: { tone: 'unknown', word: 'Closed without a merge' },
} as const;

const PullRequestLine = ({ recommendation }: Pick<Props, 'recommendation'>) => {
  const { environment } = usePlace();
  const { pullRequest } = recommendation;
  if (!pullRequest) return null;
  const { number, state } = pullRequest;
  return (
    <p className="recommendation-line">
      <Badge tone={STATES[state].tone}>{STATES[state].word}</Badge>
      <Link to={paths.pullRequest(environment.id, number)}>Pull request #{number}</Link>
    </p>
  );
};

const WORDS: Readonly<Record<Exclude<RecommendationStatus, 'PENDING'>, { word: string; tone: Tone }>> = {
  APPLIED: { word: 'Applied', tone: 'ok' },
  DISMISSED: { word: 'Dismissed', tone: 'unknown' },
};

const Resolution = ({ recommendation }: Pick<Props, 'recommendation'>) => {
  const { environment } = usePlace();
  const { status, resolvedAt, resolvedBy, appliedVersion, pipelineId } = recommendation;
  if (status === 'PENDING') return null;
  return (
    <>
      <p className="recommendation-line">
        <Badge tone={WORDS[status].tone}>{WORDS[status].word}</Badge>
        <span className="muted">
          by {resolvedBy ?? 'Headgate'}, <Time at={resolvedAt} />
        </span>
        {appliedVersion !== null && (
          <Link to={paths.pipeline(environment.id, pipelineId, { tab: 'versions' })}>
            Version {appliedVersion}
          </Link>
        )}
      </p>
      <PullRequestLine recommendation={recommendation} />
    </>
  );
};
