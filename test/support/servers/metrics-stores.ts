/** Real Prometheus and VictoriaMetrics. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const found = (name: string): string | null =>
  ['/usr/bin', '/usr/local/bin'].map((folder) => `${folder}/${name}`).find(existsSync) ?? null;

/** Null where it is not installed. Its package brings promtool. */
export const findPrometheus = (): string | null => (found('promtool') ? found('prometheus') : null);
export const findVictoriaMetrics = (): string | null => found('victoria-metrics');

/** What promtool says of its input, line by line; throws where it cannot read it. */
export function promtool(args: readonly string[], input = ''): string[] {
  const program = found('promtool');
  if (!program) throw new Error('promtool is not installed');
  const { stdout, stderr, status } = spawnSync(program, args, { input, encoding: 'utf8' });
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.trim() !== '');
  // 3 is for remarks on what can be read.
  if (status !== 0 && status !== 3) throw new Error(lines.join('\n'));
  return lines;
}
