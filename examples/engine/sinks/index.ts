import type { ComponentType, Sink } from '../component.ts';
import { blackhole } from './blackhole.ts';
import { consoleSink } from './console.ts';
import { fileSink } from './file.ts';
import { httpSink } from './http.ts';
import { prometheusExporter } from './prometheus-exporter.ts';

/** Every sink by its `type`. */
export const SINKS: Record<string, ComponentType<Sink>> = {
  blackhole,
  console: consoleSink,
  file: fileSink,
  http: httpSink,
  prometheus_exporter: prometheusExporter,
};
