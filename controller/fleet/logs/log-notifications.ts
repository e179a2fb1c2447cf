/** Tells pages that there are new lines: at once, and then at most once a second for each environment. */
import type { Knex } from 'knex';
import type { Clock } from '../../../reconcilers/engine/clock.ts';
import type { Bus } from '../../platform/runtime/bus.ts';

export interface LogNotifications {
  tell(environmentId: string): void;
  stop(): void;
}

const PERIOD_MS = 1_000;

export function createLogNotifications({
  db,
  bus,
  clock,
}: {
  db: Knex;
  bus: Bus;
  clock: Clock;
}): LogNotifications {
  /** Environments that were told lately, and whether there is more since. */
  const told = new Map<string, { more: boolean; cancel: () => void }>();

  function publish(environmentId: string): void {
    told.set(environmentId, { more: false, cancel: clock.after(PERIOD_MS, () => again(environmentId)) });
    // A page that misses it looks again with the next.
    bus.publish(db, { type: 'ui', environmentId, topics: ['logs'] }).catch(() => {});
  }

  function again(environmentId: string): void {
    const more = told.get(environmentId)?.more;
    told.delete(environmentId);
    if (more) publish(environmentId);
  }

  return {
    tell(environmentId) {
      const lately = told.get(environmentId);
      if (lately) lately.more = true;
      else publish(environmentId);
    },
    stop() {
      for (const { cancel } of told.values()) cancel();
      told.clear();
    },
  };
}
