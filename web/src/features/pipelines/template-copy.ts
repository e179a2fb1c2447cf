import type { Template } from '../../../../schemas/api/pipelines/templates.ts';

/** Ends are named by component keys, so that the server gives the copy ids of its own. */
export function copyOfTemplate({ nodes, edges }: Pick<Template, 'nodes' | 'edges'>) {
  const keys = new Map(nodes.map(({ id, componentKey }) => [id ?? componentKey, componentKey]));
  return {
    nodes: nodes.map(({ id, ...node }) => node),
    edges: edges.map(({ id, ...edge }) => ({
      ...edge,
      sourceNodeId: keys.get(edge.sourceNodeId) ?? edge.sourceNodeId,
      targetNodeId: keys.get(edge.targetNodeId) ?? edge.targetNodeId,
    })),
  };
}
