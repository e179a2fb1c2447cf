/**
 * An engine config as text: read into a graph, and where in the text a finding stands. Rendering a graph and reading the
 * text again gives the graph back; what the text cannot hold (titles, positions, components that are switched off) comes
 * from the graph that was there before.
 */
import type { GraphNode } from '../../schemas/api/pipelines.ts';
import { badRequest } from '../platform/errors.ts';
import { composeDocuments, syntaxFinding } from '../platform/yaml/documents.ts';
import { locate, locateInText } from '../platform/yaml/locate.ts';
import { pointerTo } from '../platform/yaml/pointer.ts';
import { compile } from './compile.ts';
import { type Definition, SECTIONS } from './definition.ts';
import { definitionOf, type Graph, normaliseGraph } from './graph.ts';

export interface TextFault {
  message: string;
  line: number;
  column: number;
  componentKey?: string;
}

export type ReadConfig = { definition: Definition; faults: [] } | { definition: null; faults: TextFault[] };

const COMPONENT_KEY = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
/** Refuses anchors that would grow without bound. */
const MAX_ALIASES = 100;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The definition that an engine config describes, or everything that keeps it from being one. */
export function readEngineConfig(text: string): ReadConfig {
  const fail = (...faults: TextFault[]): ReadConfig => ({ definition: null, faults });
  const { documents, finding } = composeDocuments(text);
  if (finding) return fail(finding);
  const document = documents[0];
  const [error] = documents.flatMap((one) => one.errors);
  if (error) {
    const { message, hint, line, column } = syntaxFinding(text, error);
    return fail({ message: `${message}; ${hint}`, line, column });
  }
  if (documents.length > 1 || !document) {
    return fail({
      message: document ? 'An engine config is one YAML document' : 'The config is empty',
      line: 1,
      column: 1,
    });
  }
  let config: unknown;
  try {
    config = document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch {
    return fail({ message: 'The config uses more aliases than are read', line: 1, column: 1 });
  }
  if (!isRecord(config))
    return fail({ message: 'A config is a mapping with sources, transforms and sinks', line: 1, column: 1 });
  const source = { text };
  const faults: TextFault[] = [];
  const fault = (pointer: string, message: string, componentKey?: string) =>
    faults.push({
      message,
      ...locate(source, 0, pointer),
      ...(componentKey === undefined ? {} : { componentKey }),
    });
  const read = Object.fromEntries(
    SECTIONS.map((section) => {
      const components = config[section] ?? {};
      if (!isRecord(components)) {
        fault(`/${section}`, `"${section}" must be a mapping from component keys to components`);
        return [section, {}];
      }
      for (const [key, component] of Object.entries(components)) {
        const pointer = pointerTo(`/${section}`, key);
        if (!COMPONENT_KEY.test(key) || key.length > 128) {
          fault(
            pointer,
            `"${key.slice(0, 100)}" is no component key; use letters, digits and _, not beginning with a digit, at most 128`,
          );
        } else if (!isRecord(component)) fault(pointer, `"${key}" must be a mapping with its type`, key);
        else if (typeof component.type !== 'string' || component.type === '' || component.type.length > 100) {
          fault(pointer, `"${key}" lacks its type; name the component type, such as type: file`, key);
        } else if (section === 'sources' && 'inputs' in component) {
          fault(`${pointer}/inputs`, `the source "${key}" takes no inputs; remove them`, key);
        } else if (section !== 'sources' && !isInputs(component.inputs)) {
          fault(pointer, `"${key}" lacks its inputs; list what feeds it, such as inputs: [in]`, key);
        }
      }
      return [section, components];
    }),
  );
  if (faults.length > 0) return fail(...faults.slice(0, 50));
  const global = Object.fromEntries(
    Object.entries(config).filter(([name]) => !(SECTIONS as readonly string[]).includes(name)),
  );
  const definition = { ...read, global, components: {}, logLevel: 'info', deployed: true, dependsOn: [] };
  return { definition: definition as unknown as Definition, faults: [] };
}

const isInputs = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((entry) => typeof entry === 'string' && entry !== '' && entry.length <= 260);

/** Where in the text a finding stands that points into the definition. */
export function placeInConfig(
  text: string,
  finding: { pointer: string; line?: number; column?: number },
): { line: number; column: number } {
  const source = { text };
  const pointer = finding.pointer.replace(/^\/global/, '');
  return finding.line === undefined
    ? locate(source, 0, pointer)
    : locateInText(source, 0, pointer, finding.line, finding.column ?? 1);
}

/**
 * The graph of an engine config. Components keep the id, title, position and link that they have in `before`; a component
 * that the rendering of `before` leaves out (switched off, or fed by such ones alone) is kept as it was.
 * @throws BAD_REQUEST with the faults as `validationErrors`
 */
export function graphOfConfig(text: string, before: Graph): Graph {
  const { definition, faults } = readEngineConfig(text);
  if (!definition) {
    const [first] = faults;
    throw badRequest(`The config cannot be read: line ${first?.line}: ${first?.message}`, {
      validationErrors: faults,
    });
  }
  const known = new Map(before.nodes.map((node) => [node.componentKey, node]));
  const written = new Set(SECTIONS.flatMap((section) => Object.keys(definition[section])));
  const rendered = compile(definitionOf(before));
  const kept = before.nodes.filter(
    ({ componentKey }) => rendered.leftOut.includes(componentKey) && !written.has(componentKey),
  );
  const read = compile(definition);
  const nodes = read.nodes.map((node): GraphNode => {
    const { id: _, ...made } = node;
    const old = known.get(node.componentKey);
    if (!old || old.kind !== node.kind) return made;
    const same =
      old.componentType === node.componentType && JSON.stringify(old.config) === JSON.stringify(node.config);
    return {
      ...made,
      positionX: old.positionX,
      positionY: old.positionY,
      ...(old.id === undefined ? {} : { id: old.id }),
      ...(old.displayName === undefined ? {} : { displayName: old.displayName }),
      // What was changed in the text is no longer what the shared component says.
      ...(same && old.sharedComponentId !== undefined
        ? { sharedComponentId: old.sharedComponentId, sharedComponentVersion: old.sharedComponentVersion }
        : {}),
    };
  });
  const keyBefore = new Map(before.nodes.map((node) => [node.id ?? node.componentKey, node.componentKey]));
  const keptKeys = new Set(kept.map((node) => node.componentKey));
  const present = new Set([...written, ...keptKeys]);
  const keptEdges = before.edges
    .map((edge) => ({
      ...edge,
      sourceNodeId: keyBefore.get(edge.sourceNodeId) ?? edge.sourceNodeId,
      targetNodeId: keyBefore.get(edge.targetNodeId) ?? edge.targetNodeId,
    }))
    .filter(
      ({ sourceNodeId, targetNodeId }) =>
        (keptKeys.has(sourceNodeId) || keptKeys.has(targetNodeId)) &&
        present.has(sourceNodeId) &&
        present.has(targetNodeId),
    );
  return {
    ...inOrder(normaliseGraph([...nodes, ...kept], [...byKey(read), ...keptEdges]), before),
    globalConfig: definition.global,
  };
}

/** Edges of a compiled graph, with component keys at both ends. */
function byKey(compiled: Pick<Graph, 'nodes' | 'edges'>) {
  const keyOf = new Map(compiled.nodes.map((node) => [node.id ?? node.componentKey, node.componentKey]));
  return compiled.edges.map((edge) => ({
    ...edge,
    sourceNodeId: keyOf.get(edge.sourceNodeId) ?? edge.sourceNodeId,
    targetNodeId: keyOf.get(edge.targetNodeId) ?? edge.targetNodeId,
  }));
}

/** Components and edges that were there before stay in their order; what is new follows. */
function inOrder(graph: Pick<Graph, 'nodes' | 'edges'>, before: Graph): Pick<Graph, 'nodes' | 'edges'> {
  const nodeAt = new Map(before.nodes.map((node, index) => [node.componentKey, index]));
  const last = before.nodes.length;
  const nodes = [...graph.nodes].sort(
    (a, b) => (nodeAt.get(a.componentKey) ?? last) - (nodeAt.get(b.componentKey) ?? last),
  );
  return { nodes, edges: graph.edges };
}
