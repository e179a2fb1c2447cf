import type { Metric } from '../event.ts';

interface Held {
  metric: Metric;
  /** Milliseconds of the last update, on the clock given to `add`. */
  seenAt: number;
}

/** Labels may come from events: above this, new series are not taken in. */
const MAX_SERIES = 50_000;

/** The metrics that an exporter shows: the last value of each series, in Prometheus' text format. */
export class Exposition {
  readonly #families = new Map<string, Map<string, Held>>();
  readonly #defaultNamespace: string | undefined;
  readonly #suppressTimestamp: boolean;
  readonly #expireMs: number;
  #size = 0;

  /** Series not seen for `expireMs` disappear; 0 keeps them for ever. */
  constructor(options: { defaultNamespace?: string; suppressTimestamp: boolean; expireMs: number }) {
    this.#defaultNamespace = options.defaultNamespace;
    this.#suppressTimestamp = options.suppressTimestamp;
    this.#expireMs = options.expireMs;
  }

  add(metric: Metric, now: number): void {
    const namespace = metric.namespace ?? this.#defaultNamespace;
    const name = (namespace ? `${namespace}_${metric.name}` : metric.name).replace(/[^a-zA-Z0-9_:]/g, '_');
    const labels = renderLabels(metric.tags);
    const held = this.#families.get(name)?.get(labels);
    if (held && metric.kind === 'incremental') {
      held.metric = { ...metric, value: held.metric.value + metric.value };
      held.seenAt = now;
      return;
    }
    if (!held) {
      if (this.#size >= MAX_SERIES) this.#expire(now);
      if (this.#size >= MAX_SERIES) return;
      this.#size += 1;
    }
    const family = this.#families.get(name) ?? new Map<string, Held>();
    this.#families.set(name, family.set(labels, { metric, seenAt: now }));
  }

  /** The text of `GET /metrics`: HELP is the bare name, labels are sorted, times are in milliseconds. */
  render(now: number): string {
    this.#expire(now);
    const lines: string[] = [];
    for (const [name, family] of [...this.#families].sort(byKey)) {
      const rows = [...family].sort(byKey);
      const first = rows[0]?.[1].metric;
      if (!first) continue;
      lines.push(`# HELP ${name} ${first.name}`, `# TYPE ${name} ${first.type}`);
      for (const [labels, { metric }] of rows) {
        const time = this.#suppressTimestamp ? '' : ` ${metric.timestamp}`;
        lines.push(`${name}${labels} ${metric.value}${time}`);
      }
    }
    return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
  }

  #expire(now: number): void {
    if (this.#expireMs === 0) return;
    for (const [name, family] of this.#families) {
      for (const [labels, { seenAt }] of family) {
        if (now - seenAt <= this.#expireMs) continue;
        family.delete(labels);
        this.#size -= 1;
      }
      if (family.size === 0) this.#families.delete(name);
    }
  }
}

function byKey(a: [string, unknown], b: [string, unknown]): number {
  return a[0] < b[0] ? -1 : 1;
}

function renderLabels(tags: Record<string, string>): string {
  const labels = Object.entries(tags)
    .map(([name, value]) => `${name.replace(/[^a-zA-Z0-9_]/g, '_')}="${escapeLabel(value)}"`)
    .sort();
  return labels.length === 0 ? '' : `{${labels.join(',')}}`;
}

function escapeLabel(value: string): string {
  return value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}
