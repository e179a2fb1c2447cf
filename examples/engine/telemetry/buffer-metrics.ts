import type { Batch } from '../event.ts';
import type { ComponentMetrics } from './component-metrics.ts';

/** What is counted of the events that wait for a sink. */
export interface BufferMetrics {
  received(batch: Batch): void;
  sent(batch: Batch): void;
  discarded(batch: Batch): void;
}

/** The series of a sink's buffer in memory, under Vector's names: those of 0.53 on, and the older ones beside them. */
export function bufferMetrics(metrics: ComponentMetrics, maxEvents: number): BufferMetrics {
  const tags = { buffer_id: metrics.component.id, buffer_type: 'memory', stage: '0' };
  const sizes = ['buffer_size_events', 'buffer_events'].map((name) => metrics.gauge(name, tags));
  const bytes = ['buffer_size_bytes', 'buffer_byte_size'].map((name) => metrics.gauge(name, tags));
  for (const name of ['buffer_max_size_events', 'buffer_max_event_size']) {
    metrics.gauge(name, tags).value = maxEvents;
  }
  const counters = (what: string, labels = {}) => ({
    events: metrics.counter(`buffer_${what}_events_total`, { ...tags, ...labels }),
    bytes: metrics.counter(`buffer_${what}_bytes_total`, { ...tags, ...labels }),
  });
  const [received, sent] = [counters('received'), counters('sent')];
  const grow = (batch: Batch, sign: 1 | -1) => {
    for (const size of sizes) size.value += sign * batch.events.length;
    for (const size of bytes) size.value += sign * batch.bytes;
  };
  const count = (series: ReturnType<typeof counters>, batch: Batch) => {
    series.events.value += batch.events.length;
    series.bytes.value += batch.bytes;
  };
  return {
    received(batch) {
      count(received, batch);
      grow(batch, 1);
    },
    sent(batch) {
      count(sent, batch);
      grow(batch, -1);
    },
    // Not before there is one to count.
    discarded(batch) {
      count(counters('discarded', { intentional: 'true' }), batch);
      metrics.discarded(batch.events.length, true);
    },
  };
}
