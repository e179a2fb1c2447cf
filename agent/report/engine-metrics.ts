/**
 * The counters of one engine process, from its exporter's text. The engine drops a series that did not change for five
 * minutes and begins it at 0 again, so totals are kept here for each series: they never fall while the engine lives.
 */
import type { ComponentMetric } from '../../schemas/agent/protocol.ts';
import { RESERVED_PREFIX } from '../limits.ts';

export interface EngineMetrics {
  /** At most 1000; the sidecar's own components are left out. */
  components: ComponentMetric[];
  eventsIn: number;
  eventsOut: number;
  bytesIn: number;
  bytesOut: number;
  errorsTotal: number;
  /** Lost without an error that is counted already: the two may be added. */
  eventsDiscarded: number;
  /** The busiest component's, 0 to 1; undefined where the engine does not report it. */
  utilization: number | undefined;
}

/** Names must match exactly: `component_received_events_count` and others that look alike are histograms. */
const COUNTERS = {
  vector_component_received_events_total: 'receivedEvents',
  vector_component_received_bytes_total: 'receivedWire',
  vector_component_received_event_bytes_total: 'receivedEventBytes',
  vector_component_sent_events_total: 'sentEvents',
  vector_component_sent_bytes_total: 'sentWire',
  vector_component_sent_event_bytes_total: 'sentEventBytes',
  vector_component_errors_total: 'errors',
  vector_component_discarded_events_total: 'discarded',
} as const;
const GAUGES = {
  vector_component_latency_mean_seconds: 'latency',
  vector_utilization: 'utilization',
  // Of sinks, each with its name up to 0.52; both are there from 0.53 to 0.57. Of several stages, the fullest counts.
  vector_buffer_size_events: 'bufferEvents',
  vector_buffer_events: 'bufferEvents',
  vector_buffer_size_bytes: 'bufferBytes',
  vector_buffer_byte_size: 'bufferBytes',
  vector_buffer_max_size_events: 'bufferMaxEvents',
  vector_buffer_max_event_size: 'bufferMaxEvents',
  vector_buffer_max_size_bytes: 'bufferMaxBytes',
  vector_buffer_max_byte_size: 'bufferMaxBytes',
} as const;

/** `intentional="true"` makes `discarded` `filtered`: filters and `abort` lose nothing. */
type Counter = (typeof COUNTERS)[keyof typeof COUNTERS] | 'filtered';
type Gauge = (typeof GAUGES)[keyof typeof GAUGES];

const COUNTER_BY_NAME = new Map<string, Counter>(Object.entries(COUNTERS));
const GAUGE_BY_NAME = new Map<string, Gauge>(Object.entries(GAUGES));

const zeros = (): Record<Counter, number> => ({
  receivedEvents: 0,
  receivedWire: 0,
  receivedEventBytes: 0,
  sentEvents: 0,
  sentWire: 0,
  sentEventBytes: 0,
  errors: 0,
  discarded: 0,
  filtered: 0,
});

interface Component {
  id: string;
  kind: ComponentMetric['componentKind'];
  totals: Record<Counter, number>;
  /** What this scrape has added to the totals. */
  added: Record<Counter, number>;
  gauges: Partial<Record<Gauge, number>>;
  receivedBytes: number;
  sentBytes: number;
  /** Lost events that no error stands for. */
  lost: number;
  /** Errors of the scrape before without a lost event: the engine counts the error first. */
  unmatchedErrors: number;
}

interface Series {
  component: Component;
  counter: Counter;
  last: number;
  /** The scrape that had it last. */
  seen: number;
}

const MAX_COMPONENTS = 1_000;
/** A label that takes ever new values makes ever new series. More are left out until some expire. */
const MAX_SERIES = 10_000;

export class EngineCounters {
  readonly #components = new Map<string, Component>();
  /** By `name{labels`. Null for a series that is not counted. */
  readonly #series = new Map<string, Series | null>();
  #scrapes = 0;
  #overflowed = false;

  /** Null where the text has no component: the exporter is empty until its sources have run, and after they hung. */
  read(text: string): EngineMetrics | null {
    if (!text.startsWith('vector_component_') && !text.includes('\nvector_component_')) return null;
    this.#scrapes += 1;
    for (const component of this.#components.values()) {
      component.added = zeros();
      component.gauges = {};
    }
    const gauges: [series: string, gauge: Gauge, value: number][] = [];
    eachSample(text, (name, sample) => {
      const counter = COUNTER_BY_NAME.get(name);
      const gauge = counter ? undefined : GAUGE_BY_NAME.get(name);
      if (!counter && !gauge) return;
      const { series, value } = sample();
      if (!Number.isFinite(value) || value < 0) return;
      if (counter) this.#count(series, counter, value);
      else if (gauge) gauges.push([series, gauge, value]);
    });
    this.#forgetExpired();
    // Only what has counted has a load: a component is made by its counters.
    for (const gauge of gauges) this.#measure(...gauge);
    for (const component of this.#components.values()) settle(component);
    return sumUp([...this.#components.values()]);
  }

  #count(text: string, counter: Counter, value: number): void {
    let series = this.#series.get(text);
    if (series === undefined) {
      if (this.#series.size >= MAX_SERIES) {
        this.#overflowed = true;
        return;
      }
      series = this.#add(text, counter, value);
    }
    if (series === null) return;
    const { component, last } = series;
    // One that has fallen began again at 0.
    const grown = value >= last ? value - last : value;
    component.totals[series.counter] += grown;
    component.added[series.counter] += grown;
    series.last = value;
    series.seen = this.#scrapes;
  }

  #add(text: string, counter: Counter, value: number): Series | null {
    const component = this.#componentOf(text);
    const isFilter = counter === 'discarded' && label(text, INTENTIONAL_LABEL) === 'true';
    const series = component && {
      component,
      counter: isFilter ? ('filtered' as const) : counter,
      // Where series were left out, a new one may have counted for long already.
      last: this.#overflowed ? value : 0,
      seen: this.#scrapes,
    };
    // A copy: a part of a text keeps the whole of it in memory.
    this.#series.set(Buffer.from(text).toString(), series);
    return series;
  }

  #componentOf(text: string): Component | null {
    const id = label(text, ID_LABEL);
    const kind = label(text, KIND_LABEL);
    if (!id || id.length > 256 || id.startsWith(RESERVED_PREFIX)) return null;
    if (kind !== 'source' && kind !== 'transform' && kind !== 'sink') return null;
    const known = this.#components.get(id);
    if (known) return known;
    if (this.#components.size >= MAX_COMPONENTS) return null;
    const component: Component = {
      ...{ id, kind, totals: zeros(), added: zeros(), gauges: {} },
      ...{ receivedBytes: 0, sentBytes: 0, lost: 0, unmatchedErrors: 0 },
    };
    this.#components.set(id, component);
    return component;
  }

  #measure(text: string, gauge: Gauge, value: number): void {
    const component = this.#components.get(label(text, ID_LABEL) ?? '');
    if (component) component.gauges[gauge] = Math.max(component.gauges[gauge] ?? 0, value);
  }

  /** Its total stays. When it comes back it counts from 0. */
  #forgetExpired(): void {
    for (const [text, series] of this.#series)
      if (series !== null && series.seen !== this.#scrapes) this.#series.delete(text);
  }
}

interface Sample {
  /** `name{labels`, without the bracket at the end. */
  series: string;
  value: number;
}

/** Calls `take` for each line of the engine's own with labels; few of them are of use, so the rest of a line is read on demand. */
function eachSample(text: string, take: (name: string, sample: () => Sample) => void): void {
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    const open = text.startsWith('vector_', start) ? text.indexOf('{', start) : -1;
    if (open !== -1 && open < end) {
      const from = start;
      take(text.slice(start, open), () => sampleOf(text.slice(from, end)));
    }
    start = end + 1;
  }
}

function sampleOf(line: string): Sample {
  const close = line.lastIndexOf('}');
  const end = line.indexOf(' ', close + 2);
  // A millisecond timestamp may follow the value.
  const value = Number(end === -1 ? line.slice(close + 1) : line.slice(close + 1, end));
  return { series: line.slice(0, close), value: close === -1 ? Number.NaN : value };
}

const ID_LABEL = /[{,]\s*component_id="((?:[^"\\]|\\.)*)"/;
const KIND_LABEL = /[{,]\s*component_kind="((?:[^"\\]|\\.)*)"/;
const INTENTIONAL_LABEL = /[{,]\s*intentional="((?:[^"\\]|\\.)*)"/;

/** A quote inside of a label's value is escaped, so that no pattern matches there. */
function label(series: string, pattern: RegExp): string | undefined {
  const found = pattern.exec(series)?.[1];
  return found?.includes('\\')
    ? found.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))
    : found;
}

/** What one scrape means for numbers that are made of two counters. */
function settle(component: Component): void {
  const { totals, added } = component;
  // The wire's bytes where the engine counts them, else its estimate of the events' size.
  component.receivedBytes += totals.receivedWire > 0 ? added.receivedWire : added.receivedEventBytes;
  component.sentBytes += totals.sentWire > 0 ? added.sentWire : added.sentEventBytes;
  const errors = added.errors + component.unmatchedErrors;
  component.lost += Math.max(0, added.discarded - errors);
  component.unmatchedErrors = Math.max(0, Math.min(added.errors, errors - added.discarded));
}

function sumUp(components: readonly Component[]): EngineMetrics {
  const all: EngineMetrics = {
    components: [],
    eventsIn: 0,
    eventsOut: 0,
    bytesIn: 0,
    bytesOut: 0,
    errorsTotal: 0,
    eventsDiscarded: 0,
    utilization: undefined,
  };
  for (const { id, kind, totals, gauges, receivedBytes, sentBytes, lost } of components) {
    const utilization = gauges.utilization === undefined ? undefined : Math.min(1, gauges.utilization);
    const metric = {
      componentId: id,
      componentKind: kind,
      receivedEvents: count(totals.receivedEvents),
      sentEvents: count(totals.sentEvents),
      receivedBytes: count(receivedBytes),
      sentBytes: count(sentBytes),
      errorsTotal: count(totals.errors),
      discardedEvents: count(totals.discarded),
      filteredEvents: count(totals.filtered),
      latencyMeanSeconds: gauges.latency,
      utilization,
      ...(kind === 'sink' ? bufferOf(gauges) : {}),
    };
    all.components.push(metric);
    if (kind === 'source') {
      all.eventsIn += metric.receivedEvents;
      all.bytesIn += metric.receivedBytes;
    }
    if (kind === 'sink') {
      all.eventsOut += metric.sentEvents;
      all.bytesOut += metric.sentBytes;
    }
    all.errorsTotal += metric.errorsTotal;
    all.eventsDiscarded += count(lost);
    if (utilization !== undefined) all.utilization = Math.max(all.utilization ?? 0, utilization);
  }
  return all;
}

/** How full it is: by bytes where they are limited, as on disk, otherwise by events. */
function bufferOf(gauges: Component['gauges']): Pick<ComponentMetric, 'bufferEvents' | 'bufferFill'> {
  const { bufferEvents, bufferBytes, bufferMaxEvents, bufferMaxBytes } = gauges;
  if (bufferEvents === undefined) return {};
  const fill = bufferMaxBytes
    ? (bufferBytes ?? 0) / bufferMaxBytes
    : bufferMaxEvents
      ? bufferEvents / bufferMaxEvents
      : undefined;
  return {
    bufferEvents: count(bufferEvents),
    ...(fill === undefined ? {} : { bufferFill: Math.min(1, Math.round(fill * 1_000) / 1_000) }),
  };
}

const count = (value: number): number => Math.min(Number.MAX_SAFE_INTEGER, Math.round(value));
