/** What the demo adds: where its agents begin to count their ports. */
import { readEngineBin } from './engine.ts';
import { type Environment, integer } from './values.ts';

export interface DemoConfig {
  /** Null where it is not set: free ports are looked for. */
  portBase: number | null;
  metricsPort: number;
  /** Null picks the reference engine where Vector is not installed. */
  engineBin: string | null;
}

export function readDemoConfig(env: Environment): DemoConfig {
  return {
    portBase: env.SVC_PORT_BASE ? integer(env, 'SVC_PORT_BASE', 8688, 1_024, 60_000) : null,
    metricsPort: integer(env, 'SVC_METRICS_PORT', 9090, 1_024, 60_000),
    engineBin: readEngineBin(env),
  };
}
