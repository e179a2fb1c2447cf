import { request } from '../link/http.ts';
import type { Logger } from '../log.ts';
import type { Pipeline } from '../supervise/pipeline.ts';
import { type EngineMetrics, readEngineMetrics } from './engine-metrics.ts';

const TIMEOUT_MS = 2_000;
const MAX_BYTES = 8 * 1024 * 1024;

interface Scrape {
  pid: number | undefined;
  metrics: EngineMetrics;
}

/** The newest metrics of each engine. Engines are asked side by side, and one that hangs delays nobody. */
export class Scraper {
  readonly #log: Logger;
  readonly #latest = new Map<string, Scrape>();
  readonly #asking = new Map<string, Promise<void>>();

  constructor(log: Logger) {
    this.#log = log;
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

  /** Undefined until this very process has answered: counters of an earlier one would look like a reset. */
  latest(pipeline: Pipeline): EngineMetrics | undefined {
    const scrape = this.#latest.get(pipeline.id);
    return scrape && scrape.pid === pipeline.pid ? scrape.metrics : undefined;
  }

  async #ask({ id, pid, metricsPort }: Pipeline): Promise<void> {
    try {
      const url = `http://127.0.0.1:${metricsPort}/metrics`;
      const answer = await request(url, { method: 'GET', timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
      if (answer.status === 200) this.#latest.set(id, { pid, metrics: readEngineMetrics(answer.text) });
    } catch (error) {
      this.#log.debug('engine metrics not read', { pipeline: id, reason: String(error) });
    } finally {
      this.#asking.delete(id);
    }
  }
}
