/** Small drawings: components by key, which is their id too, and edges as `from[.port]>to`. */
import type {
  EditorEdge,
  EditorGraph,
  EditorNode,
} from '../../../../web/src/features/pipeline-editor/model/graph.ts';

const KIND = { '>': 'SOURCE', '=': 'TRANSFORM', '<': 'SINK' } as const;

/** `> in demo_logs`, `= parse remap`, `< out console`. */
export function component(line: string, more: Partial<EditorNode> = {}): EditorNode {
  const [sign = '', key = '', type = 'any'] = line.split(' ');
  return {
    id: key,
    componentKey: key,
    componentType: type,
    kind: KIND[sign as keyof typeof KIND],
    config: {},
    positionX: 0,
    positionY: 0,
    disabled: false,
    ...more,
  };
}

export function edge(text: string): EditorEdge {
  const [from = '', to = ''] = text.split('>');
  const [sourceNodeId = '', sourcePort] = from.split('.');
  return sourcePort === undefined
    ? { sourceNodeId, targetNodeId: to }
    : { sourceNodeId, targetNodeId: to, sourcePort };
}

export const drawing = (nodes: EditorNode[], edges: string[] = []): EditorGraph => ({
  nodes,
  edges: edges.map(edge),
  globalConfig: {},
});

/** `in > parse > out`. */
export const line = (): EditorGraph =>
  drawing(
    [component('> in demo_logs'), component('= parse remap'), component('< out console')],
    ['in>parse', 'parse>out'],
  );
