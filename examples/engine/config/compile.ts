import type { BufferOptions, Sink, Source, Transform } from '../component.ts';
import { DEFAULT_OUTPUT } from '../component.ts';
import type { DataType } from '../event.ts';
import { SINKS } from '../sinks/index.ts';
import { SOURCES } from '../sources/index.ts';
import { TRANSFORMS } from '../transforms/index.ts';
import { ConfigError, collectErrors } from './config-error.ts';
import { readSettings, type Settings } from './globals.ts';
import { type Consumer, connect, type Input, type Producer } from './graph.ts';
import type { MergedConfig } from './merge.ts';
import { isTable, OptionReader, type Table, unknownVariant } from './option-reader.ts';

interface Named {
  id: string;
  type: string;
}
export type SourceNode = Named & { definition: Source };
export type TransformNode = Named & { definition: Transform; inputs: Input[] };
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
  const transforms: (Omit<TransformNode, 'inputs'> & { patterns: string[] })[] = [];
  const sinks: (Omit<SinkNode, 'inputs'> & { patterns: string[] })[] = [];

  collectErrors([
    ...Object.entries(merged.sources).map(([id, table]) => () => {
      const { type, options, configure } = open(SOURCES, 'sources', id, table);
      options.raw('acknowledgements');
      sources.push({ id, type, definition: named('Source', id, () => configure(options, settings.globals)) });
    }),
    ...Object.entries(merged.transforms).map(([id, table]) => () => {
      const { type, options, configure } = open(TRANSFORMS, 'transforms', id, table);
      const patterns = options.strings('inputs') ?? [];
      const definition = named('Transform', id, () => configure(options, settings.globals));
      transforms.push({ id, type, definition, patterns });
    }),
    ...Object.entries(merged.sinks).map(([id, table]) => () => {
      const { type, options, configure } = open(SINKS, 'sinks', id, table);
      const patterns = options.strings('inputs') ?? [];
      options.raw('acknowledgements');
      const buffer = readBuffer(options);
      const healthcheck = readHealthcheck(options);
      const definition = named('Sink', id, () => configure(options, settings.globals));
      sinks.push({ id, type, definition, patterns, buffer, healthcheck });
    }),
  ]);
  checkShape(merged);

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
  const { inputs, warnings } = connect(producers, consumers, settings.relaxedWildcards);
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

function open<T>(registry: Record<string, T>, section: string, id: string, table: unknown) {
  const path = `${section}.${id}`;
  const options = new OptionReader(table, path);
  const type = options.requiredString('type');
  const configure = Object.hasOwn(registry, type) ? registry[type] : undefined;
  if (!configure) throw unknownVariant(type, Object.keys(registry).sort(), path);
  return { type, options, configure };
}

/** Errors that do not say where they are get the component's name in front. */
function named<T>(kind: string, id: string, configure: () => T): T {
  try {
    return configure();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(
      error.messages.map((message) =>
        /\nin `[^`]*`$/.test(message) ? message : `${kind} "${id}": ${message}`,
      ),
    );
  }
}

function readBuffer(options: OptionReader): BufferOptions {
  const buffer = options.nested('buffer');
  buffer.oneOf('type', ['memory'], 'memory');
  const maxEvents = buffer.integer('max_events', 500, 1);
  const whenFull = buffer.oneOf('when_full', ['block', 'drop_newest'], 'block');
  buffer.finish();
  return { maxEvents, whenFull };
}

/** `healthcheck: false` or `healthcheck: {enabled: false, uri: …}`. */
function readHealthcheck(options: OptionReader): HealthcheckOptions {
  if (!isTable(options.raw('healthcheck'))) {
    return { enabled: options.boolean('healthcheck', true), uri: undefined };
  }
  const healthcheck = options.nested('healthcheck');
  const read = { enabled: healthcheck.boolean('enabled', true), uri: healthcheck.string('uri') };
  healthcheck.finish();
  return read;
}

function checkShape({ sources, transforms, sinks }: MergedConfig): void {
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
  if (errors.length > 0) throw new ConfigError(errors);
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
      const list = ids.map((id) => `"${id}"`).join(', ');
      return `Resource \`${resource}\` is claimed by multiple components: {${list}}`;
    });
  if (errors.length > 0) throw new ConfigError(errors);
}
