import { ownDataDir, quoteYaml } from './config-text.ts';

/** The sidecar's sink that the agent scrapes. */
export const METRICS_EXPORTER = 'svc_metrics_exporter';

export interface SidecarSettings {
  metricsPort: number;
  apiPort: number;
  dataDir: string;
  /** The pipeline's own YAML: where it sets a data_dir of its own, a second one would fail the start. */
  configYaml: string;
}

/**
 * The second config file of each engine: its metrics on loopback, its API, and a data folder of its own, since two
 * engines on one folder overwrite each other's file positions. The collectors leave out per-process and cgroup series.
 */
export function renderSidecar({ metricsPort, apiPort, dataDir, configYaml }: SidecarSettings): string {
  const dataLine = ownDataDir(configYaml) !== undefined ? '' : `data_dir: ${quoteYaml(dataDir)}\n`;
  return `${dataLine}api:
  enabled: true
  address: 127.0.0.1:${apiPort}
sources:
  svc_internal_metrics:
    type: internal_metrics
  svc_host_metrics:
    type: host_metrics
    collectors: [cpu, memory, load, disk, filesystem, network]
sinks:
  ${METRICS_EXPORTER}:
    type: prometheus_exporter
    inputs: [svc_internal_metrics, svc_host_metrics]
    address: 127.0.0.1:${metricsPort}
`;
}
