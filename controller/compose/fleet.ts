/** What agents talk to: who they are, what they report, what they are served. */
import type { Clock } from '../../reconcilers/loops/clock.ts';
import type { Pools } from '../database/pools.ts';
import { createComponentLists } from '../fleet/engines/index.ts';
import {
  type ConfigServer,
  createHeartbeatIngest,
  createNodeDirectory,
  createNodeReturns,
  createPushHub,
  createUpdateTracker,
} from '../fleet/index.ts';
import { createLogIngest } from '../fleet/logs/index.ts';
import { createSampleIngest, createTaps } from '../fleet/samples/index.ts';
import { createRecorder, type MinuteStore } from '../insight/telemetry/index.ts';
import type { WatchedPipelines } from '../pipelines/index.ts';
import type { Bus } from '../platform/runtime/bus.ts';
import type { Logger } from '../platform/runtime/logger.ts';
import type { Lifecycle } from './lifecycle.ts';

export interface FleetOptions {
  pools: Pools;
  bus: Bus;
  configs: ConfigServer;
  minutes: MinuteStore;
  watched: WatchedPipelines;
  /** Called once all heartbeats that waited for the database are stored. */
  caughtUp: () => void;
  clock: Clock;
  log: Logger;
  lifecycle: Lifecycle;
}

export async function startFleet(options: FleetOptions) {
  const { pools, bus, configs, minutes, watched, caughtUp: onCaughtUp, clock, log, lifecycle } = options;
  const { essential, requests, background: db } = pools;
  const directory = createNodeDirectory({ db: essential, bus, clock });
  lifecycle.onStop('node directory', () => directory.stop());
  await directory.warm();
  const { knownPipelines } = configs;
  const logs = createLogIngest({ db: essential, bus, log, clock, knownPipelines, directory });
  lifecycle.onStop('logs', () => logs.stop());
  const updates = createUpdateTracker({ db, bus, clock, log });
  lifecycle.onStop('updates of agents', () => updates.stop());
  const returns = createNodeReturns({ db, bus, clock, log });
  lifecycle.onStop('returns of archived nodes', () => returns.stop());
  const measures = createRecorder({ db, minutes, clock, log });
  lifecycle.onStop('metrics', () => measures.stop());
  const heartbeats = createHeartbeatIngest({
    ...{ db: essential, bus, log, directory, configs, logs, updates, measures, watched, onCaughtUp },
    components: createComponentLists({ db: essential, log }),
    now: () => clock.now(),
  });
  lifecycle.onStop('heartbeats', () => heartbeats.stop());
  const push = createPushHub({ bus, log, directory });
  const samples = createSampleIngest({ db: requests, bus, clock });
  const taps = createTaps({ db, bus, clock, log });
  lifecycle.onStop('live taps', () => taps.stop());
  return { directory, configs, heartbeats, measures, updates, returns, logs, samples, taps, push };
}
