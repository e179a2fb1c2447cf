import type { HeartbeatRequest } from '../../schemas/agent/protocol.ts';
import type { AgentConfig } from '../config.ts';
import type { DeploymentMode } from '../deps.ts';
import type { PollInterval } from '../poll-interval.ts';
import { AGENT_VERSION } from '../version.ts';
import { runningAs } from './deployment-mode.ts';
import type { EngineComponents } from './engine-inventory.ts';
import { readHostMetrics } from './host-metrics.ts';
import type { SelfMetrics } from './self-metrics.ts';

export interface NodeDescriptionOptions {
  config: AgentConfig;
  mode: DeploymentMode;
  interval: PollInterval;
  metrics: SelfMetrics;
  components: EngineComponents;
  /** Empty where it is not known. */
  engineVersion: () => string;
  updateError: () => string | null;
}

/** The part of a heartbeat that is about the node and not about one of its pipelines. */
export class NodeDescription {
  readonly #options: NodeDescriptionOptions;
  readonly #user = runningAs();

  constructor(options: NodeDescriptionOptions) {
    this.#options = options;
  }

  read(): Omit<HeartbeatRequest, 'pipelines'> {
    const { config, mode, interval, metrics, components, engineVersion, updateError } = this.#options;
    return {
      hostMetrics: readHostMetrics(config.dataDir),
      agentVersion: AGENT_VERSION,
      engine: components.report(),
      // Absent: the controller keeps the one that it has.
      engineVersion: engineVersion() || undefined,
      deploymentMode: mode,
      labels: config.labels,
      agentHealth: metrics.health(),
      runningAs: this.#user,
      updateError: updateError(),
      pollIntervalMs: Math.round(interval.ms),
    };
  }
}
