/** Compiles a definition to what is stored and served: the graph and the engine's YAML. */
import type { GraphEdge, GraphNode } from '../../../schemas/api/pipelines/graph.ts';
import { isDefaultDataDir } from './default-data-dir.ts';
import {
  type Component,
  componentsOf,
  type Definition,
  type Input,
  resolveInput,
  type Section,
} from './definition.ts';
import { renderYaml } from './render-yaml.ts';

export interface Compiled {
  nodes: GraphNode[];
  edges: GraphEdge[];
  configYaml: string;
  /** Keys of components that the config omits: disabled ones, and those that only disabled ones feed. */
  leftOut: string[];
}

const KIND: Record<Section, GraphNode['kind']> = {
  sources: 'SOURCE',
  transforms: 'TRANSFORM',
  sinks: 'SINK',
};
const COLUMN_PX = 280;
const ROW_PX = 120;

/** `definition` must have passed the checks. An input that resolves to nothing is left out. */
export function compile(definition: Definition): Compiled {
  const components = componentsOf(definition);
  const inputs = new Map(components.map((component) => [component, resolvedInputs(component, components)]));
  const depth = depths(inputs);
  const rowsUsed = new Map<number, number>();
  const nodes = components.map((component): GraphNode => {
    const column = depth.get(component.key) ?? 0;
    const row = rowsUsed.get(column) ?? 0;
    rowsUsed.set(column, row + 1);
    const editor = definition.components[component.key];
    return {
      id: component.key,
      componentKey: component.key,
      ...(editor?.displayName === undefined ? {} : { displayName: editor.displayName }),
      componentType: component.type,
      kind: KIND[component.section],
      config: component.options,
      positionX: editor?.position?.[0] ?? column * COLUMN_PX,
      positionY: editor?.position?.[1] ?? row * ROW_PX,
      disabled: component.disabled,
    };
  });
  const edges = components.flatMap((component) =>
    (inputs.get(component) ?? []).map(
      (input): GraphEdge => ({
        id: `${input.key}${input.port === null ? '' : `.${input.port}`}>${component.key}`,
        sourceNodeId: input.key,
        targetNodeId: component.key,
        ...(input.port === null ? {} : { sourcePort: input.port }),
      }),
    ),
  );
  return { nodes, edges, ...renderConfig(inputs, definition.global) };
}

/** The resolved inputs of each component. Resolved once, since the algorithms here iterate over them. */
type Inputs = ReadonlyMap<Component, readonly Input[]>;

function resolvedInputs(component: Component, components: readonly Component[]): Input[] {
  const seen = new Set<string>();
  return component.inputs
    .flatMap((entry) => resolveInput(entry, components))
    .filter((input) => {
      const name = `${input.key}.${input.port ?? ''}`;
      if (input.key === component.key || seen.has(name)) return false;
      seen.add(name);
      return true;
    });
}

/** Renders the engine's config without disabled components and without components that then have no input. */
function renderConfig(
  resolved: Inputs,
  global: Record<string, unknown>,
): Pick<Compiled, 'configYaml' | 'leftOut'> {
  const components = [...resolved.keys()];
  const dropped = new Set(
    components.filter((component) => component.disabled).map((component) => component.key),
  );
  const inputs = new Map<string, string[]>();
  for (let changed = true; changed; ) {
    changed = false;
    for (const [component, all] of resolved) {
      if (dropped.has(component.key) || component.section === 'sources') continue;
      const live = all.filter((input) => !dropped.has(input.key));
      inputs.set(
        component.key,
        live.map((input) => (input.port === null ? input.key : `${input.key}.${input.port}`)),
      );
      if (live.length > 0) continue;
      dropped.add(component.key);
      changed = true;
    }
  }
  const { data_dir: dataDir, ...others } = global;
  const config: Record<string, unknown> = isDefaultDataDir(dataDir) ? others : { ...global };
  for (const section of ['sources', 'transforms', 'sinks'] as const) {
    const entries = components
      .filter((component) => component.section === section && !dropped.has(component.key))
      .map((component) => [
        component.key,
        {
          type: component.type,
          ...(section === 'sources' ? {} : { inputs: inputs.get(component.key) }),
          ...component.options,
        },
      ]);
    if (entries.length > 0) config[section] = Object.fromEntries(entries);
  }
  return {
    configYaml: renderYaml(config),
    leftOut: [...dropped],
  };
}

/** Distance of each component from the sources, for a left-to-right layout. */
function depths(inputs: Inputs): Map<string, number> {
  const depth = new Map<string, number>(
    [...inputs.keys()].map((component) => [component.key, component.section === 'sources' ? 0 : 1]),
  );
  for (let round = 0; round < inputs.size; round += 1) {
    let changed = false;
    for (const [component, all] of inputs) {
      let deepest = 0;
      for (const input of all) deepest = Math.max(deepest, (depth.get(input.key) ?? 0) + 1);
      if (
        component.section !== 'sources' &&
        deepest > (depth.get(component.key) ?? 0) &&
        deepest <= inputs.size
      ) {
        depth.set(component.key, deepest);
        changed = true;
      }
    }
    if (!changed) break;
  }
  return depth;
}
