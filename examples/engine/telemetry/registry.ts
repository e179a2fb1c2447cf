import type { Metric } from '../event.ts';

export type Tags = Record<string, string>;

/** A cumulative count or a current value; components keep the object and change `value`. */
export interface Series {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly tags: Tags;
  value: number;
}

/** Above this, new series are counted but not exposed: tags may come from events. */
const MAX_SERIES = 20_000;

/** The engine's own metrics, with Vector's names. One per process. */
export class Registry {
  readonly #series = new Map<string, Series>();
  readonly #collectors: (() => void)[] = [];

  counter(name: string, tags: Tags = {}): Series {
    return this.#get(name, 'counter', tags);
  }

  gauge(name: string, tags: Tags = {}): Series {
    return this.#get(name, 'gauge', tags);
  }

  /** Runs before each snapshot, to set gauges that are read rather than kept. */
  onCollect(collect: () => void): void {
    this.#collectors.push(collect);
  }

  /** Every series as an absolute metric of the given moment (ms since the epoch), with `tags` added. */
  snapshot(timestamp: number, namespace: string, tags: Tags): Metric[] {
    for (const collect of this.#collectors) collect();
    return [...this.#series.values()].map((series) => ({
      name: series.name,
      namespace,
      tags: { ...series.tags, ...tags },
      timestamp,
      kind: 'absolute',
      type: series.type,
      value: series.value,
    }));
  }

  #get(name: string, type: Series['type'], tags: Tags): Series {
    const key = `${name}\u0000${JSON.stringify(Object.entries(tags).sort())}`;
    const known = this.#series.get(key);
    if (known) return known;
    const series: Series = { name, type, tags, value: 0 };
    if (this.#series.size < MAX_SERIES) this.#series.set(key, series);
    return series;
  }
}
