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
  eventsDiscarded: number;
  /** The busiest component's, 0 to 1; undefined where the engine does not tell. */
  utilization: number | undefined;
}

interface Sums {
  kind: ComponentMetric['componentKind'];
  values: Partial<Record<Series, number>>;
}

/** Names must match exactly: `component_received_events_count` and others that look alike are histograms. */
const SERIES = {
  vector_component_received_events_total: 'receivedEvents',
  vector_component_received_bytes_total: 'receivedBytes',
  vector_component_received_event_bytes_total: 'receivedEventBytes',
  vector_component_sent_events_total: 'sentEvents',
  vector_component_sent_bytes_total: 'sentBytes',
  vector_component_sent_event_bytes_total: 'sentEventBytes',
  vector_component_errors_total: 'errors',
  vector_component_discarded_events_total: 'discarded',
  vector_component_latency_mean_seconds: 'latency',
  vector_utilization: 'utilization',
} as const;

type Series = (typeof SERIES)[keyof typeof SERIES];

const MAX_COMPONENTS = 1_000;
/** What the agent looks at lies under these beginnings; everything else is passed over without a look. */
const PREFIXES = ['vector_component_', 'vector_utilization{'];

/** What a series tells; null for one that tells nothing here. */
type Meaning = { id: string; kind: Sums['kind']; series: Series } | null;

/** The same series come again with every scrape: reading their labels anew would cost more than all else. */
const MAX_KNOWN = 5_000;
const known = new Map<string, Meaning>();

/** Reads the exporter's text. Each counter is the sum over its series; a series that is absent counts 0. */
export function readEngineMetrics(text: string): EngineMetrics {
  const components = new Map<string, Sums>();
  for (const prefix of PREFIXES) {
    const inside = `\n${prefix}`;
    let start = text.startsWith(prefix) ? 0 : text.indexOf(inside) + 1 || -1;
    while (start !== -1) {
      const newline = text.indexOf('\n', start);
      addSample(components, text.slice(start, newline === -1 ? text.length : newline));
      start = newline === -1 ? -1 : text.indexOf(inside, newline) + 1 || -1;
    }
  }
  return total(components);
}

function addSample(components: Map<string, Sums>, line: string): void {
  const close = line.lastIndexOf('}');
  if (close === -1) return;
  const meaning = meaningOf(line.slice(0, close));
  if (!meaning) return;
  const end = line.indexOf(' ', close + 2);
  const value = Number(end === -1 ? line.slice(close + 1) : line.slice(close + 1, end));
  if (!Number.isFinite(value)) return;
  const { id, kind, series } = meaning;
  let sums = components.get(id);
  if (!sums) {
    if (components.size >= MAX_COMPONENTS) return;
    sums = { kind, values: {} };
    components.set(id, sums);
  }
  sums.values[series] = (sums.values[series] ?? 0) + value;
}

/** `name{labels`, without the bracket at the end. */
function meaningOf(text: string): Meaning {
  let meaning = known.get(text);
  if (meaning === undefined) {
    meaning = readMeaning(text);
    if (known.size >= MAX_KNOWN) known.clear();
    // A copy: a part of a text keeps the whole of it in memory.
    if (text.length <= 1_024) known.set(Buffer.from(text).toString(), meaning);
  }
  return meaning;
}

function readMeaning(text: string): Meaning {
  const open = text.indexOf('{');
  const name = text.slice(0, Math.max(0, open));
  if (!Object.hasOwn(SERIES, name)) return null;
  const series = SERIES[name as keyof typeof SERIES];
  const labels = text.slice(open + 1);
  const id = label(labels, ID_LABEL);
  const kind = label(labels, KIND_LABEL);
  if (!id || id.length > 256 || id.startsWith(RESERVED_PREFIX)) return null;
  return kind === 'source' || kind === 'transform' || kind === 'sink' ? { id, kind, series } : null;
}

const ID_LABEL = /(?:^|,)\s*component_id="((?:[^"\\]|\\.)*)"/;
const KIND_LABEL = /(?:^|,)\s*component_kind="((?:[^"\\]|\\.)*)"/;

function label(labels: string, pattern: RegExp): string | undefined {
  const found = pattern.exec(labels)?.[1];
  return found?.includes('\\')
    ? found.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))
    : found;
}

/** The wire's bytes where the engine tells them, else its estimate of the events' size. */
function total(sums: ReadonlyMap<string, Sums>): EngineMetrics {
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
  for (const [componentId, { kind, values }] of sums) {
    const receivedBytes = count(values.receivedBytes ?? values.receivedEventBytes);
    const sentBytes = count(values.sentBytes ?? values.sentEventBytes);
    const metric = {
      componentId,
      componentKind: kind,
      receivedEvents: count(values.receivedEvents),
      sentEvents: count(values.sentEvents),
      receivedBytes,
      sentBytes,
      errorsTotal: count(values.errors),
      discardedEvents: count(values.discarded),
      latencyMeanSeconds: values.latency,
    };
    all.components.push(metric);
    if (kind === 'source') {
      all.eventsIn += metric.receivedEvents;
      all.bytesIn += receivedBytes;
    }
    if (kind === 'sink') {
      all.eventsOut += metric.sentEvents;
      all.bytesOut += sentBytes;
    }
    all.errorsTotal += metric.errorsTotal;
    all.eventsDiscarded += metric.discardedEvents;
    if (values.utilization !== undefined)
      all.utilization = Math.max(all.utilization ?? 0, values.utilization);
  }
  return all;
}

function count(value = 0): number {
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.round(value)));
}
