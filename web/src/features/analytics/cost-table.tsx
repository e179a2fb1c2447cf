import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { Volume } from '../../../../schemas/api/insight/analytics.ts';
import { paths } from '../../app/paths.ts';
import { useAddressParam } from '../../app/search-params.ts';
import { Loaded, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { formatBytes, formatCount } from '../../ui/text/format.ts';
import { type AnalyticsPeriod, analyticsQueries } from './analytics-queries.ts';
import { formatMoney } from './cost-text.ts';

const PARTS = [
  { value: 'pipeline', word: 'Pipelines' },
  { value: 'sink', word: 'Sinks' },
  { value: 'team', word: 'Teams' },
  { value: 'environment', word: 'Environments' },
] as const;

interface Props {
  period: AnalyticsPeriod;
  hasPrice: boolean;
}

export const CostTable = ({ period, hasPrice }: Props) => {
  const [wanted, setPart] = useAddressParam('by', { replace: true });
  const part = PARTS.find(({ value }) => value === wanted)?.value ?? 'pipeline';
  const Table = TABLES[part];
  return (
    <>
      <div className="metrics-head">
        <SegmentedControl label="Sums of" value={part} options={PARTS} onChange={setPart} />
      </div>
      <Table period={period} hasPrice={hasPrice} />
    </>
  );
};

/** What all rows have, beside their name. */
type Row = Pick<Volume, 'eventsOut' | 'bytesOut' | 'cost'> & Partial<Volume> & { key: string; name: string };

const amount = (
  key: string,
  title: string,
  of: (row: Row) => number | null | undefined,
  format: (value: number) => string,
  priority: 1 | 2 | 3 = 1,
): Column<Row> => ({
  ...{ key, title, width: '110px', align: 'end', priority },
  sort: (row) => of(row) ?? null,
  cell: (row) => {
    const value = of(row);
    return <span className="mono">{value === null || value === undefined ? '–' : format(value)}</span>;
  },
});

const OUT = [
  amount('out', 'Out', (row) => row.bytesOut, formatBytes),
  amount('events', 'Events out', (row) => row.eventsOut, formatCount, 3),
];
const IN_AND_SAVED = [
  amount('in', 'In', (row) => row.bytesIn, formatBytes, 2),
  amount('saved', 'Saved', (row) => row.bytesSaved, formatBytes, 2),
  amount(
    'reduction',
    'Reduction',
    (row) => row.reductionPercent,
    (value) => `${value.toFixed(1)} %`,
  ),
];
const COST = [amount('cost', 'Cost', (row) => row.cost, formatMoney)];

const name = (title: string): Column<Row> => ({
  ...{ key: 'name', title },
  sort: (row) => row.name,
  cell: (row) => row.name,
});

interface TableProps<T> {
  query: UseQueryResult<T>;
  what: string;
  noun: string;
  title: string;
  rows: (data: T) => Row[];
  columns: Column<Row>[];
  href?: (row: Row) => string;
  total?: (data: T) => number;
}

function Rows<T>({ query, what, noun, title, rows, columns, href, total }: TableProps<T>) {
  return (
    <Loaded query={query} what={what} skeleton={<SkeletonRows rows={6} label={`Loading ${what}`} />}>
      {(data) => {
        const all = rows(data);
        const count = total?.(data) ?? all.length;
        return (
          <>
            <DataTable
              caption={what}
              noun={noun}
              rows={all}
              columns={[name(title), ...columns]}
              rowKey={(row) => row.key}
              {...(href ? { rowHref: href } : {})}
              defaultSort="-out"
            />
            {count > all.length && (
              <p className="muted chart-note">
                The {all.length.toLocaleString('en')} with the most bytes of {count.toLocaleString('en')}. The
                export has all.
              </p>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

const deletedName = 'A pipeline that was deleted';

const Pipelines = ({ period, hasPrice }: Props) => (
  <Rows
    query={useQuery(analyticsQueries.byPipeline(period))}
    what="Volumes of pipelines"
    noun="pipeline"
    title="Pipeline"
    rows={({ pipelines }) =>
      pipelines.map((one) => ({ ...one, key: one.pipelineId, name: one.name ?? deletedName }))
    }
    total={({ total }) => total}
    columns={[...IN_AND_SAVED, ...OUT, ...(hasPrice ? COST : [])]}
    href={(row) => paths.pipeline(period.environmentId, row.key, { tab: 'metrics' })}
  />
);

const Sinks = ({ period, hasPrice }: Props) => (
  <Rows
    query={useQuery(analyticsQueries.bySink(period))}
    what="Volumes of sinks"
    noun="sink"
    title="Sink"
    rows={({ sinks }) =>
      sinks.map((one) => ({
        ...one,
        key: `${one.pipelineId} ${one.componentId}`,
        name: `${one.pipelineName ?? deletedName} / ${one.componentId}`,
      }))
    }
    total={({ total }) => total}
    columns={[...OUT, ...(hasPrice ? COST : [])]}
  />
);

const Teams = ({ period }: Props) => (
  <Rows
    query={useQuery(analyticsQueries.byTeam(period))}
    what="Volumes of teams"
    noun="team"
    title="Team"
    rows={({ teams }) => teams.map((one) => ({ ...one, key: one.teamId }))}
    columns={[...IN_AND_SAVED, ...OUT, ...COST]}
  />
);

const Environments = ({ period }: Props) => (
  <Rows
    query={useQuery(analyticsQueries.byEnvironment(period))}
    what="Volumes of environments"
    noun="environment"
    title="Environment"
    rows={({ environments }) =>
      environments.map((one) => ({ ...one, key: one.environmentId, name: `${one.teamName} / ${one.name}` }))
    }
    columns={[...IN_AND_SAVED, ...OUT, ...COST]}
    href={(row) => paths.metrics(row.key, { tab: 'costs' })}
  />
);

const TABLES = { pipeline: Pipelines, sink: Sinks, team: Teams, environment: Environments } as const;
