import type { Globals, Sink } from '../component.ts';
import type { OptionReader } from '../config/option-reader.ts';
import { configureBlackhole } from './blackhole.ts';
import { configureConsole } from './console.ts';
import { configureFileSink } from './file.ts';
import { configureHttpSink } from './http.ts';
import { configurePrometheusExporter } from './prometheus-exporter.ts';

/** Every sink by its `type`. */
export const SINKS: Record<string, (options: OptionReader, globals: Globals) => Sink> = {
  blackhole: configureBlackhole,
  console: configureConsole,
  file: configureFileSink,
  http: configureHttpSink,
  prometheus_exporter: configurePrometheusExporter,
};
