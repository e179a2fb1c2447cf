/** What of this controller is measured, and the port of its own that tells it. */
import { createServer } from 'node:http';
import type { Clock } from '../../reconcilers/loops/clock.ts';
import { type Config, ConfigError } from '../config.ts';
import type { Pools } from '../database/pools.ts';
import type { HeartbeatIngest, NodeDirectory, PushHub } from '../fleet/index.ts';
import { countNotifications } from '../insight/notifications/index.ts';
import type { MinuteStore, Recorder } from '../insight/telemetry/index.ts';
import type { NamedBus } from '../platform/runtime/bus.ts';
import { countJobs } from '../platform/runtime/jobs.ts';
import type { Lease } from '../platform/runtime/lease.ts';
import {
  createSelfMetrics,
  METRICS_TYPE,
  type SelfMetrics,
  type Source,
} from '../platform/runtime/self-metrics.ts';
import type { Lifecycle } from './lifecycle.ts';

export interface SelfMetricsOptions {
  config: Config;
  pools: Pools;
  lease: Lease;
  bus: Pick<NamedBus, 'connected'>;
  fleet: { heartbeats: HeartbeatIngest; directory: NodeDirectory; push: PushHub; measures: Recorder };
  minutes: Pick<MinuteStore, 'sizes'>;
  clock: Clock;
  lifecycle: Lifecycle;
}

const HOUR_MS = 3_600_000;

/** Null where nobody has asked for them: nothing is measured then. */
export async function startSelfMetrics(options: SelfMetricsOptions): Promise<SelfMetrics | null> {
  const { config, lifecycle } = options;
  if (config.metricsPort === null && config.metricsToken === null) return null;
  const metrics = createSelfMetrics(sourcesOf(options));
  if (config.metricsPort !== null)
    lifecycle.onStop('metrics port', await listen(metrics, config, config.metricsPort));
  return metrics;
}

/** Answers `GET /metrics` without a token. */
async function listen(metrics: SelfMetrics, { host }: Config, port: number): Promise<() => Promise<void>> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' }).end('There is GET /metrics\n');
      return;
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'Content-Type': METRICS_TYPE }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new ConfigError(
          `HEADGATE_METRICS_PORT: port ${port} cannot be opened (${error.code}); choose another`,
        ),
      ),
    );
    server.listen({ host, port }, resolve);
  });
  return async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
}

const one = (value: number) => [{ value }];

function sourcesOf({ pools, lease, bus, fleet, minutes, clock }: SelfMetricsOptions): Source[] {
  const { heartbeats, directory, push, measures } = fleet;
  return [
    {
      ...{ name: 'headgate_leader', help: 'Whether this controller leads: 1 or 0.' },
      read: () => one(lease.epoch() === null ? 0 : 1),
    },
    {
      ...{ name: 'headgate_bus_connected', help: 'Whether signals of other controllers arrive: 1 or 0.' },
      read: () => one(bus.connected() ? 1 : 0),
    },
    {
      ...{ name: 'headgate_database_connections', help: 'Connections to the database, by pool and state.' },
      label: ['pool', 'state'],
      read: () =>
        (['lease', 'essential', 'requests', 'background'] as const).flatMap((pool) => {
          const connections = pools[pool].client.pool;
          return [
            { labels: { pool, state: 'used' }, value: connections.numUsed() },
            { labels: { pool, state: 'free' }, value: connections.numFree() },
            { labels: { pool, state: 'waited for' }, value: connections.numPendingAcquires() },
          ];
        }),
    },
    {
      ...{ name: 'headgate_nodes', help: 'Nodes that this controller knows.' },
      read: () => one(directory.sizes().nodes),
    },
    {
      ...{ name: 'headgate_heartbeats_waiting', help: 'Heartbeats that wait to be stored.' },
      read: () => one(heartbeats.sizes().waiting),
    },
    {
      ...{ name: 'headgate_metric_readings_waiting', help: 'Readings of engines that wait to be stored.' },
      read: () => one(measures.sizes().waiting),
    },
    {
      ...{
        name: 'headgate_metrics_store_samples',
        help: 'Samples for the metrics store: those that wait, and those that were dropped since the start.',
      },
      label: 'state',
      read: () => Object.entries(minutes.sizes()).map(([state, value]) => ({ labels: { state }, value })),
    },
    {
      ...{ name: 'headgate_push_connections', help: 'Agents with an open push channel.' },
      read: () => one(push.count()),
    },
    {
      ...{ name: 'headgate_jobs', help: 'Jobs in the queue that all controllers share, by state.' },
      label: 'state',
      async read() {
        const { waiting, failed } = await countJobs(pools.background);
        return [
          { labels: { state: 'waiting' }, value: waiting },
          { labels: { state: 'failed' }, value: failed },
        ];
      },
    },
    {
      ...{
        name: 'headgate_notifications',
        help: 'Notifications of all controllers: those to be sent, and those given up in the last hour.',
      },
      label: 'state',
      async read() {
        const since = new Date(clock.now() - HOUR_MS);
        return Object.entries(await countNotifications(pools.background, since)).map(([state, value]) => ({
          labels: { state },
          value,
        }));
      },
    },
  ];
}
