import type { Clock } from '../../reconcilers/loops/clock.ts';
import { request } from '../link/http.ts';
import type { Logger } from '../log.ts';
import type { Pipeline } from '../supervise/lifecycle/pipeline.ts';
import { EngineCounters, type EngineMetrics } from './engine-metrics.ts';

const TIMEOUT_MS = 2_000;
const MAX_BYTES = 8 * 1024 * 1024;

interface Scrape {
  pid: number | undefined;
  counters: EngineCounters;
  metrics: EngineMetrics | undefined;
  /** Of `metrics`, on the clock that never jumps. */
  readAt: number;
  /** The last try brought nothing. */
  failed: boolean;
}

export interface Reading {
  metrics: EngineMetrics;
  /** Undefined while they are fresh. */
  ageSeconds: number | undefined;
}

/** The newest metrics of each engine. Engines are asked side by side, and one that hangs delays nobody. */
export class Scraper {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #latest = new Map<string, Scrape>();
  readonly #asking = new Map<string, Promise<void>>();

  constructor(log: Logger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Asks every RUNNING engine that is not being asked already. */
  scrape(pipelines: readonly Pipeline[]): void {
    const ids = new Set(pipelines.map((pipeline) => pipeline.id));
    for (const id of this.#latest.keys()) {
      if (!ids.has(id)) this.#latest.delete(id);
    }
    for (const pipeline of pipelines) {
      if (pipeline.status !== 'RUNNING' || this.#asking.has(pipeline.id)) continue;
      this.#asking.set(pipeline.id, this.#ask(pipeline));
    }
  }

  /** Resolves when every engine has answered or timed out. */
  async settled(): Promise<void> {
    await Promise.all(this.#asking.values());
  }

  /**
   * Undefined until this very process has answered: counters of an earlier one would look like a reset. They are old where
   * the last try failed, where an answer is waited for, and where they were read more than a period ago.
   */
  latest(pipeline: Pick<Pipeline, 'id' | 'pid'>, periodMs: number): Reading | undefined {
    const scrape = this.#latest.get(pipeline.id);
    if (!scrape?.metrics || scrape.pid !== pipeline.pid) return undefined;
    const ageMs = this.#clock.monotonic() - scrape.readAt;
    const isOld = scrape.failed || this.#asking.has(pipeline.id) || ageMs > periodMs * 1.25;
    return { metrics: scrape.metrics, ageSeconds: isOld ? ageMs / 1000 : undefined };
  }

  async #ask({ id, pid, metricsPort }: Pipeline): Promise<void> {
    const known = this.#latest.get(id);
    const scrape =
      known?.pid === pid && known
        ? known
        : { pid, counters: new EngineCounters(), metrics: undefined, readAt: 0, failed: false };
    try {
      const url = `http://127.0.0.1:${metricsPort}/metrics`;
      const answer = await request(url, { method: 'GET', timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
      const metrics = answer.status === 200 ? scrape.counters.read(answer.text) : null;
      scrape.failed = metrics === null;
      if (metrics === null) return;
      scrape.metrics = metrics;
      scrape.readAt = this.#clock.monotonic();
      this.#latest.set(id, scrape);
    } catch (error) {
      scrape.failed = true;
      this.#log.debug('engine metrics not read', { pipeline: id, reason: String(error) });
    } finally {
      this.#asking.delete(id);
    }
  }
}
