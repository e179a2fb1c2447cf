import { useMutation, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from 'react-router';
import type { Static } from 'typebox';
import type { CostSummary, CostTimeSeries } from '../../../../schemas/api/insight/analytics.ts';
import { api } from '../../api/client.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import { TimeChart } from '../../ui/chart/time-chart.tsx';
import { EmptyState, InlineError, Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import { formatBytes, formatExact } from '../../ui/text/format.ts';
import { saveFile } from '../../ui/text/save-file.ts';
import { timesOf } from '../metrics/chart-data.ts';
import { type AnalyticsPeriod, analyticsQueries } from './analytics-queries.ts';
import { CostTable } from './cost-table.tsx';
import { changeText, formatMoney } from './cost-text.ts';
import '../metrics/metrics.css';
import './analytics.css';

const RANGES = [
  { value: '1h', word: '1 h' },
  { value: '6h', word: '6 h' },
  { value: '1d', word: '1 d' },
  { value: '7d', word: '7 d' },
  { value: '30d', word: '30 d' },
] as const;

/** What came in, what went out, what was saved, and what it costs. */
export const Costs = () => {
  const { environment } = usePlace();
  const [wanted, setRange] = useAddressParam('range', { replace: true });
  const range = RANGES.find(({ value }) => value === wanted)?.value ?? '1d';
  const period = useMemo(() => ({ environmentId: environment.id, range }), [environment.id, range]);
  const summary = useQuery(analyticsQueries.summary(period));
  return (
    <Section title="Volumes and costs" beside={<Export period={period} />}>
      <div className="metrics-head">
        <SegmentedControl label="Time range" value={range} options={RANGES} onChange={setRange} />
        {summary.data && (
          <span className="muted">
            {formatExact(summary.data.from)} to {formatExact(summary.data.to)}
          </span>
        )}
      </div>
      <Loaded
        query={summary}
        what="Volumes and costs"
        skeleton={
          <div className="section-body">
            <SkeletonBlock height={92} label="Loading the sums" />
            <SkeletonBlock height={208} label="Loading the chart" />
          </div>
        }
      >
        {(data) =>
          data.bytesIn === 0 && data.bytesOut === 0 && data.previous.bytesIn === 0 ? (
            <EmptyState icon="metrics" title="Nothing was moved in this time">
              <p>
                Volumes come from what nodes report, by the minute. Choose a longer time, or look at the
                nodes.
              </p>
            </EmptyState>
          ) : (
            <>
              <Sums env={environment.id} summary={data} />
              <Volumes period={period} />
              <CostTable period={period} hasPrice={data.pricePerGb !== null} />
            </>
          )
        }
      </Loaded>
    </Section>
  );
};

const Export = ({ period }: { period: AnalyticsPeriod }) => {
  const save = useMutation({
    mutationFn: () => api.analytics.costCsv.query(period),
    onSuccess: ({ filename, csv }) => saveFile(filename, csv, 'text/csv;charset=utf-8'),
  });
  return (
    <span className="cost-export">
      {save.isError && <InlineError error={save.error} />}
      <Button icon="download" disabled={save.isPending} onClick={() => save.mutate()}>
        Export as CSV
      </Button>
    </span>
  );
};

const Sum = ({ name, value, note }: { name: string; value: string; note: string }) => (
  <div className="cost-sum">
    <dt>{name}</dt>
    <dd>
      <span className="cost-value mono">{value}</span>
      <span className="muted">{note || ' '}</span>
    </dd>
  </div>
);

const Sums = ({ env, summary }: { env: string; summary: Static<typeof CostSummary> }) => {
  const { previous, reductionPercent, cost, costSaved } = summary;
  return (
    <dl className="cost-sums">
      <Sum
        name="In"
        value={formatBytes(summary.bytesIn)}
        note={changeText(summary.bytesIn, previous.bytesIn)}
      />
      <Sum
        name="Out"
        value={formatBytes(summary.bytesOut)}
        note={changeText(summary.bytesOut, previous.bytesOut)}
      />
      <Sum
        name="Saved"
        value={formatBytes(summary.bytesSaved)}
        note={reductionPercent === null ? '' : `${reductionPercent.toFixed(1)} % of what came in`}
      />
      {cost === null || costSaved === null ? (
        <div className="cost-sum">
          <dt>Cost</dt>
          <dd>
            <Link to={paths.settings(env, { tab: 'environment' })}>Set the price of a gigabyte</Link>
            <span className="muted">volumes have no price yet</span>
          </dd>
        </div>
      ) : (
        <Sum name="Cost" value={formatMoney(cost)} note={`${formatMoney(costSaved)} saved`} />
      )}
    </dl>
  );
};

const Volumes = ({ period }: { period: AnalyticsPeriod }) => {
  const series = useQuery(analyticsQueries.series(period));
  return (
    <Loaded
      query={series}
      what="Volumes over time"
      skeleton={
        <div className="charts">
          <SkeletonBlock height={208} label="Loading the chart" />
        </div>
      }
    >
      {(data) => <VolumeCharts data={data} />}
    </Loaded>
  );
};

const VolumeCharts = ({ data }: { data: Static<typeof CostTimeSeries> }) => {
  const drawn = useMemo(() => {
    const [all] = data.series;
    const length = all?.bytesIn.length ?? 0;
    const to = new Date(data.from.getTime() + length * data.stepSeconds * 1_000);
    return {
      times: timesOf({ from: data.from, to, stepSeconds: data.stepSeconds }),
      bytes: [
        { name: 'In', color: '--accent', values: all?.bytesIn ?? [] },
        { name: 'Out', color: '--ok-fill', values: all?.bytesOut ?? [] },
      ],
      cost: all?.cost ? [{ name: 'Cost', color: '--chart-4', values: all.cost }] : null,
    };
  }, [data]);
  const step = STEP_NAMES[data.stepSeconds] ?? 'step';
  return (
    <div className="charts">
      <TimeChart
        title={`Bytes per ${step}`}
        times={drawn.times}
        series={drawn.bytes}
        format={formatBytes}
        binary
      />
      {drawn.cost && (
        <TimeChart title={`Cost per ${step}`} times={drawn.times} series={drawn.cost} format={formatMoney} />
      )}
    </div>
  );
};

const STEP_NAMES: Readonly<Record<number, string>> = { 60: 'minute', 3600: 'hour', 21600: '6 hours' };
