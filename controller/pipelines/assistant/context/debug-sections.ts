/** What a VIEWER sees of a pipeline that runs, or should: nodes, counters, metrics, logs, and what changed last. */

import type { PipelineOnNode } from '../../../../schemas/api/pipelines/on-nodes.ts';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { logOperations } from '../../../fleet/logs/index.ts';
import { telemetryOperations } from '../../../insight/telemetry/index.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { pipelineOperations } from '../../index.ts';
import type { Section } from './sections.ts';

const STATUS_BYTES = 8_000;
const COUNTER_BYTES = 6_000;
const METRIC_BYTES = 3_000;
const DIFF_BYTES = 10_000;
const LOG_BYTES = 16_000;
const MOST_NODES = 30;
const MOST_LINES = 150;
const METRIC_MINUTES = 60;
const MOST_LINE_CHARS = 600;

/** Those with a problem first. */
const isWell = ({ status, lastError, degraded, refused }: PipelineOnNode) =>
  status === 'RUNNING' && !lastError && !degraded && !refused;

export function statusSection({ gate, nodeCounts, statuses }: Pipeline): Section {
  const nodes = [...statuses].sort((a, b) => Number(isWell(a)) - Number(isWell(b))).slice(0, MOST_NODES);
  const lines = [
    `Nodes: ${nodeCounts.total} in total, ${nodeCounts.running} running, ${nodeCounts.crashed} crashed, ${nodeCounts.pending} pending`,
    ...gate.map(({ point, state, reason }) => `Gate ${point}: ${state}${reason === '' ? '' : `, ${reason}`}`),
    ...nodes.map((node) => {
      const errors = [node.lastError, node.degraded, node.refused?.reason, ...node.warnings.slice(0, 3)];
      return [
        `Node ${node.nodeName}: ${node.status}, health ${node.nodeHealth}, runs version ${node.version ?? 'none'}, should run ${node.desiredVersion ?? 'none'}, ${node.restarts} restarts`,
        ...errors.flatMap((error) => (error ? [`  ${error.slice(0, 2_000)}`] : [])),
      ].join('\n');
    }),
    ...(statuses.length > MOST_NODES ? [`… and ${statuses.length - MOST_NODES} nodes more`] : []),
  ];
  return { title: 'State on the nodes', text: lines.join('\n'), isData: true, maxBytes: STATUS_BYTES };
}

export function counterSection({ components }: Pipeline): Section {
  const lines = components.map(
    (one) =>
      `${one.kind} ${one.componentKey}: received ${one.receivedEvents}, sent ${one.sentEvents}, errors ${one.errors}, discarded ${one.discardedEvents}, filtered ${one.filteredEvents}; ${one.receivedRate.toFixed(2)}/s in, ${one.sentRate.toFixed(2)}/s out${one.bufferFill === null ? '' : `, buffer ${Math.round(one.bufferFill * 100)} % full`}`,
  );
  return {
    title: 'Counters of the components since their engines started',
    ...{ text: lines.join('\n'), isData: true, maxBytes: COUNTER_BYTES },
  };
}

export async function metricSection(ctx: Context, pipelineId: string): Promise<Section> {
  const metrics = await telemetryOperations.getPipelineMetrics.run(ctx, {
    ...{ pipelineId, minutes: METRIC_MINUTES },
  });
  const totals = metrics.series[0]?.totals;
  const text = totals
    ? [
        ...Object.entries(totals).map(([name, value]) => `${name}: ${Math.round(value)}`),
        ...metrics.marks.map(({ at, kind, text }) => `${at.toISOString()} ${kind}: ${text}`),
      ].join('\n')
    : '';
  return { title: `The last ${METRIC_MINUTES} minutes`, text, isData: true, maxBytes: METRIC_BYTES };
}

/** What the version that is deployed changed, with who did it. */
export async function changeSection(ctx: Context, { id, deployedVersionNumber }: Pipeline): Promise<Section> {
  const section = { title: 'The change before', isData: true as const, maxBytes: DIFF_BYTES };
  const versions = await pipelineOperations.versions.run(ctx, { pipelineId: id });
  const at = versions.findIndex(({ version }) => version === deployedVersionNumber);
  const [deployed, before] = at < 0 ? versions : versions.slice(at);
  if (!deployed || !before) return { ...section, text: '' };
  const { diff, settings } = await pipelineOperations.compareVersions.run(ctx, {
    ...{ fromVersionId: before.id, toVersionId: deployed.id },
  });
  const lines = [
    `Version ${deployed.version} of ${deployed.createdAt.toISOString()}, from ${deployed.source}${deployed.changelog ? `: ${deployed.changelog}` : ''}`,
    ...settings.map(({ name, from, to }) => `${name}: ${from} → ${to}`),
    diff,
  ];
  return { ...section, text: lines.join('\n') };
}

/** The newest first, so that the oldest are cut. */
export async function logSection(ctx: Context, pipelineId: string): Promise<Section> {
  const { lines } = await logOperations.pipelineLogs.run(ctx, { pipelineId, limit: MOST_LINES });
  const text = lines
    .map(
      ({ receivedAt, nodeName, level, line }) =>
        `${receivedAt.toISOString()} ${nodeName ?? 'unknown node'} ${level} ${line.slice(0, MOST_LINE_CHARS)}`,
    )
    .join('\n');
  return { title: 'Log of the engines, the newest first', text, isData: true, maxBytes: LOG_BYTES };
}
