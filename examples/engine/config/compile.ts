import type { BufferOptions, Check, ComponentType, Globals, Sink, Source, Transform } from '../component.ts';
import { DEFAULT_OUTPUT } from '../component.ts';
import type { DataType } from '../event.ts';
import { SINKS } from '../sinks/index.ts';
import { SOURCES } from '../sources/index.ts';
import { TRANSFORMS } from '../transforms/index.ts';
import { COMMON_LACKING, COMMON_OPTIONS } from './common-options.ts';
import { ConfigError, collectErrors } from './config-error.ts';
import { readSettings, type Settings } from './globals.ts';
import { type Consumer, connect, type Input, type Producer } from './graph.ts';
import type { MergedConfig } from './merge.ts';
import { type Options, readOptions, required, type Values } from './options.ts';
import { mismatch, unknownVariant } from './refusals.ts';
import { text } from './shape.ts';
import { isTable, type Table } from './table.ts';

interface Named {
  id: string;
  type: string;
}
export type SourceNode = Named & { definition: Source };
export type TransformNode = Named & { definition: Transform; inputs: Input[] };
/** One whose inputs are still as they are written. */
export type UnwiredTransform = Named & { definition: Transform; patterns: string[] };
export type SinkNode = Named & {
  definition: Sink;
  inputs: Input[];
  buffer: BufferOptions;
  healthcheck: HealthcheckOptions;
};

export interface HealthcheckOptions {
  enabled: boolean;
  /** What to ask; without it there is nothing to check. */
  uri: string | undefined;
}

/** A configuration whose shape and wiring are good; VRL and the outside world are still unchecked. */
export interface Compiled {
  settings: Settings;
  sources: SourceNode[];
  transforms: TransformNode[];
  sinks: SinkNode[];
  warnings: string[];
}

/** Reads every component's options and wires them up. Throws ConfigError with all that is wrong. */
export function compile(merged: MergedConfig, env: Record<string, string | undefined>): Compiled {
  const settings = readSettings(merged.global, env);
  const sources: SourceNode[] = [];
  const transforms: UnwiredTransform[] = [];
  const sinks: (Omit<SinkNode, 'inputs'> & { patterns: string[] })[] = [];

  const { globals } = settings;
  collectErrors([
    ...Object.entries(merged.sources).map(([id, table]) => () => {
      const { type, definition } = open(SOURCES, 'sources', COMMON_OPTIONS.sources, { id, table, globals });
      sources.push({ id, type, definition });
    }),
    ...Object.entries(merged.transforms).map(([id, table]) => () => {
      transforms.push(openTransform(id, table, globals));
    }),
    ...Object.entries(merged.sinks).map(([id, table]) => () => {
      const { type, definition, common } = open(SINKS, 'sinks', COMMON_OPTIONS.sinks, { id, table, globals });
      const { inputs: patterns, buffer, healthcheck } = common;
      sinks.push({
        id,
        type,
        definition,
        patterns,
        buffer: { maxEvents: buffer.max_events, whenFull: buffer.when_full },
        healthcheck:
          typeof healthcheck === 'boolean' ? { enabled: healthcheck, uri: undefined } : healthcheck,
      });
    }),
  ]);
  const producers: Producer[] = [
    ...sources.map(({ id, definition }) => ({
      id,
      ports: [DEFAULT_OUTPUT],
      kind: 'source' as const,
      types: [definition.output],
    })),
    ...transforms.map(({ id, definition }) => ({
      id,
      ports: definition.ports,
      kind: 'transform' as const,
      types: definition.accepts && [...definition.accepts],
    })),
  ];
  const consumers: Consumer[] = [
    ...transforms.map(({ id, patterns, definition }) => ({
      id,
      patterns,
      kind: 'transform' as const,
      accepts: definition.accepts ?? ALL_TYPES,
    })),
    ...sinks.map(({ id, patterns, definition }) => ({
      id,
      patterns,
      kind: 'sink' as const,
      accepts: definition.accepts,
    })),
  ];
  const { inputs, warnings } = connect(producers, consumers, settings.relaxedWildcards, shapeErrors(merged));
  checkResources([...sources, ...sinks]);
  return {
    settings,
    sources,
    transforms: transforms.map(({ patterns: _patterns, ...node }) => ({
      ...node,
      inputs: inputs.get(node.id) ?? [],
    })),
    sinks: sinks.map(({ patterns: _patterns, ...node }) => ({ ...node, inputs: inputs.get(node.id) ?? [] })),
    warnings,
  };
}

const ALL_TYPES: readonly DataType[] = ['log', 'metric'];

/** Reads a transform's options. Throws ConfigError. */
export function openTransform(id: string, table: unknown, globals: Globals): UnwiredTransform {
  const options = COMMON_OPTIONS.transforms;
  const { type, definition, common } = open(TRANSFORMS, 'transforms', options, { id, table, globals });
  return { id, type, definition, patterns: common.inputs };
}

const TYPE = required(text, 'The type of the component.');
const TITLES = { sources: 'Source', transforms: 'Transform', sinks: 'Sink' } as const;

/** Reads a component's options: those of its kind, and its own. */
function open<C, O extends Options>(
  registry: Record<string, ComponentType<C>>,
  kind: keyof typeof TITLES,
  options: O,
  { id, table, globals }: { id: string; table: unknown; globals: Globals },
): { type: string; definition: C; common: Values<O> } {
  const path = `${kind}.${id}`;
  if (!isTable(table)) throw mismatch(table, 'a map', path);
  const type = TYPE.read(table.type, { name: 'type', path });
  const component = Object.hasOwn(registry, type) ? registry[type] : undefined;
  if (!component) throw unknownVariant(type, Object.keys(registry).sort(), path);
  const all = { type: TYPE, ...options, ...component.options };
  return named(TITLES[kind], id, () => {
    const values = readOptions(table, path, all, {
      lacking: [...COMMON_LACKING[kind], ...(component.lacking ?? [])],
      ignoresUnknown: component.ignoresUnknown ?? false,
      named: [
        ...Object.keys(component.options),
        ...('acknowledgements' in options ? ['acknowledgements'] : []),
      ],
    });
    return { type, definition: component.configure(values, globals, path), common: values as Values<O> };
  });
}

/** What Vector finds when it builds the components, each with the component's name in front. */
export function buildErrors(
  kind: 'Source' | 'Transform' | 'Sink',
  nodes: readonly { id: string; definition: { check?: Check } }[],
  globals: Globals,
): string[] {
  return nodes.flatMap(({ id, definition }) =>
    (definition.check?.(globals) ?? []).map((message) => `${kind} "${id}": ${message}`),
  );
}

/** Errors that do not say where they are get the component's name in front. */
function named<T>(kind: string, id: string, configure: () => T): T {
  try {
    return configure();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(
      error.messages.map((message) =>
        /\nin `[^`]*`$|^Transform \S+ cannot have/.test(message) ? message : `${kind} "${id}": ${message}`,
      ),
    );
  }
}

function shapeErrors({ sources, transforms, sinks }: MergedConfig): string[] {
  const errors: string[] = [];
  if (Object.keys(sources).length === 0) errors.push('No sources defined in the config.');
  if (Object.keys(sinks).length === 0) errors.push('No sinks defined in the config.');
  const kindsById = new Map<string, string[]>();
  for (const [kind, table] of Object.entries({
    source: sources,
    transform: transforms,
    sink: sinks,
  } as Record<string, Table>)) {
    for (const id of Object.keys(table)) {
      if (id.includes('.')) errors.push(`Component name "${id}" should not contain a "."`);
      kindsById.set(id, [...(kindsById.get(id) ?? []), kind]);
    }
  }
  for (const [id, kinds] of kindsById) {
    if (kinds.length > 1) errors.push(`More than one component with name "${id}" (${kinds.join(', ')}).`);
  }
  return errors;
}

function checkResources(nodes: { id: string; definition: { resources?: string[] } }[]): void {
  const claims = new Map<string, string[]>();
  for (const { id, definition } of nodes) {
    for (const resource of definition.resources ?? [])
      claims.set(resource, [...(claims.get(resource) ?? []), id]);
  }
  const errors = [...claims]
    .filter(([, ids]) => ids.length > 1)
    .map(([resource, ids]) => {
      const list = ids.map((id) => `ComponentKey { id: "${id}" }`).join(', ');
      return `Resource \`${resource}\` is claimed by multiple components: {${list}}`;
    });
  if (errors.length > 0) throw new ConfigError(errors);
}
