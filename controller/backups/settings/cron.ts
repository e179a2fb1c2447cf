/** Cron expressions of backups: five fields, in UTC. node-cron parses and matches them. */
import { createTask, validateDetailed } from 'node-cron';
import { badRequest } from '../../platform/operation/errors.ts';

const DAY_MS = 86_400_000;
/** The 29th of February comes within eight years, also around 2100. */
const MOST_DAYS = 8 * 366 + 1;

/** @throws BAD_REQUEST with the reason */
export function assertCron(expression: string): void {
  if (expression.trim().split(/\s+/).length !== 5)
    throw badRequest(
      'cron: must have five fields: minute, hour, day of the month, month, day of the week; for example 0 3 * * * for every day at 03:00 UTC',
    );
  const { valid, errors } = validateDetailed(expression);
  if (!valid) throw badRequest(`cron: ${errors[0]?.message ?? 'is not a cron expression'}`);
}

/** The first moment after `after` that the expression names; null where there is none within eight years. */
export function nextAfter(expression: string, after: Date): Date | null {
  const fields = validateDetailed(expression).fields;
  if (!fields) return null;
  const task = createTask(expression, () => {}, { timezone: 'Etc/UTC' });
  try {
    const times = fields.hour.flatMap((hour) => fields.minute.map((minute) => (hour * 60 + minute) * 60_000));
    const ordered = times.sort((a, b) => a - b);
    const firstTime = ordered[0];
    if (firstTime === undefined) return null;
    const firstDay = Math.floor(after.getTime() / DAY_MS) * DAY_MS;
    for (let day = firstDay; day < firstDay + MOST_DAYS * DAY_MS; day += DAY_MS) {
      if (!task.match(new Date(day + firstTime))) continue;
      const time = ordered.find((one) => day + one > after.getTime());
      if (time !== undefined) return new Date(day + time);
    }
    return null;
  } finally {
    void task.destroy();
  }
}

export function nextRuns(expression: string, after: Date, count: number): Date[] {
  const runs: Date[] = [];
  for (let from: Date | null = after; runs.length < count; ) {
    from = nextAfter(expression, from);
    if (from === null) break;
    runs.push(from);
  }
  return runs;
}
