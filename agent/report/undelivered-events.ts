/** Events that an engine has taken and not delivered, by its own exporter. */
import { RESERVED_PREFIX } from '../limits.ts';

export interface SinkEvents {
  componentId: string;
  /** In memory: they end with the process. */
  lostEvents: number;
  /** On disk: the next process delivers them. */
  keptEvents: number;
}

const MOST_SINKS = 1_000;
const NAMES = {
  vector_buffer_size_events: 'size',
  // Its name up to 0.52; both are there from 0.53 to 0.57.
  vector_buffer_events: 'oldSize',
  vector_component_received_events_total: 'received',
  vector_component_sent_events_total: 'sent',
  vector_component_discarded_events_total: 'discarded',
} as const;
type Name = (typeof NAMES)[keyof typeof NAMES];

/** They send sums of events: what they took in and sent cannot be compared. */
const AGGREGATES = /prometheus|metrics$|statsd/;

interface Sums {
  type: string;
  memory: Partial<Record<Name, number>>;
  disk: Partial<Record<Name, number>>;
}

/**
 * Sinks that hold events, most first. A memory buffer's size does not count the batches that are being sent, so what a sink
 * took out of it and has neither sent nor dropped is added. A disk buffer's size counts them.
 */
export function readUndelivered(text: string): SinkEvents[] {
  const sinks = new Map<string, Sums>();
  for (const line of text.split('\n')) {
    const open = line.indexOf('{');
    const name = line.slice(0, Math.max(0, open));
    if (!Object.hasOwn(NAMES, name)) continue;
    const close = line.lastIndexOf('}');
    const labels = line.slice(open + 1, close);
    const id = label(labels, 'component_id');
    const value = Number(
      line
        .slice(close + 1)
        .trim()
        .split(' ')[0],
    );
    if (label(labels, 'component_kind') !== 'sink' || !id || id.length > 256 || !Number.isFinite(value))
      continue;
    if (id.startsWith(RESERVED_PREFIX)) continue;
    const sums = sinks.get(id) ?? { type: label(labels, 'component_type') ?? '', memory: {}, disk: {} };
    if (!sinks.has(id) && sinks.size >= MOST_SINKS) continue;
    sinks.set(id, sums);
    const part = label(labels, 'buffer_type')?.startsWith('disk') ? sums.disk : sums.memory;
    const key = NAMES[name as keyof typeof NAMES];
    part[key] = (part[key] ?? 0) + value;
  }
  return [...sinks]
    .map(([componentId, sums]) => ({ componentId, ...eventsOf(sums) }))
    .filter(({ lostEvents, keptEvents }) => lostEvents + keptEvents > 0)
    .sort((a, b) => b.lostEvents + b.keptEvents - a.lostEvents - a.keptEvents);
}

function eventsOf({ type, memory, disk }: Sums): Omit<SinkEvents, 'componentId'> {
  const onDisk = disk.size ?? disk.oldSize;
  const inMemory = memory.size ?? memory.oldSize;
  const { received = 0, sent = 0, discarded = 0 } = memory;
  const comparable = !AGGREGATES.test(type) && (onDisk === undefined || inMemory !== undefined);
  const inFlight = comparable ? received - sent - discarded : 0;
  return { lostEvents: count(inMemory) + count(inFlight), keptEvents: count(onDisk) };
}

function label(labels: string, name: string): string | undefined {
  return new RegExp(`(?:^|,)${name}="((?:[^"\\\\]|\\\\.)*)"`).exec(labels)?.[1]?.replace(/\\(.)/g, '$1');
}

const count = (value = 0) => Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.round(value)));
