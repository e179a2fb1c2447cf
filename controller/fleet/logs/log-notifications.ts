/** Notifies the UI of new log lines: at once, and then at most once a second per environment. */
import type { Knex } from 'knex';
import type { Clock } from '../../../reconcilers/loops/clock.ts';
import type { Bus } from '../../platform/runtime/bus.ts';

export interface LogNotifications {
  notify(environmentId: string): void;
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
  /** Environments notified within the last period, and whether lines have arrived since. */
  const recent = new Map<string, { more: boolean; cancel: () => void }>();

  function publish(environmentId: string): void {
    recent.set(environmentId, {
      more: false,
      cancel: clock.after(PERIOD_MS, () => onPeriodEnd(environmentId)),
    });
    // A page that misses the notification updates with the next one.
    bus.publish(db, { type: 'ui', environmentId, topics: ['logs'] }).catch(() => {});
  }

  function onPeriodEnd(environmentId: string): void {
    const more = recent.get(environmentId)?.more;
    recent.delete(environmentId);
    if (more) publish(environmentId);
  }

  return {
    notify(environmentId) {
      const entry = recent.get(environmentId);
      if (entry) entry.more = true;
      else publish(environmentId);
    },
    stop() {
      for (const { cancel } of recent.values()) cancel();
      recent.clear();
    },
  };
}
