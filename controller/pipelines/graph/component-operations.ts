/** Sums the component counters of all nodes. */

import type { GraphNode } from '../../../schemas/api/pipelines/graph.ts';
import type { ComponentThroughput, PipelineOnNode } from '../../../schemas/api/pipelines/on-nodes.ts';

/** Counters as heartbeats store them, and rates between the last two reports. */
export interface StoredComponent {
  id: string;
  kind: string;
  in: number;
  out: number;
  errors: number;
  inRate: number;
  outRate: number;
  /** Events lost, and events dropped on purpose; absent means 0. */
  discarded?: number;
  filtered?: number;
  latency?: number;
  utilization?: number;
  /** Events in the buffer of a sink, and how full it is, 0 to 1. */
  buffer?: number;
  bufferFill?: number;
}

export function componentThroughput(
  nodes: readonly GraphNode[],
  reports: readonly { nodeId: string; components: StoredComponent[] }[],
  onNodes: readonly PipelineOnNode[],
): ComponentThroughput[] {
  const live = new Set(
    onNodes
      .filter((entry) => entry.status === 'RUNNING' && entry.nodeHealth !== 'UNREACHABLE')
      .map((entry) => entry.nodeId),
  );
  const sums = new Map(
    nodes.map((node): [string, ComponentThroughput] => [
      node.componentKey,
      {
        componentKey: node.componentKey,
        kind: node.kind.toLowerCase(),
        receivedEvents: 0,
        sentEvents: 0,
        errors: 0,
        discardedEvents: 0,
        filteredEvents: 0,
        receivedRate: 0,
        sentRate: 0,
        latencyMeanSeconds: null,
        utilization: null,
        bufferEvents: null,
        bufferFill: null,
      },
    ]),
  );
  for (const report of reports) {
    for (const component of report.components) {
      const sum = sums.get(component.id);
      if (!sum) continue;
      sum.receivedEvents += component.in;
      sum.sentEvents += component.out;
      sum.errors += component.errors;
      sum.discardedEvents += component.discarded ?? 0;
      sum.filteredEvents += component.filtered ?? 0;
      if (live.has(report.nodeId)) {
        sum.receivedRate += component.inRate;
        sum.sentRate += component.outRate;
        sum.latencyMeanSeconds = largest(sum.latencyMeanSeconds, component.latency);
        sum.utilization = largest(sum.utilization, component.utilization);
        if (component.buffer !== undefined) sum.bufferEvents = (sum.bufferEvents ?? 0) + component.buffer;
        sum.bufferFill = largest(sum.bufferFill, component.bufferFill);
      }
    }
  }
  return [...sums.values()];
}

const largest = (known: number | null, value: number | undefined): number | null =>
  value === undefined ? known : Math.max(known ?? 0, value);
