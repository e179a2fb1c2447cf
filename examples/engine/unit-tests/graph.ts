/** The transforms of a configuration without its sources and sinks, and how events go through them. */
import { type ComponentContext, DEFAULT_OUTPUT, type Process } from '../component.ts';
import { openTransform, type TransformNode, type UnwiredTransform } from '../config/compile.ts';
import { ConfigError, collectErrors } from '../config/config-error.ts';
import type { Settings } from '../config/globals.ts';
import { connect, standsFor } from '../config/graph.ts';
import type { MergedConfig } from '../config/merge.ts';
import { type Batch, type LogEvent, logBatch, type Metric, metricBatch } from '../event.ts';
import type { Logger } from '../log.ts';
import { ComponentMetrics } from '../telemetry/component-metrics.ts';
import { Registry } from '../telemetry/registry.ts';
import type { VrlProgram } from '../vrl/program.ts';

export interface TestGraph {
  /** Those that feed others come first. */
  transforms: TransformNode[];
  /** `id`, or `id.port` for a named output. */
  outputs: ReadonlySet<string>;
}

export const outputName = (id: string, port: string) => (port === DEFAULT_OUTPUT ? id : `${id}.${port}`);

/** Inputs that lead to a source, or nowhere, are left out. Throws ConfigError. */
export function readGraph(merged: MergedConfig, { globals }: Settings): TestGraph {
  const opened: UnwiredTransform[] = [];
  collectErrors(
    Object.entries(merged.transforms).map(([id, table]) => () => {
      opened.push(openTransform(id, table, globals));
    }),
  );
  const outputs = new Set(
    opened.flatMap(({ id, definition }) => definition.ports.map((port) => outputName(id, port))),
  );
  const patternsOf = ({ patterns }: UnwiredTransform) =>
    patterns.filter((pattern) => [...outputs].some((name) => standsFor(pattern, name)));
  const { inputs } = connect(
    opened.map(({ id, definition }) => ({
      id,
      ports: definition.ports,
      kind: 'transform' as const,
      // What is given to a transform in a test may be of any type.
      types: [...ANY],
    })),
    opened
      .filter((one) => patternsOf(one).length > 0)
      .map((one) => ({ id: one.id, patterns: patternsOf(one), kind: 'transform' as const, accepts: ANY })),
    true,
  );
  const transforms = opened.map(({ patterns: _patterns, ...node }) => ({
    ...node,
    inputs: inputs.get(node.id) ?? [],
  }));
  return { transforms: inOrder(transforms), outputs };
}

const ANY = ['log', 'metric'] as const;

function inOrder(transforms: readonly TransformNode[]): TransformNode[] {
  const byId = new Map(transforms.map((node) => [node.id, node]));
  const ordered = new Set<TransformNode>();
  const add = (node: TransformNode) => {
    if (ordered.has(node)) return;
    for (const { id } of node.inputs) add(byId.get(id)!);
    ordered.add(node);
  };
  for (const node of transforms) add(node);
  return [...ordered];
}

/** Gives the events to the transforms that are named, and tells what leaves by each output. Nothing is left from other runs. */
export function runGraph(
  { transforms }: TestGraph,
  given: ReadonlyMap<string, readonly LogEvent[]>,
  deps: { programs: ReadonlyMap<string, VrlProgram[]>; settings: Settings; log: Logger },
): Map<string, (LogEvent | Metric)[]> {
  const left = new Map<string, (LogEvent | Metric)[]>();
  const batches = new Map<string, Batch[]>();
  for (const node of transforms) {
    const inserted = given.get(node.id) ?? [];
    const arriving = [
      ...(inserted.length > 0 ? [logBatch([...inserted])] : []),
      ...node.inputs.flatMap(({ id, port }) => batches.get(outputName(id, port)) ?? []),
    ].filter(({ kind }) => node.definition.accepts?.includes(kind) ?? true);
    if (arriving.length === 0) continue;
    const process = start(node, deps);
    for (const batch of arriving) {
      for (const [port, made] of process(copyOf(batch))) {
        const name = outputName(node.id, port);
        batches.set(name, [...(batches.get(name) ?? []), made]);
        left.set(name, [...(left.get(name) ?? []), ...made.events]);
      }
    }
  }
  return left;
}

function start(
  { id, type, definition }: TransformNode,
  { programs, settings, log }: Parameters<typeof runGraph>[2],
): Process {
  const context: ComponentContext = {
    log: log.child(`headgate_engine::transforms::${type}`, { kind: 'transform', id, type }),
    metrics: new ComponentMetrics(new Registry(), { id, kind: 'transform', type }),
    globals: settings.globals,
  };
  return definition.start(context, programs.get(id) ?? []);
}

const copyOf = (batch: Batch): Batch =>
  batch.kind === 'log' ? logBatch([...batch.events]) : metricBatch([...batch.events]);

/** Throws ConfigError where nothing that goes in at `id` could come to one of the outputs. */
export function checkReach({ transforms }: TestGraph, id: string, wanted: readonly string[]): void {
  const reached = new Set([id]);
  for (const node of transforms) if (node.inputs.some((input) => reached.has(input.id))) reached.add(node.id);
  const reaches = transforms.some(
    (node) =>
      reached.has(node.id) &&
      node.definition.ports.some((port) => wanted.includes(outputName(node.id, port))),
  );
  if (reaches) return;
  throw new ConfigError(`Unable to complete topology between input target '${id}' and output target(s)`);
}
