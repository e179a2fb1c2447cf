import type { PipelineSummary } from '../../../../schemas/api/pipelines/pipelines.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Commit } from '../../ui/primitives/copyable.tsx';
import type { Column } from '../../ui/table/data-table.tsx';
import { momentColumn } from '../../ui/table/time-column.tsx';
import { formatRate } from '../../ui/text/format.ts';
import { SEVERITY_ORDER } from '../anomalies/anomaly-text.ts';
import { type OpenAnomalies, PipelineBadge } from '../anomalies/pipeline-badge.tsx';
import { pipelineCause } from '../gate/gate-cause.ts';
import { gateState } from '../gate/gate-state.ts';
import { GateStrip } from '../gate/gate-strip.tsx';
import { RecentRate } from '../metrics/recent-rate.tsx';
import type { Actions } from './actions/pipeline-actions.ts';
import { PipelineMenu } from './actions/pipeline-menu.tsx';
import { pipelineStatus } from './pipeline-status.ts';

const GATE_ORDER = { failed: 0, held: 1, moving: 2, unknown: 3, done: 4 } as const;

const Rate = ({ pipeline }: { pipeline: PipelineSummary }) => (
  <span className="cell-line mono">
    <RecentRate environmentId={pipeline.environmentId} of={{ pipelineId: pipeline.id }} />
    <span className="rate">{formatRate(pipeline.rates.eventsIn)}</span>
  </span>
);

/** While a pipeline has any, it stands in the place of the column Updated: there is no room for both. */
const anomalyColumn = (env: string, open: ReadonlyMap<string, OpenAnomalies>): Column<PipelineSummary> => ({
  key: 'anomalies',
  title: 'Anomalies',
  width: '118px',
  priority: 2,
  sort: (row) => {
    const own = open.get(row.id);
    return own ? SEVERITY_ORDER[own.severity] - own.count / 1e6 : null;
  },
  cell: (row) => <PipelineBadge env={env} pipeline={row} open={open.get(row.id)} />,
});

export const pipelineColumns = (
  env: string,
  start: Actions['start'],
  open: ReadonlyMap<string, OpenAnomalies>,
): Column<PipelineSummary>[] => [
  { key: 'name', title: 'Name', sort: (row) => row.name, cell: (row) => row.name },
  {
    key: 'gate',
    title: 'git → accepted → delivered → running',
    width: '348px',
    priority: 2,
    sort: (row) => GATE_ORDER[gateState(row.gate)],
    cell: (row) => <GateStrip gate={row.gate} of={row.name} causeOf={pipelineCause(env, row.id)} />,
  },
  {
    key: 'nodes',
    title: 'Nodes',
    width: '134px',
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
    width: '158px',
    align: 'end',
    priority: 2,
    sort: (row) => row.rates.eventsIn,
    cell: (row) => <Rate pipeline={row} />,
  },
  {
    key: 'errors',
    title: 'Errors',
    width: '78px',
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
    width: '122px',
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
  open.size > 0
    ? anomalyColumn(env, open)
    : momentColumn({
        key: 'updated',
        title: 'Updated',
        width: '92px',
        priority: 3,
        at: (row) => row.updatedAt,
      }),
  {
    key: 'actions',
    title: 'Actions',
    width: '76px',
    align: 'end',
    cell: (row) => <PipelineMenu pipeline={row} start={start} />,
  },
];
