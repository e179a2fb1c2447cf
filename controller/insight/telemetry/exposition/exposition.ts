/** The text exposition format of Prometheus, version 0.0.4. */
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface Metric {
  name: string;
  help: string;
  samples: Iterable<Sample>;
}

export interface Sample {
  labels: Readonly<Record<string, string>>;
  value: number;
}

/** Lines that are written in one go: other work of the process waits no longer than for these. */
const LINES_PER_TURN = 1_000;

/** All metrics are gauges, also those whose names end in `_total`: their values may fall. */
export async function expositionText(metrics: readonly Metric[]): Promise<string> {
  const parts: string[] = [];
  let lines = 0;
  for (const { name, help, samples } of metrics) {
    parts.push(`# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} gauge\n`);
    for (const { labels, value } of samples) {
      parts.push(sampleLine(name, labels, value));
      lines += 1;
      if (lines % LINES_PER_TURN === 0) await nextTurn();
    }
  }
  return parts.join('');
}

function sampleLine(name: string, labels: Sample['labels'], value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${valueText(value)}\n`;
}

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapeLabel = (text: string): string =>
  /["\\\n]/.test(text) ? escapeHelp(text).replaceAll('"', '\\"') : text;

function valueText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
