/** What a row of the bench found, and the arithmetic behind it. */

export interface Result {
  what: string;
  goal: string;
  measured: string;
  /** Null where there is no goal to hold it against. */
  ok: boolean | null;
}

/** Tells what is going on, on the terminal. */
export type Say = (text: string) => void;

/** The value below which this share of the sample lies; `sample` need not be sorted. */
export function percentile(sample: readonly number[] | Float64Array, share: number): number {
  const sorted = Float64Array.from(sample).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (sample: readonly number[]): number => percentile(sample, 0.5);

export const whole = (value: number): string => Math.round(value).toLocaleString('en');
/** Rounded down, so that what falls short of a goal does not read like it. */
export const percent = (ratio: number): string => `${Math.floor(ratio * 100 + 1e-9)} %`;
/** Milliseconds, as precise as they deserve. */
export const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`;
export const megabytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MB`;

const VERDICTS = new Map([
  [true, 'ok'],
  [false, 'missed'],
]);

function cells(results: readonly Result[]): string[][] {
  const head = ['What', 'Goal', 'Measured', ''];
  const rows = results.map(({ what, goal, measured, ok }) => [
    what,
    goal,
    measured,
    ok === null ? '' : (VERDICTS.get(ok) ?? ''),
  ]);
  return [head, ...rows];
}

export function asText(results: readonly Result[]): string {
  const rows = cells(results);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n');
}

export function asMarkdown(results: readonly Result[]): string {
  const [head = [], ...rows] = cells(results).map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  return [head, ['---', '---', '---', '---'], ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
