import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useSearchParams } from 'react-router';
import type { PipelineSummary } from '../../../schemas/api/pipelines.ts';
import { queries } from '../api/queries.ts';
import { useRateHistory } from '../api/rate-history.ts';
import { usePlace } from '../app/environment.tsx';
import { paths } from '../app/paths.ts';
import { Badge, Commit, Time } from '../components/bits.tsx';
import { pipelineCause } from '../components/causes.ts';
import { CommandBlock } from '../components/command-block.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { formatRate } from '../components/format.ts';
import { GateStrip, gateState } from '../components/gate-strip.tsx';
import { Page } from '../components/page.tsx';
import { Segmented } from '../components/segmented.tsx';
import { Sparkline } from '../components/sparkline.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../components/states.tsx';
import { pipelineStatus } from './pipeline-status.ts';

const GATE_ORDER = { failed: 0, held: 1, moving: 2, unknown: 3, done: 4 } as const;

const Rate = ({ pipeline }: { pipeline: PipelineSummary }) => (
  <span className="cell-line mono">
    <Sparkline samples={useRateHistory(pipeline.id)} of="eventsIn" />
    <span className="rate">{formatRate(pipeline.rates.eventsIn)}</span>
  </span>
);

const columns = (env: string): Column<PipelineSummary>[] => [
  { key: 'name', title: 'Name', sort: (row) => row.name, cell: (row) => row.name },
  {
    key: 'gate',
    title: 'git → accepted → delivered → running',
    width: '372px',
    priority: 2,
    sort: (row) => GATE_ORDER[gateState(row.gate)],
    cell: (row) => <GateStrip gate={row.gate} of={row.name} causeOf={pipelineCause(env, row.id)} />,
  },
  {
    key: 'nodes',
    title: 'Nodes',
    width: '146px',
    sort: (row) =>
      row.nodeCounts.total === 0
        ? null
        : row.nodeCounts.running / row.nodeCounts.total - row.nodeCounts.crashed,
    cell: (row) => {
      const { tone, word } = pipelineStatus(row);
      const { running, total, crashed } = row.nodeCounts;
      return (
        <Badge tone={tone} tip={crashed > 0 ? `Crashed on ${crashed}` : undefined}>
          {row.isDraft || total === 0 ? word : `${running}/${total} ${word}`}
        </Badge>
      );
    },
  },
  {
    key: 'rate',
    title: 'Events',
    width: '178px',
    align: 'end',
    priority: 2,
    sort: (row) => row.rates.eventsIn,
    cell: (row) => <Rate pipeline={row} />,
  },
  {
    key: 'errors',
    title: 'Errors',
    width: '86px',
    align: 'end',
    priority: 3,
    sort: (row) => row.rates.errors,
    cell: (row) => (
      <span className={row.rates.errors > 0 ? 'mono tone-text' : 'mono muted'} data-tone="failed">
        {formatRate(row.rates.errors)}
      </span>
    ),
  },
  {
    key: 'version',
    title: 'Version',
    width: '132px',
    priority: 3,
    sort: (row) => row.deployedVersionNumber,
    cell: (row) => (
      <span className="cell-line">
        <span className="mono">
          {row.deployedVersionNumber === null ? '–' : `v${row.deployedVersionNumber}`}
        </span>
        {row.commit ? <Commit sha={row.commit} /> : <span className="muted">ui</span>}
      </span>
    ),
  },
  {
    key: 'updated',
    title: 'Updated',
    width: '98px',
    align: 'end',
    priority: 3,
    sort: (row) => row.updatedAt.getTime(),
    cell: (row) => <Time at={row.updatedAt} />,
  },
];

const STATUSES = [
  { value: '', word: 'All' },
  { value: 'running', word: 'Running' },
  { value: 'moving', word: 'Starting' },
  { value: 'held', word: 'Held' },
  { value: 'crashed', word: 'Crashed' },
  { value: 'draft', word: 'Draft' },
] as const;

const searchText = (row: PipelineSummary): string =>
  [row.name, row.description, row.commit, row.commitAuthor, row.commitMessage].filter(Boolean).join(' ');

export const PipelinesPage = () => {
  const { environment } = usePlace();
  const env = environment.id;
  const [params, setParams] = useSearchParams();
  const status = params.get('status') ?? '';
  const tableColumns = useMemo(() => columns(env), [env]);
  const pipelines = useQuery(queries.pipelines(env));
  return (
    <Page title="Pipelines">
      <Loaded
        query={pipelines}
        what="Pipelines"
        skeleton={<SkeletonRows rows={14} label="Loading pipelines" />}
      >
        {(list) =>
          list.length === 0 ? (
            <NoPipelines env={env} />
          ) : (
            <DataTable
              caption="Pipelines"
              noun="pipeline"
              rows={status ? list.filter((row) => pipelineStatus(row).key === status) : list}
              columns={tableColumns}
              rowKey={(row) => row.id}
              rowHref={(row) => paths.pipeline(env, row.id)}
              filterText={searchText}
              defaultSort="name"
              toolbar={
                <Segmented
                  label="Status"
                  value={status}
                  options={STATUSES}
                  onChange={(value) =>
                    setParams((before) => {
                      const next = new URLSearchParams(before);
                      if (value) next.set('status', value);
                      else next.delete('status');
                      return next;
                    })
                  }
                />
              }
            />
          )
        }
      </Loaded>
    </Page>
  );
};

const NoPipelines = ({ env }: { env: string }) => {
  const git = useQuery(queries.git(env));
  const folder = git.data?.path ?? 'environments/staging';
  const lines = [
    `git clone ${git.data?.cloneUrl ?? '<address from the Git page>'} config && cd config`,
    `mkdir -p ${folder}/pipelines`,
    `cat > ${folder}/pipelines/hello.yaml <<'YAML'`,
    'apiVersion: headgate/v1',
    'kind: Pipeline',
    'metadata: { name: hello }',
    'spec:',
    '  deployed: true',
    '  sources: { demo: { type: demo_logs, format: json, interval: 1 } }',
    '  sinks: { out: { type: console, inputs: [demo], encoding: { codec: json } } }',
    'YAML',
    "git add . && git commit -m 'Add hello' && git push",
  ];
  return (
    <EmptyState icon="pipelines" title="No pipelines yet">
      <p>
        A pipeline is a manifest in the environment’s repository. Push one and watch it walk through the gate.
      </p>
      <CommandBlock label="commands that push a first pipeline" lines={lines} />
    </EmptyState>
  );
};
