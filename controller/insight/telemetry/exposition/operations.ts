/** The metrics of an environment's nodes and pipelines, for Prometheus. */
import Type from 'typebox';
import { Id, Input } from '../../../../schemas/api/common.ts';
import type { NodeHealth, NodePipelineStatus } from '../../../../schemas/api/pipelines/on-nodes.ts';
import { readCells } from '../../../fleet/status/index.ts';
import { environmentScope } from '../../../identity/access/index.ts';
import { query } from '../../../platform/operation/operation.ts';
import { type EngineCounters, readCounters } from './counters-queries.ts';
import { expositionText, type Metric, type Sample } from './exposition.ts';

export interface MetricStore {
  sizes(): { series: number; bytes: number };
}

const NODE_STATUS: Readonly<Record<NodeHealth, number>> = {
  ...{ HEALTHY: 1, DEGRADED: 2, UNREACHABLE: 3, UNKNOWN: 0 },
};
const PIPELINE_STATUS: Readonly<Record<NodePipelineStatus, number>> = {
  ...{ RUNNING: 1, STARTING: 2, STOPPED: 3, CRASHED: 4, PENDING: 0 },
};

const COUNTERS: readonly [name: string, help: string, pick: (row: EngineCounters) => number | null][] = [
  ['events_in_total', 'Events received since the engine started.', (row) => row.eventsIn],
  ['events_out_total', 'Events emitted since the engine started.', (row) => row.eventsOut],
  ['errors_total', 'Errors since the engine started.', (row) => row.errors],
  ['events_discarded_total', 'Events discarded since the engine started.', (row) => row.discarded],
  ['bytes_in_total', 'Bytes received since the engine started.', (row) => row.bytesIn],
  ['bytes_out_total', 'Bytes emitted since the engine started.', (row) => row.bytesOut],
  ['utilization', 'How busy the busiest component is, 0 to 1.', (row) => row.utilization],
  ['latency_mean_ms', 'Mean latency of its components in milliseconds.', (row) => row.latencyMs],
];

/** No procedure: programs read it at `/api/metrics`. */
export const exportMetrics = (store: MetricStore) =>
  query({
    name: 'metrics.export',
    summary: 'Nodes, pipelines and their counters in the text format of Prometheus',
    role: 'VIEWER',
    permission: 'metrics.read',
    input: Input({ environmentId: Id }),
    output: Type.Object({ text: Type.String() }),
    weight: 'heavy',
    scope: (ctx, input) => environmentScope(ctx, input.environmentId),
    async run(ctx, { environmentId }) {
      const { nodes, pipelines } = await readCells(ctx, environmentId);
      const rows = await readCounters(ctx.db, environmentId);
      const ids = rows.map(({ nodeId, pipelineId }) => ({ node_id: nodeId, pipeline_id: pipelineId }));
      function* statuses(): Generator<Sample> {
        for (const { node, cells } of nodes)
          for (const { pipelineIndex, status } of cells) {
            const labels = { node_id: node.id, pipeline_id: pipelines[pipelineIndex]?.id ?? '' };
            yield { labels, value: PIPELINE_STATUS[status] };
          }
      }
      function* counted(pick: (row: EngineCounters) => number | null): Generator<Sample> {
        for (const [index, row] of rows.entries()) {
          const [labels, value] = [ids[index], pick(row)];
          if (labels && value !== null) yield { labels, value };
        }
      }
      const { series, bytes } = store.sizes();
      const metrics: Metric[] = [
        {
          name: 'service_node_status',
          help: 'Health of a node: 1 healthy, 2 degraded, 3 unreachable, 0 unknown.',
          samples: nodes.map(({ node, health }) => ({
            labels: { node_id: node.id, node_name: node.name, environment_id: environmentId },
            value: NODE_STATUS[health],
          })),
        },
        {
          name: 'service_pipeline_status',
          help: 'State of a pipeline on a node: 1 running, 2 starting, 3 stopped, 4 crashed, 0 pending.',
          samples: statuses(),
        },
        ...COUNTERS.map(([name, help, pick]) => ({
          ...{ name: `service_pipeline_${name}`, help, samples: counted(pick) },
        })),
        {
          name: 'service_metric_store_streams',
          help: 'Active metric streams in the memory of this controller.',
          samples: [{ labels: {}, value: series }],
        },
        {
          name: 'service_metric_store_memory_bytes',
          help: 'Estimated memory of the metric streams in bytes.',
          samples: [{ labels: {}, value: bytes }],
        },
      ];
      return { text: await expositionText(metrics) };
    },
  });
