/** What a run prints: a line for each file, its failures below it, and the totals. */
import type { Ran } from './worker-process.ts';

const SLOWEST = 30;

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

export function renderFile({ file, passed, failures, skipped, wallMs, cpu, output }: Ran): string {
  const counts = [`${passed} passed`];
  if (failures.length > 0) counts.push(`${failures.length} failed`);
  if (skipped.length > 0) counts.push(`${skipped.length} skipped`);
  const lines = [
    `${failures.length > 0 ? '✗' : '✓'} ${file}: ${counts.join(', ')} (${seconds(wallMs)}, CPU ${(cpu.own + cpu.children).toFixed(1)} s)`,
  ];
  lines.push(...failures.map((failure) => indent(`failed: ${failure}`)));
  if (output.trim() !== '') lines.push(indent(`printed:\n${output.trimEnd()}`));
  return `${lines.join('\n')}\n`;
}

/** Wall and CPU seconds of the files that took longest. */
export function renderSlowest(results: readonly Ran[]): string {
  const rows = results.toSorted((a, b) => b.wallMs - a.wallMs).slice(0, SLOWEST);
  const number = (value: number) => value.toFixed(1).padStart(8);
  const lines = rows.map(
    ({ file, wallMs, cpu }) => `${number(wallMs / 1000)}${number(cpu.own)}${number(cpu.children)}  ${file}`,
  );
  return `The slowest files, in seconds:\n    wall CPU own children\n${lines.join('\n')}\n`;
}

/** What the whole run cost. The test database belongs to no file. */
export function renderCosts(
  results: readonly Ran[],
  { wallMs, databaseSeconds }: { wallMs: number; databaseSeconds: number },
): string {
  const sum = (of: (ran: Ran) => number) => Math.round(results.reduce((total, ran) => total + of(ran), 0));
  const own = sum(({ cpu }) => cpu.own);
  const children = sum(({ cpu }) => cpu.children);
  const total = own + children + Math.round(databaseSeconds);
  return `\n${results.length} files in ${seconds(wallMs)}; CPU ${total} s: ${own} s of workers, ${children} s of what they started, ${Math.round(databaseSeconds)} s of the test database\n`;
}

/** Failures and skips once more, and the line that a run ends with. */
export function renderTotals(results: readonly Ran[]): string {
  const failures = results.flatMap(({ file, failures }) => failures.map((failure) => `${file}: ${failure}`));
  const skipped = results.flatMap(({ file, skipped }) => skipped.map((title) => `${file}: ${title}`));
  const passed = results.reduce((sum, one) => sum + one.passed, 0);
  const skips = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
  return [
    ...failures.map((failure) => `\nfailed: ${failure}\n`),
    ...skipped.map((title) => `skipped: ${title}\n`),
    `\n${passed} passed, ${failures.length} failed${skips}\n`,
  ].join('');
}

const indent = (text: string) => text.replace(/^/gm, '    ');
