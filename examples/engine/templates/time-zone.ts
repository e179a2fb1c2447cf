/** Time zones by their names; what knows them is the runtime's own data. */

/** Gives the minutes that a zone is ahead of UTC at a time. `local` is the zone of the process, by `TZ`. */
export function offsetIn(name: string): (now: Date) => number {
  if (name === 'local') return (now) => -now.getTimezoneOffset();
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (now) => {
    const parts = Object.fromEntries(
      format.formatToParts(now).map(({ type, value }) => [type, Number(value)]),
    );
    const shown = Date.UTC(
      parts.year!,
      parts.month! - 1,
      parts.day!,
      parts.hour!,
      parts.minute!,
      parts.second!,
    );
    return Math.round((shown - now.getTime()) / 60_000);
  };
}

export function isTimeZone(name: string): boolean {
  if (name === 'local') return true;
  // Offsets such as `+02:00` are none for Vector.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
