/** What Headgate measures of itself, for Prometheus (`GET /metrics`). One registry per controller. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface SelfMetrics {
  /** `route` is a group of addresses, never an address. */
  request(route: string, status: number, seconds: number): void;
  pass(outcome: string, seconds: number): void;
  /** In the text format 0.0.4. */
  text(): Promise<string>;
}

/** A value that is read whenever the metrics are. */
export interface Source {
  name: string;
  help: string;
  /** Labels with their value; a single value has none. */
  read(): readonly Reading[] | Promise<readonly Reading[]>;
  label?: string | readonly string[];
}
export interface Reading {
  labels?: Readonly<Record<string, string>>;
  value: number;
}

const REQUEST_SECONDS = [0.005, 0.025, 0.1, 0.25, 1, 2.5, 10];
const PASS_SECONDS = [0.01, 0.05, 0.25, 1, 5, 30, 120];

export function createSelfMetrics(sources: readonly Source[]): SelfMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const requests = new Counter({
    name: 'headgate_http_requests_total',
    help: 'Requests that were answered, by group of addresses and class of status.',
    labelNames: ['route', 'status'] as const,
    registers,
  });
  const durations = new Histogram({
    name: 'headgate_http_request_duration_seconds',
    help: 'How long requests took to be answered.',
    labelNames: ['route'] as const,
    buckets: REQUEST_SECONDS,
    registers,
  });
  const passes = new Counter({
    name: 'headgate_git_passes_total',
    help: 'Passes of the git reconciler, by outcome.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const passDurations = new Histogram({
    name: 'headgate_git_pass_duration_seconds',
    help: 'How long passes of the git reconciler took.',
    buckets: PASS_SECONDS,
    registers,
  });
  for (const { name, help, label = [], read } of sources)
    new Gauge({
      ...{ name, help, registers },
      labelNames: [label].flat(),
      async collect() {
        this.reset();
        for (const { labels = {}, value } of await read()) this.set(labels, value);
      },
    });
  return {
    request(route, status, seconds) {
      requests.inc({ route, status: `${Math.floor(status / 100)}xx` });
      durations.observe({ route }, seconds);
    },
    pass(outcome, seconds) {
      passes.inc({ outcome });
      passDurations.observe(seconds);
    },
    text: () => registry.metrics(),
  };
}
