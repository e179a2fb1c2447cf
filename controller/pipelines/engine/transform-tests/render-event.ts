/** Events in messages: short, and without what looks like a credential. */

const SHOWN_CHARS = 500;
const DEPTH = 8;
const CREDENTIAL = /pass|secret|token|credential|authorization|cookie|api[-_]?key|private[-_]?key/i;
const MASK = '***';

function shown(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '…';
  if (Array.isArray(value)) return value.slice(0, 20).map((item) => shown(item, depth - 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, 50)
      .map(([key, item]) => [key, CREDENTIAL.test(key) ? MASK : shown(item, depth - 1)]),
  );
}

export function showEvent(event: unknown): string {
  const text = JSON.stringify(shown(event, DEPTH)) ?? 'null';
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
}

const events = (count: number): string => `${count} event${count === 1 ? '' : 's'}`;

/** `came` are all that came out, `unmet` those of them for which the condition is not true. */
export function renderUnmet(output: string, came: number, unmet: readonly unknown[]): string {
  const first = showEvent(unmet[0]);
  if (came === 1) return `expect is not true of what came out of "${output}": ${first}`;
  return `expect is not true of ${unmet.length} of the ${events(came)} that came out of "${output}", the first of them: ${first}`;
}

export const renderUnwanted = (output: string, came: readonly unknown[]): string =>
  `${events(came.length)} came out of "${output}" and none should: ${showEvent(came[0])}`;

export const renderNoOutput = (output: string): string =>
  `no event came out of "${output}"; if none should, write expect: "false"`;
