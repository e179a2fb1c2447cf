import type { Globals, Source } from '../component.ts';
import type { OptionReader } from '../config/option-reader.ts';
import { configureDemoLogs } from './demo-logs.ts';
import { configureFile } from './file.ts';
import { configureHostMetrics } from './host-metrics.ts';
import { configureHttpServer } from './http-server.ts';
import { configureInternalMetrics } from './internal-metrics.ts';
import { configureStdin } from './stdin.ts';

/** Every source by its `type`. */
export const SOURCES: Record<string, (options: OptionReader, globals: Globals) => Source> = {
  demo_logs: configureDemoLogs,
  file: configureFile,
  host_metrics: configureHostMetrics,
  http_server: configureHttpServer,
  internal_metrics: configureInternalMetrics,
  stdin: configureStdin,
};
