import type { ComponentType, Source } from '../component.ts';
import { demoLogs } from './demo-logs.ts';
import { file } from './file.ts';
import { hostMetrics } from './host-metrics.ts';
import { httpServer } from './http-server.ts';
import { internalMetrics } from './internal-metrics.ts';
import { stdin } from './stdin.ts';

/** Every source by its `type`. */
export const SOURCES: Record<string, ComponentType<Source>> = {
  demo_logs: demoLogs,
  file,
  host_metrics: hostMetrics,
  http_server: httpServer,
  internal_metrics: internalMetrics,
  stdin,
};
