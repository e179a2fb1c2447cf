/**
 * Reads an engine config into a graph, and locates findings in its text. Rendering a graph and reading the text again returns
 * the same graph. What the text cannot contain (titles, positions, disabled components) comes from the previous graph.
 */
import { type GraphNode, MAX_GRAPH_EDGES, MAX_GRAPH_NODES } from '../../../schemas/api/pipelines/graph.ts';
import { badRequest } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import { composeDocuments, syntaxFinding, type YamlFault } from '../../platform/yaml/documents.ts';
import { locate, locateInText, type YamlText } from '../../platform/yaml/locate.ts';
import { plainValue } from '../../platform/yaml/plain-value.ts';
import { pointerTo } from '../../platform/yaml/pointer.ts';
import { withPlainVariables } from '../../secrets/index.ts';
import { explainMissing } from '../definition/checks/check-graph.ts';
import { compile } from '../definition/compile.ts';
import { componentsOf, type Definition, resolveInput, SECTIONS } from '../definition/definition.ts';
import { definitionOf, type Graph, MAX_GRAPH_BYTES, normaliseGraph } from './graph.ts';

export interface TextFault {
  message: string;
  line: number;
  column: number;
  componentKey?: string;
}

export type ReadConfig = { definition: Definition; faults: [] } | { definition: null; faults: TextFault[] };

const COMPONENT_KEY = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const MAX_FAULTS = 50;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses an engine config into a definition, or returns all faults that prevent it. */
export function readEngineConfig(text: string): ReadConfig {
  const fail = (...faults: TextFault[]): ReadConfig => ({ definition: null, faults });
  const { documents, finding } = composeDocuments(text);
  const toTextFault = ({ message, hint, line, column }: YamlFault): TextFault => ({
    message: `${message}; ${hint}`,
    line,
    column,
  });
  if (finding) return fail(toTextFault(finding));
  const document = documents[0];
  const [error] = documents.flatMap((document) => document.errors);
  if (error) return fail(toTextFault(syntaxFinding(text, error)));
  if (documents.length > 1 || !document) {
    return fail({
      message: document ? 'An engine config is one YAML document' : 'The config is empty',
      line: 1,
      column: 1,
    });
  }
  const { value, findings } = plainValue(text, document);
  if (findings.length > 0) return fail(...findings.map(toTextFault));
  const config = withPlainSecrets(value);
  const whole = (message: string) => fail({ message, line: 1, column: 1 });
  if (!isRecord(config)) return whole('A config is a mapping with sources, transforms and sinks');
  const bytes = Buffer.byteLength(JSON.stringify(config));
  if (bytes > MAX_GRAPH_BYTES)
    return whole(
      `The config comes to ${bytes} bytes with its aliases expanded, the limit is ${MAX_GRAPH_BYTES}`,
    );
  const source = { text };
  const faults: TextFault[] = [];
  const fault = (pointer: string, message: string, componentKey?: string) =>
    faults.push({
      message,
      ...locate(source, 0, pointer),
      ...(componentKey === undefined ? {} : { componentKey }),
    });
  const sectionOf = new Map<string, string>();
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
            `"${key.slice(0, 100)}" is not a valid component key; use letters, digits and _, not beginning with a digit, at most 128`,
          );
        } else if (!isRecord(component)) fault(pointer, `"${key}" must be a mapping with its type`, key);
        else if (typeof component.type !== 'string' || component.type === '' || component.type.length > 100) {
          fault(pointer, `"${key}" lacks its type; name the component type, such as type: file`, key);
        } else if (section === 'sources' && 'inputs' in component) {
          fault(`${pointer}/inputs`, `the source "${key}" takes no inputs; remove them`, key);
        } else if (section !== 'sources' && !isInputs(component.inputs)) {
          fault(pointer, `"${key}" lacks its inputs; list what feeds it, such as inputs: [in]`, key);
        }
        const other = sectionOf.get(key);
        if (other) fault(pointer, `"${key}" is in ${other} too; give each component its own key`, key);
        sectionOf.set(key, section);
      }
      return [section, components];
    }),
  );
  if (faults.length > 0) return fail(...faults.slice(0, MAX_FAULTS));
  const parts = Object.values(read).flatMap((components) => Object.values(components as Definition['sinks']));
  if (parts.length > MAX_GRAPH_NODES)
    return whole(
      `The config has ${parts.length} components, the limit is ${MAX_GRAPH_NODES}; split the pipeline`,
    );
  const inputs = parts.reduce((sum, part) => sum + (part.inputs?.length ?? 0), 0);
  if (inputs > MAX_GRAPH_EDGES)
    return whole(`The config has ${inputs} inputs, the limit is ${MAX_GRAPH_EDGES}; split the pipeline`);
  const global = Object.fromEntries(
    Object.entries(config).filter(([name]) => !(SECTIONS as readonly string[]).includes(name)),
  );
  const definition = { ...read, global, components: {}, logLevel: 'info', deployed: true, dependsOn: [] };
  return { definition: definition as unknown as Definition, faults: [] };
}

/** A rendered config uses escaped forms of secrets in VRL; a definition contains only the plain references. */
function withPlainSecrets(value: unknown): unknown {
  if (typeof value === 'string') return withPlainVariables(value);
  if (Array.isArray(value)) return value.map(withPlainSecrets);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withPlainSecrets(item)]));
}

const isInputs = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((entry) => typeof entry === 'string' && entry !== '' && entry.length <= 260);

/**
 * Position in the text of a finding that points into the definition. Pass the same `source` object for all findings of a text.
 */
export function positionInConfig(
  source: YamlText,
  finding: { pointer: string; line?: number; column?: number },
): { line: number; column: number } {
  const pointer = finding.pointer.replace(/^\/global/, '');
  return finding.line === undefined
    ? locate(source, 0, pointer)
    : locateInText(source, 0, pointer, finding.line, finding.column ?? 1);
}

/**
 * Builds the graph of an engine config. Components keep the id, title, position and link that they have in `before`. Components
 * that the rendering of `before` omits (disabled, or fed only by disabled ones) are retained.
 *
 * @throws BAD_REQUEST with the faults as `validationErrors`
 */
export function graphOfConfig(text: string, before: Graph): Graph {
  const { definition, faults } = readEngineConfig(text);
  if (!definition) throw unreadable(faults);
  const known = new Map(before.nodes.map((node) => [node.componentKey, node]));
  const written = new Set(SECTIONS.flatMap((section) => Object.keys(definition[section])));
  const rendered = compile(definitionOf(before));
  const retained = before.nodes.filter(
    ({ componentKey }) => rendered.leftOut.includes(componentKey) && !written.has(componentKey),
  );
  const lost = lostInputs(text, definition, new Set(retained.map((node) => node.componentKey)));
  if (lost.length > 0) throw unreadable(lost);
  const read = compile(definition);
  if (read.edges.length > MAX_GRAPH_EDGES)
    throw badRequest(
      `The inputs come to ${read.edges.length} connections, the limit is ${MAX_GRAPH_EDGES}; split the pipeline`,
    );
  const nodes = read.nodes.map((node): GraphNode & { id: string } => {
    const created = { ...node, id: newId() };
    const old = known.get(node.componentKey);
    if (!old || old.kind !== node.kind) return created;
    const same =
      old.componentType === node.componentType && JSON.stringify(old.config) === JSON.stringify(node.config);
    return {
      ...created,
      positionX: old.positionX,
      positionY: old.positionY,
      ...(old.id === undefined ? {} : { id: old.id }),
      ...(old.displayName === undefined ? {} : { displayName: old.displayName }),
      // A config that was changed in the text no longer equals the shared component.
      ...(same && old.sharedComponentId !== undefined
        ? { sharedComponentId: old.sharedComponentId, sharedComponentVersion: old.sharedComponentVersion }
        : {}),
    };
  });
  const keyBefore = new Map(before.nodes.map((node) => [node.id ?? node.componentKey, node.componentKey]));
  const retainedKeys = new Set(retained.map((node) => node.componentKey));
  const idOf = new Map(
    [...nodes, ...retained].map((node) => [node.componentKey, node.id ?? node.componentKey]),
  );
  const kindOf = new Map([...nodes, ...retained].map((node) => [node.componentKey, node.kind]));
  const retainedEdges = before.edges
    .map((edge) => ({
      ...edge,
      sourceNodeId: keyBefore.get(edge.sourceNodeId) ?? edge.sourceNodeId,
      targetNodeId: keyBefore.get(edge.targetNodeId) ?? edge.targetNodeId,
    }))
    .filter(
      ({ sourceNodeId, targetNodeId }) =>
        (retainedKeys.has(sourceNodeId) || retainedKeys.has(targetNodeId)) &&
        kindOf.has(sourceNodeId) &&
        kindOf.has(targetNodeId) &&
        // The text may have changed the kind of the component.
        kindOf.get(sourceNodeId) !== 'SINK' &&
        kindOf.get(targetNodeId) !== 'SOURCE',
    );
  // Edges refer to ids: a component may have an id that equals the key of another one.
  const edges = [...byKey(read), ...retainedEdges].map((edge) => ({
    ...edge,
    sourceNodeId: idOf.get(edge.sourceNodeId) ?? edge.sourceNodeId,
    targetNodeId: idOf.get(edge.targetNodeId) ?? edge.targetNodeId,
  }));
  return {
    ...inOrder(normaliseGraph([...nodes, ...retained], edges), before),
    globalConfig: definition.global,
  };
}

function unreadable(faults: readonly TextFault[]) {
  const [first] = faults;
  return badRequest(`The config cannot be read: line ${first?.line}: ${first?.message}`, {
    validationErrors: [...faults],
  });
}

/**
 * Finds inputs that no edge can represent: they would vanish from the graph, and with them perhaps the components they feed.
 */
function lostInputs(text: string, definition: Definition, disabledKeys: ReadonlySet<string>): TextFault[] {
  const source = { text };
  const components = componentsOf(definition);
  const faults: TextFault[] = [];
  for (const component of components) {
    for (const [index, entry] of component.inputs.entries()) {
      const found = resolveInput(entry, components);
      if (found.some((input) => input.key !== component.key)) continue;
      if (faults.length === MAX_FAULTS) return faults;
      const pointer = `${pointerTo(`/${component.section}`, component.key)}/inputs/${index}`;
      const { message, hint } =
        found.length > 0
          ? { message: `"${component.key}" takes its own output as input`, hint: 'name another component' }
          : disabledKeys.has(entry.split('.')[0] ?? '')
            ? {
                message: `input "${entry}" of "${component.key}" is disabled`,
                hint: 'enable it first',
              }
            : explainMissing(entry, component, components);
      faults.push({
        message: `${message}; ${hint}`,
        componentKey: component.key,
        ...locate(source, 0, pointer),
      });
    }
  }
  return faults;
}

/** The edges of a compiled graph with component keys at both ends. */
function byKey(compiled: Pick<Graph, 'nodes' | 'edges'>) {
  const keyOf = new Map(compiled.nodes.map((node) => [node.id ?? node.componentKey, node.componentKey]));
  return compiled.edges.map((edge) => ({
    ...edge,
    sourceNodeId: keyOf.get(edge.sourceNodeId) ?? edge.sourceNodeId,
    targetNodeId: keyOf.get(edge.targetNodeId) ?? edge.targetNodeId,
  }));
}

/** Sorts existing components in their previous order; new ones follow. */
function inOrder(graph: Pick<Graph, 'nodes' | 'edges'>, before: Graph): Pick<Graph, 'nodes' | 'edges'> {
  const nodeAt = new Map(before.nodes.map((node, index) => [node.componentKey, index]));
  const last = before.nodes.length;
  const nodes = [...graph.nodes].sort(
    (a, b) => (nodeAt.get(a.componentKey) ?? last) - (nodeAt.get(b.componentKey) ?? last),
  );
  return { nodes, edges: graph.edges };
}
