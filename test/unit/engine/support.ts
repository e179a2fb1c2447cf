import type { Process } from '../../../examples/engine/component.ts';
import { type Compiled, compile } from '../../../examples/engine/config/compile.ts';
import { ConfigError } from '../../../examples/engine/config/config-error.ts';
import { parseConfig } from '../../../examples/engine/config/load.ts';
import { mergeConfigs } from '../../../examples/engine/config/merge.ts';
import { type LogEvent, logBatch } from '../../../examples/engine/event.ts';
import { createLogger, type Logger } from '../../../examples/engine/log.ts';
import { ComponentMetrics } from '../../../examples/engine/telemetry/component-metrics.ts';
import { Registry } from '../../../examples/engine/telemetry/registry.ts';
import { Topology } from '../../../examples/engine/topology/topology.ts';
import { compileTransforms } from '../../../examples/engine/vrl/compile-transforms.ts';

/** Compiles one or more YAML texts as the engine would. */
export function compileYaml(...texts: string[]): Compiled {
  return compile(mergeConfigs(texts.map((text) => parseConfig(text, 'yaml'))), {});
}

/** The messages with which YAML texts are refused; empty if they are good. */
export function configErrors(...texts: string[]): string[] {
  try {
    compileYaml(...texts);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.messages;
    throw error;
  }
}

/** A logger that collects its lines. */
export function collectingLogger(): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  return { log: createLogger({ level: 'trace', format: 'text', write: (line) => lines.push(line) }), lines };
}

/** Starts the one transform of the given options; `value` reads its metrics by name and label text. */
export async function startTransform(options: string) {
  const compiled = compileYaml(
    'sources: {in: {type: demo_logs, format: json}}',
    'sinks: {out: {type: blackhole, inputs: [in]}}',
    `transforms: {t: {inputs: [in], ${options}}}`,
  );
  const [node] = compiled.transforms;
  const registry = new Registry();
  const { log, lines } = collectingLogger();
  const metrics = new ComponentMetrics(registry, { id: 't', kind: 'transform', type: node!.type });
  const programs = await compileTransforms(compiled);
  const process: Process = node!.definition.start(
    {
      log: log.child('transforms', { kind: 'transform', id: 't', type: node!.type }),
      metrics,
      globals: compiled.settings.globals,
    },
    programs.get('t') ?? [],
  );
  const run = (...events: LogEvent[]) =>
    Object.fromEntries([...process(logBatch(events))].map(([port, batch]) => [port, batch.events]));
  const value = (name: string, tags: Record<string, string>) =>
    registry
      .snapshot(0, 'vector', {})
      .find(
        (metric) =>
          metric.name === name && Object.entries(tags).every(([key, text]) => metric.tags[key] === text),
      )?.value;
  return { run, value, lines, process };
}

/** Starts a configuration; `sum` reads a metric, summed over the series with the given labels. */
export async function startTopology(...files: string[]) {
  const compiled = compileYaml(...files);
  const registry = new Registry();
  const { log, lines } = collectingLogger();
  const programs = await compileTransforms(compiled);
  const topology = await Topology.start({ compiled, programs, registry, log });
  const sum = (name: string, tags: Record<string, string>) =>
    registry
      .snapshot(0, 'vector', {})
      .filter(
        (metric) =>
          metric.name === name && Object.entries(tags).every(([key, text]) => metric.tags[key] === text),
      )
      .reduce((total, metric) => total + metric.value, 0);
  return { topology, sum, lines };
}
