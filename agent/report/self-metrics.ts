import type { AgentHealth } from '../../schemas/agent/protocol.ts';

/** What the agent counts about itself. Plain numbers that their owners write. */
export class SelfMetrics {
  pollErrors = 0;
  pollSeconds = 0;
  heartbeatErrors = 0;
  heartbeatSeconds = 0;
  pushReconnects: () => number = () => 0;
  pushConnected: () => boolean = () => false;
  pipelinesRunning: () => number = () => 0;
  uptimeSeconds: () => number = () => 0;

  health(): AgentHealth {
    return {
      pollErrorsTotal: this.pollErrors,
      pushReconnectsTotal: this.pushReconnects(),
      heartbeatErrorsTotal: this.heartbeatErrors,
      pushConnected: this.pushConnected(),
      pipelinesRunning: this.pipelinesRunning(),
      uptimeSeconds: Math.floor(this.uptimeSeconds()),
    };
  }

  /** Prometheus text. */
  render(): string {
    const rows: [name: string, type: 'counter' | 'gauge', help: string, value: number][] = [
      ['poll_errors_total', 'counter', 'Failed poll requests', this.pollErrors],
      ['poll_duration_seconds', 'gauge', 'Duration of last poll cycle', this.pollSeconds],
      ['push_reconnects_total', 'counter', 'Push channel reconnections', this.pushReconnects()],
      ['push_connected', 'gauge', '1 connected, 0 disconnected', this.pushConnected() ? 1 : 0],
      ['heartbeat_errors_total', 'counter', 'Failed heartbeats', this.heartbeatErrors],
      ['heartbeat_duration_seconds', 'gauge', 'Duration of last heartbeat send', this.heartbeatSeconds],
      ['pipelines_running', 'gauge', 'Pipelines currently RUNNING', this.pipelinesRunning()],
      ['uptime_seconds', 'gauge', 'Agent uptime', this.uptimeSeconds()],
    ];
    return rows
      .map(([name, type, help, value]) => {
        const full = `svc_agent_${name}`;
        return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${full} ${value}\n`;
      })
      .join('');
  }
}
