/** The parts that every reconciler is given, for its loop and for the context in which it calls operations. */
import type { Knex } from 'knex';
import type { Context, Services } from '../controller/platform/operation/context.ts';
import type { Lease } from '../controller/platform/runtime/lease.ts';
import type { Logger } from '../controller/platform/runtime/logger.ts';
import type { Clock } from './loops/clock.ts';
import type { LeaderPass, LoopSignals } from './loops/leader-loop.ts';

export interface ReconcilerOptions {
  db: Knex;
  clock: Clock;
  log: Logger;
  services: Services;
  lease: Pick<Lease, 'epoch' | 'fence' | 'onChange'>;
}

export const loopParts = ({ clock, log, lease, services: { bus } }: ReconcilerOptions) => ({
  ...{ clock, log, lease },
  signals: {
    onWake: (listener) => bus.on('wake', listener),
    onEnvironment: (listener) => bus.on('environment', listener),
    onResync: (listener) => bus.on('resync', listener),
  } satisfies LoopSignals,
});

/** `name` is the actor of what the pass writes. */
export const reconcilerContext = (
  { db, clock, log, services }: ReconcilerOptions,
  name: string,
  { signal, fence }: Pick<LeaderPass<Knex>, 'signal' | 'fence'>,
): Context => ({
  ...{ db, clock, log, services, signal, fence },
  actor: { type: 'system', name },
  requestId: name,
  ipAddress: null,
});
