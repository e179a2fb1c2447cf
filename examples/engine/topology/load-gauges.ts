import type { ComponentMetrics } from '../telemetry/component-metrics.ts';
import type { Series } from '../telemetry/registry.ts';

const INTERVAL_MS = 5_000;
/** Weights of the newest value in the moving averages. */
const UTILIZATION_WEIGHT = 0.9;
const LATENCY_WEIGHT = 0.1;

interface Load {
  /** Waits for input and counts the wait as idle time. */
  idle<T>(wait: Promise<T>): Promise<T>;
  /** Notes how long a batch was on its way through the component, in ms. */
  latency(ms: number): void;
}

interface Entry {
  gauge: Series;
  idleMs: number;
  /** Start of the wait that is going on, in ms of `performance.now()`. */
  idleSince: number | undefined;
}

/** `utilization`, every 5 s, and `component_latency_mean_seconds` of each transform and sink. */
export class LoadGauges {
  readonly #entries: Entry[] = [];
  readonly #timer: NodeJS.Timeout;
  #lastAt = performance.now();

  constructor() {
    this.#timer = setInterval(() => this.#update(), INTERVAL_MS);
    this.#timer.unref();
  }

  add(metrics: ComponentMetrics, withLatency: boolean): Load {
    const entry: Entry = { gauge: metrics.gauge('utilization'), idleMs: 0, idleSince: undefined };
    const latencyGauge = withLatency ? metrics.gauge('component_latency_mean_seconds') : undefined;
    let measured = false;
    this.#entries.push(entry);
    return {
      async idle(wait) {
        entry.idleSince = performance.now();
        const value = await wait;
        entry.idleMs += performance.now() - entry.idleSince;
        entry.idleSince = undefined;
        return value;
      },
      latency(ms) {
        if (!latencyGauge) return;
        const seconds = ms / 1000;
        latencyGauge.value = measured
          ? (1 - LATENCY_WEIGHT) * latencyGauge.value + LATENCY_WEIGHT * seconds
          : seconds;
        measured = true;
      },
    };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #update(): void {
    const now = performance.now();
    const elapsed = now - this.#lastAt;
    this.#lastAt = now;
    for (const entry of this.#entries) {
      if (entry.idleSince !== undefined) {
        entry.idleMs += now - entry.idleSince;
        entry.idleSince = now;
      }
      const busy = Math.min(1, Math.max(0, 1 - entry.idleMs / elapsed));
      entry.gauge.value = Number(
        (UTILIZATION_WEIGHT * busy + (1 - UTILIZATION_WEIGHT) * entry.gauge.value).toFixed(4),
      );
      entry.idleMs = 0;
    }
  }
}
