/** A recommended change as data, and what it makes of a graph and of a manifest. Pure. */
import { stringify } from 'yaml';
import type { RecommendedChange } from '../../../schemas/api/insight/cost-recommendations.ts';
import type { GraphEdge, GraphNode } from '../../../schemas/api/pipelines/graph.ts';
import type { PlainManifest } from '../../delivery/bindings/index.ts';
import { maskSensitive, normaliseGraph, unifiedDiff } from '../../pipelines/index.ts';
import { preconditionFailed } from '../../platform/operation/errors.ts';
import { isRecord } from '../../platform/text/is-record.ts';
import { type Drawn, findSink } from './metric-flow.ts';

type Insertion = Extract<RecommendedChange, { action: 'insertTransform' }>;

const MAX_KEY = 128;
/** Values of one tag that pass; the engine's own default. */
const TAG_VALUES = 500;
/** The distance of components in the editor. */
const COLUMN_PX = 280;

export const sampleBefore = (graph: Drawn, sink: GraphNode, rate: number): Insertion => ({
  ...{ action: 'insertTransform', sink: sink.componentKey, componentType: 'sample', config: { rate } },
  componentKey: freeKey(graph, `sample_${sink.componentKey}`),
});

/** Tags over the limit are dropped, and no metric is. */
export const limitBefore = (graph: Drawn, sink: GraphNode): Insertion => ({
  ...{ action: 'insertTransform', sink: sink.componentKey, componentType: 'tag_cardinality_limit' },
  config: { mode: 'exact', value_limit: TAG_VALUES, limit_exceeded_action: 'drop_tag' },
  componentKey: freeKey(graph, `limit_${sink.componentKey}`),
});

function freeKey({ nodes }: Drawn, wanted: string): string {
  const taken = new Set(nodes.map(({ componentKey }) => componentKey));
  const first = wanted.slice(0, MAX_KEY);
  for (let key = first, n = 2; ; n += 1) {
    if (!taken.has(key)) return key;
    const suffix = `_${n}`;
    key = `${wanted.slice(0, MAX_KEY - suffix.length)}${suffix}`;
  }
}

const outdated = () =>
  preconditionFailed(
    'The pipeline was changed since it was analyzed and the change does not fit it any more; analyze the environment again',
  );

/** @throws PRECONDITION_FAILED where the graph has changed since */
export function insertIntoGraph(
  graph: Drawn,
  { sink: sinkKey, componentKey, componentType, config }: Insertion,
): { nodes: GraphNode[]; edges: GraphEdge[] } {
  const sink = findSink(graph, sinkKey);
  if (!sink || graph.nodes.some((node) => node.componentKey === componentKey)) throw outdated();
  const { positionX, positionY } = sink;
  const inserted: GraphNode = {
    ...{ componentKey, componentType, kind: 'TRANSFORM', config: { ...config } },
    ...{ positionX, positionY, disabled: false },
  };
  const references = new Set([sink.id ?? sinkKey, sinkKey]);
  const isInput = ({ targetNodeId }: GraphEdge) => references.has(targetNodeId);
  if (!graph.edges.some(isInput)) throw outdated();
  return normaliseGraph(
    [
      ...graph.nodes.map((node) => (node === sink ? { ...node, positionX: positionX + COLUMN_PX } : node)),
      inserted,
    ],
    [
      ...graph.edges.map((edge) => (isInput(edge) ? { ...edge, targetNodeId: componentKey } : edge)),
      { sourceNodeId: componentKey, targetNodeId: sink.id ?? sinkKey },
    ],
  );
}

/** @throws PRECONDITION_FAILED where the manifest has changed since */
export function changeManifest(manifest: PlainManifest, change: RecommendedChange): PlainManifest {
  if (change.action === 'undeploy') return { ...manifest, spec: { ...manifest.spec, deployed: false } };
  const { sink: sinkKey, componentKey, componentType, config } = change;
  const { transforms, sinks } = manifest.spec;
  const known = isRecord(transforms) ? transforms : {};
  const sink = isRecord(sinks) ? sinks[sinkKey] : undefined;
  if (!isRecord(sinks) || !isRecord(sink) || Object.hasOwn(known, componentKey)) throw outdated();
  const { inputs } = sink;
  if (!Array.isArray(inputs) || inputs.length === 0) throw outdated();
  return {
    ...manifest,
    spec: {
      ...manifest.spec,
      transforms: { ...known, [componentKey]: { type: componentType, inputs, ...config } },
      sinks: { ...sinks, [sinkKey]: { ...sink, inputs: [componentKey] } },
    },
  };
}

/** What the change does to a manifest as a unified diff, with credentials masked. */
export function renderDiff(before: PlainManifest, after: PlainManifest): string {
  const text = ({ kind, name, spec: { components, ...spec } }: PlainManifest) =>
    stringify(
      { kind, metadata: { name }, spec: maskSensitive(spec) },
      { aliasDuplicateObjects: false, lineWidth: 0 },
    );
  return unifiedDiff('now', 'recommended', text(before), text(after));
}
