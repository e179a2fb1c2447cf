/** What a pipeline did that was unusual, with what was expected, the deploy before it, and what was decided about it. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Anomaly, AnomalyPage } from '../../../../schemas/api/insight/anomalies.ts';
import { api } from '../../api/client.ts';
import { paths } from '../../app/paths.ts';
import { whyNot } from '../../app/permissions.ts';
import { usePlace } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import { Loaded, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { useReportedMutation } from '../../ui/form/reported-mutation.ts';
import { Button } from '../../ui/primitives/button.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { shortCommit } from '../../ui/text/format.ts';
import { anomalyQueries, MAX_SHOWN } from './anomaly-queries.ts';
import { emptyText, expectedText, valueText, whatText } from './anomaly-text.ts';
import './anomalies.css';
import { SeverityBadge } from './severity-badge.tsx';

const SHOWN = [
  { value: '', word: 'Open' },
  { value: 'all', word: 'All' },
] as const;

export const PipelineAnomalies = ({ pipeline }: { pipeline: { id: string; name: string } }) => {
  const { environment } = usePlace();
  const [wanted, setWanted] = useAddressParam('anomalies', { replace: true });
  const shown = SHOWN.find(({ value }) => value === wanted)?.value ?? '';
  const all = useQuery(anomalyQueries.ofPipeline(environment.id, pipeline.id));
  const open = useQuery(anomalyQueries.ofPipeline(environment.id, pipeline.id, 'open'));
  return (
    <Section
      title="Anomalies"
      beside={<SegmentedControl label="Anomalies" value={shown} options={SHOWN} onChange={setWanted} />}
    >
      <Loaded
        query={shown === '' ? open : all}
        what="The anomalies of this pipeline"
        skeleton={<SkeletonRows rows={2} label="Loading anomalies" />}
      >
        {(page) => <AnomalyList page={page} hasOthers={(all.data?.anomalies.length ?? 0) > 0} />}
      </Loaded>
    </Section>
  );
};

const AnomalyList = ({ page, hasOthers }: { page: AnomalyPage; hasOthers: boolean }) => {
  if (page.anomalies.length === 0) return <p className="muted anomalies-empty">{emptyText(hasOthers)}</p>;
  return (
    <>
      <ul className="anomalies" aria-label="Anomalies">
        {page.anomalies.map((anomaly) => (
          <AnomalyRow key={anomaly.id} anomaly={anomaly} />
        ))}
      </ul>
      {page.nextCursor && <p className="muted anomalies-empty">The newest {MAX_SHOWN} are shown.</p>}
    </>
  );
};

const AnomalyRow = ({ anomaly }: { anomaly: Anomaly }) => (
  <li data-status={anomaly.status}>
    <span className="anomaly-severity">
      <SeverityBadge severity={anomaly.severity} />
    </span>
    <div className="anomaly-text">
      <p>
        <strong>{whatText(anomaly)}</strong>:{' '}
        <span className="mono">{valueText(anomaly.metric, anomaly.value)}</span>{' '}
        <span className="muted">
          where <span className="mono">{expectedText(anomaly)}</span> is usual
        </span>
      </p>
      <p className="muted">
        <When anomaly={anomaly} />
        <DeployBefore anomaly={anomaly} />
        <Decision anomaly={anomaly} />
      </p>
    </div>
    <Decide anomaly={anomaly} />
  </li>
);

const When = ({ anomaly: { startedAt, endedAt } }: { anomaly: Anomaly }) =>
  endedAt ? (
    <>
      Began <Time at={startedAt} />, ended <Time at={endedAt} />.
    </>
  ) : (
    <>
      Since <Time at={startedAt} />, and it goes on.
    </>
  );

const DeployBefore = ({ anomaly }: { anomaly: Anomaly }) => {
  const { environment } = usePlace();
  if (anomaly.version === null) return null;
  return (
    <>
      {' '}
      Before it,{' '}
      <Link to={paths.pipeline(environment.id, anomaly.pipelineId, { tab: 'versions' })}>
        version {anomaly.version}
        {anomaly.commit && <span className="mono"> {shortCommit(anomaly.commit)}</span>}
      </Link>{' '}
      was deployed {anomaly.deployedAt && <Time at={anomaly.deployedAt} />}.
    </>
  );
};

const Decision = ({ anomaly: { status, decidedBy, decidedAt } }: { anomaly: Anomaly }) =>
  status === 'open' ? null : (
    <>
      {' '}
      {status === 'acknowledged' ? 'Acknowledged' : 'Dismissed'} by {decidedBy} <Time at={decidedAt} />.
    </>
  );

const Decide = ({ anomaly }: { anomaly: Anomaly }) => {
  const { environment, team } = usePlace();
  const queryClient = useQueryClient();
  const decide = useReportedMutation<Anomaly, 'acknowledge' | 'dismiss'>(
    () =>
      queryClient.invalidateQueries({ predicate: ({ queryKey: [name] }) => /^anomaly\./.test(String(name)) }),
    {
      run: (what) => api.anomaly[what].mutate({ environmentId: environment.id, anomalyId: anomaly.id }),
      done: (_, what) =>
        what === 'acknowledge'
          ? 'The anomaly is acknowledged.'
          : 'The anomaly is dismissed. The same deviation is not reported for a while.',
      failed: 'The anomaly is as it was',
    },
  );
  const locked = whyNot(team.role, 'EDITOR');
  const button = { size: 'small', disabled: locked !== null || decide.isPending } as const;
  return (
    <div className="anomaly-actions">
      {anomaly.status === 'open' && (
        <Button
          {...button}
          icon="check"
          tip={locked ?? 'Somebody looks after it'}
          onClick={() => decide.mutate('acknowledge')}
        >
          Acknowledge
        </Button>
      )}
      {anomaly.status !== 'dismissed' && (
        <Button
          {...button}
          icon="cross"
          tip={locked ?? 'It is no problem'}
          onClick={() => decide.mutate('dismiss')}
        >
          Dismiss
        </Button>
      )}
    </div>
  );
};
