/** Timed work, by node-cron, only while this process leads. A run that is still going is not started a second time. */
import { type ScheduledTask, schedule } from 'node-cron';
import { messageOf } from '../operation/errors.ts';
import type { Lease } from './lease.ts';
import type { Logger } from './logger.ts';

export interface Schedules {
  /** `expression` is cron's, with seconds first. */
  every(name: string, expression: string, work: () => Promise<void>): void;
  stop(): Promise<void>;
}

export function createSchedules(options: { lease: Lease; log: Logger }): Schedules {
  const tasks: ScheduledTask[] = [];
  return {
    every(name, expression, work) {
      const run = async () => {
        if (options.lease.epoch() === null) return;
        try {
          await work();
        } catch (error) {
          options.log.warn({ schedule: name, reason: messageOf(error) }, 'scheduled work failed');
        }
      };
      tasks.push(schedule(expression, run, { name, noOverlap: true, timezone: 'Etc/UTC' }));
    },
    async stop() {
      for (const task of tasks) await task.destroy();
    },
  };
}
