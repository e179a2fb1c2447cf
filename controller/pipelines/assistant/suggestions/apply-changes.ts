/** What proposed changes make of a graph, and a sentence for each. Pure: the checks of a deploy come after it. */
import type { SuggestedChange } from '../../../../schemas/api/pipelines/conversations.ts';
import type { GraphEdge, GraphNode } from '../../../../schemas/api/pipelines/graph.ts';
import { badRequest } from '../../../platform/operation/errors.ts';
import { isRecord } from '../../../platform/text/is-record.ts';
import { MASK, normaliseGraph } from '../../index.ts';
import { SCRUBBED } from '../context/scrub.ts';
import { unmaskTyped } from '../context/typed-credentials.ts';
import { programsIn, setProgram } from './programs.ts';

export interface Drawn {
  nodes: GraphNode[];
  edges: GraphEdge[];
}
type StoredNode = GraphNode & { id: string };

/** The distance of components in the editor. */
const COLUMN_PX = 280;
const ROW_PX = 140;

/** @throws BAD_REQUEST for a change that does not fit the graph */
export function applyChanges(graph: Drawn, changes: readonly SuggestedChange[]): Drawn {
  let { nodes, edges } = normaliseGraph(graph.nodes, graph.edges);

  function find(key: string): StoredNode {
    const node = nodes.find(({ componentKey }) => componentKey === key);
    if (!node) throw badRequest(`There is no component "${key}"`);
    return node;
  }
  function assertFree(key: string): void {
    if (nodes.some(({ componentKey }) => componentKey === key))
      throw badRequest(`There is a component "${key}" already`);
  }
  function findUnlinked(key: string): StoredNode {
    const node = find(key);
    assertUnlinked(node);
    return node;
  }
  const replace = (node: StoredNode, change: Partial<GraphNode>) => {
    nodes = nodes.map((other) => (other === node ? { ...node, ...change } : other));
  };
  function connect(from: string, to: StoredNode): void {
    const { key, port } = readOutput(from);
    const source = find(key);
    edges = [
      ...edges,
      {
        ...{ sourceNodeId: source.id, targetNodeId: to.id },
        ...(port === undefined ? {} : { sourcePort: port }),
      },
    ];
  }
  function disconnect(from: string, to: StoredNode): void {
    const { key, port } = readOutput(from);
    const source = find(key);
    const isEdge = (edge: GraphEdge) =>
      edge.sourceNodeId === source.id && edge.targetNodeId === to.id && edge.sourcePort === port;
    if (!edges.some(isEdge)) throw badRequest(`"${from}" does not feed "${to.componentKey}"`);
    edges = edges.filter((edge) => !isEdge(edge));
  }

  function add(change: Extract<SuggestedChange, { type: 'addComponent' }>): void {
    const { componentKey, kind, componentType, config, inputs = [] } = change;
    assertFree(componentKey);
    assertNoMask(componentKey, config);
    const sources = inputs.map((input) => find(readOutput(input).key));
    const added = { componentKey, kind, componentType, config, disabled: false };
    nodes = normaliseGraph([...nodes, { ...added, ...placeAfter(sources, nodes) }], edges).nodes;
    for (const input of inputs) connect(input, find(componentKey));
  }

  function apply(change: SuggestedChange): void {
    switch (change.type) {
      case 'addComponent':
        add(change);
        break;
      case 'connect':
        connect(change.from, find(change.to));
        break;
      case 'disconnect':
        disconnect(change.from, find(change.to));
        break;
      case 'removeComponent': {
        const node = find(change.componentKey);
        nodes = nodes.filter((other) => other !== node);
        edges = edges.filter((edge) => ![edge.sourceNodeId, edge.targetNodeId].includes(node.id));
        break;
      }
      case 'setConfig': {
        const node = findUnlinked(change.componentKey);
        replace(node, { config: unmask(node, mergePatch(node.config, change.config)) });
        break;
      }
      case 'setVrl': {
        const node = findUnlinked(change.componentKey);
        const before = programsIn(node).find(({ output }) => output === change.output);
        const program = unmaskTyped(change.program, before?.source ?? '');
        assertNoMask(node.componentKey, program);
        replace(node, { config: setProgram(node, { ...change, program }) });
        break;
      }
      case 'renameComponent':
        assertFree(change.newKey);
        replace(find(change.componentKey), { componentKey: change.newKey });
        break;
      case 'setDisabled':
        replace(find(change.componentKey), { disabled: change.disabled });
    }
  }

  for (const change of changes) {
    apply(change);
    ({ nodes, edges } = normaliseGraph(nodes, edges));
  }
  return { nodes, edges };
}

function readOutput(reference: string): { key: string; port: string | undefined } {
  const dot = reference.indexOf('.');
  return dot < 0
    ? { key: reference, port: undefined }
    : { key: reference.slice(0, dot), port: reference.slice(dot + 1) };
}

/** Right of what feeds it, else below everything. */
function placeAfter(sources: readonly GraphNode[], nodes: readonly GraphNode[]) {
  const near = sources.length > 0 ? sources : nodes;
  const x = near.map(({ positionX }) => positionX);
  const y = near.map(({ positionY }) => positionY);
  if (near.length === 0) return { positionX: 0, positionY: 0 };
  return sources.length > 0
    ? { positionX: Math.max(...x) + COLUMN_PX, positionY: Math.max(...y) + ROW_PX / 2 }
    : { positionX: Math.min(...x), positionY: Math.max(...y) + ROW_PX };
}

function assertUnlinked({ componentKey, sharedComponentId }: GraphNode): void {
  if (sharedComponentId !== undefined)
    throw badRequest(
      `"${componentKey}" is linked to a shared component; change it there, or unlink it first`,
    );
}

/** RFC 7396: null removes a key. */
export function mergePatch(
  before: Readonly<Record<string, unknown>>,
  patch: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...before };
  for (const [key, value] of Object.entries(patch)) {
    const old = merged[key];
    if (value === null) delete merged[key];
    else merged[key] = isRecord(value) ? mergePatch(isRecord(old) ? old : {}, value) : value;
  }
  return merged;
}

/** A model sees credentials masked: where it gives a mask back, the value of before stays. */
function unmask({ componentKey, config: before }: GraphNode, config: Record<string, unknown>) {
  const restore = (value: unknown, old: unknown): unknown => {
    if (value === MASK && typeof old !== 'object' && old !== undefined) return old;
    if (typeof value === 'string') return typeof old === 'string' ? unmaskTyped(value, old) : value;
    if (Array.isArray(value))
      return value.map((item, index) => restore(item, Array.isArray(old) ? old[index] : undefined));
    if (isRecord(value))
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [
          key,
          restore(item, isRecord(old) ? old[key] : undefined),
        ]),
      );
    return value;
  };
  const restored = restore(config, before) as Record<string, unknown>;
  assertNoMask(componentKey, restored);
  return restored;
}

/** What stands in the place of a credential is none. */
function assertNoMask(componentKey: string, config: unknown): void {
  const text = JSON.stringify(config);
  if (text.includes(MASK) || text.includes(SCRUBBED))
    throw badRequest(
      `"${componentKey}" would get a masked value in a place where none was; name a secret as \${SVC_SECRET_…} instead`,
    );
}

/** A sentence for each change, by Headgate: what a model says of its changes is not taken for what they do. */
export function summarizeChange(change: SuggestedChange): string {
  switch (change.type) {
    case 'addComponent': {
      const { componentKey, kind, componentType, inputs = [] } = change;
      const fed = inputs.length > 0 ? `, fed by ${inputs.map((input) => `"${input}"`).join(', ')}` : '';
      return `Add the ${kind.toLowerCase()} "${componentKey}" of the type ${componentType}${fed}`;
    }
    case 'removeComponent':
      return `Remove the component "${change.componentKey}" with its connections`;
    case 'setConfig': {
      const names = Object.entries(change.config).map(([key, value]) =>
        value === null ? `remove ${key}` : `set ${key}`,
      );
      return `In "${change.componentKey}": ${names.join(', ') || 'nothing'}`;
    }
    case 'setVrl':
      return change.output === undefined
        ? `Replace the VRL of "${change.componentKey}"`
        : `Replace the VRL condition of the output "${change.output}" of "${change.componentKey}"`;
    case 'connect':
      return `Connect "${change.from}" to "${change.to}"`;
    case 'disconnect':
      return `Disconnect "${change.from}" from "${change.to}"`;
    case 'renameComponent':
      return `Rename the component "${change.componentKey}" to "${change.newKey}"`;
    case 'setDisabled':
      return `${change.disabled ? 'Disable' : 'Enable'} the component "${change.componentKey}"`;
  }
}
