/** Sums what each component moves now over the nodes whose engines run. Pure. */
import type { ComponentNow } from '../../../../schemas/api/insight/metrics.ts';
import type { PipelineOnNode } from '../../../../schemas/api/pipelines/on-nodes.ts';
import type { StoredComponent } from '../../../pipelines/index.ts';

export function componentsNow(
  reports: readonly { nodeId: string; components: readonly StoredComponent[] }[],
  onNodes: readonly Pick<PipelineOnNode, 'nodeId' | 'status' | 'nodeHealth'>[],
): ComponentNow[] {
  const running = new Set(
    onNodes
      .filter(({ status, nodeHealth }) => status === 'RUNNING' && nodeHealth !== 'UNREACHABLE')
      .map(({ nodeId }) => nodeId),
  );
  const sums = new Map<string, ComponentNow>();
  for (const { nodeId, components } of reports) {
    if (!running.has(nodeId)) continue;
    for (const component of components) {
      const sum = sums.get(component.id) ?? {
        ...{ componentId: component.id, kind: component.kind, receivedRate: 0, sentRate: 0 },
        ...{ errors: 0, discarded: 0, latencyMs: null, utilization: null },
        ...{ bufferEvents: null, bufferFill: null },
      };
      sums.set(component.id, sum);
      sum.receivedRate += component.inRate;
      sum.sentRate += component.outRate;
      sum.errors += component.errors;
      sum.discarded += component.discarded ?? 0;
      if (component.latency !== undefined)
        sum.latencyMs = Math.max(sum.latencyMs ?? 0, component.latency * 1_000);
      if (component.utilization !== undefined)
        sum.utilization = Math.max(sum.utilization ?? 0, component.utilization);
      if (component.buffer !== undefined) sum.bufferEvents = (sum.bufferEvents ?? 0) + component.buffer;
      if (component.bufferFill !== undefined)
        sum.bufferFill = Math.max(sum.bufferFill ?? 0, component.bufferFill);
    }
  }
  return [...sums.values()];
}
