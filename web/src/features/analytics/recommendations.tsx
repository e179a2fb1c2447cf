/** What would lower the costs of the environment, and what was decided about it. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  CostRecommendation,
  RecommendationStatus,
  RecommendationSummary,
} from '../../../../schemas/api/insight/cost-recommendations.ts';
import { api } from '../../api/client.ts';
import { usePlace } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import { EmptyState, InlineError, Loaded, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { plural } from '../../ui/text/format.ts';
import { ApplyDialog } from './apply-recommendation.tsx';
import { formatMoney, formatPricedBytes } from './cost-text.ts';
import { RecommendationCard } from './recommendation-card.tsx';
import { recommendationQueries, useRenewRecommendations } from './recommendation-queries.ts';

const STATUSES = [
  { value: 'PENDING', word: 'Pending', of: 'pending' },
  { value: 'APPLIED', word: 'Applied', of: 'applied' },
  { value: 'DISMISSED', word: 'Dismissed', of: 'dismissed' },
] as const;

export const Recommendations = () => {
  const { environment } = usePlace();
  const [wanted, setStatus] = useAddressParam('recommendations', { replace: true });
  const status = STATUSES.find(({ value }) => value === wanted)?.value ?? 'PENDING';
  const summary = useQuery(recommendationQueries.summary(environment.id));
  const list = useQuery(recommendationQueries.list(environment.id, status));
  const [applying, setApplying] = useState<CostRecommendation | null>(null);
  const options = STATUSES.map(({ value, word, of }) => ({
    value,
    word: summary.data ? `${word} (${summary.data[of]})` : word,
  }));
  return (
    <Section title="Recommendations" beside={<AnalyzeNow />}>
      <div className="metrics-head">
        <SegmentedControl
          label="Status of recommendations"
          value={status}
          options={options}
          onChange={(value) => setStatus(value === 'PENDING' ? '' : value)}
        />
        {summary.data && <Saving summary={summary.data} />}
      </div>
      <Loaded
        query={list}
        what="Recommendations"
        skeleton={<SkeletonRows rows={4} label="Loading the recommendations" />}
      >
        {({ recommendations, total }) =>
          recommendations.length === 0 ? (
            <Nothing status={status} summary={summary.data} />
          ) : (
            <>
              <ul className="recommendations" aria-label="Recommendations">
                {recommendations.map((one) => (
                  <RecommendationCard key={one.id} recommendation={one} apply={() => setApplying(one)} />
                ))}
              </ul>
              {total > recommendations.length && (
                <p className="muted chart-note">
                  The {recommendations.length} that save the most of {total.toLocaleString('en')}.
                </p>
              )}
            </>
          )
        }
      </Loaded>
      {applying && <ApplyDialog recommendation={applying} close={() => setApplying(null)} />}
    </Section>
  );
};

const Saving = ({ summary }: { summary: RecommendationSummary }) => {
  const { savedBytesPerMonth: bytes, savedCostPerMonth: cost, analyzedAt } = summary;
  return (
    <span className="muted">
      {bytes > 0 &&
        `Up to ${formatPricedBytes(bytes)}${cost === null ? '' : ` and ${formatMoney(cost)}`} a month to save. `}
      {analyzedAt ? (
        <>
          Analyzed <Time at={analyzedAt} />
        </>
      ) : (
        'Not analyzed yet'
      )}
    </span>
  );
};

const EMPTY: Readonly<Record<RecommendationStatus, string>> = {
  PENDING: 'Nothing to recommend',
  APPLIED: 'None was applied',
  DISMISSED: 'None was dismissed',
};

const Nothing = ({
  status,
  summary,
}: {
  status: RecommendationStatus;
  summary: RecommendationSummary | undefined;
}) => (
  <EmptyState icon="metrics" title={EMPTY[status]}>
    {status === 'PENDING' ? (
      <p>
        {summary?.analyzedAt === null
          ? 'Pipelines are analyzed once a day: those that send nearly all that comes in, lose events to errors, get none, or make tags without a limit.'
          : 'No pipeline sends nearly all that comes in, loses many events to errors, gets none for a week, or makes tags without a limit.'}
      </p>
    ) : (
      <p>A recommendation that was decided about is not made again for 30 days.</p>
    )}
  </EmptyState>
);

const AnalyzeNow = () => {
  const { environment, team } = usePlace();
  const renew = useRenewRecommendations();
  const analyze = useMutation({
    mutationFn: () => api.costRecommendation.triggerAnalysis.mutate({ environmentId: environment.id }),
    onSuccess: async ({ pipelines, created, removed }) => {
      await renew();
      const changes = [
        created > 0 && plural(created, 'new recommendation'),
        removed > 0 && `${removed} no longer true`,
      ].filter(Boolean);
      notify(
        `${plural(pipelines, 'deployed pipeline was', 'deployed pipelines were')} analyzed${changes.length > 0 ? `: ${changes.join(', ')}` : ''}.`,
      );
    },
  });
  if (team.role !== 'ADMIN') return null;
  return (
    <span className="cost-export">
      {analyze.isError && <InlineError error={analyze.error} />}
      <Button icon="sync" disabled={analyze.isPending} onClick={() => analyze.mutate()}>
        {analyze.isPending ? 'Analyzing…' : 'Analyze now'}
      </Button>
    </span>
  );
};
