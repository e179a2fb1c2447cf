import type { Batch } from '../event.ts';
import type { Registry, Series, Tags } from './registry.ts';

export interface ComponentIdentity {
  id: string;
  kind: 'source' | 'transform' | 'sink';
  type: string;
}

/** The counters that every component has, under Vector's names and labels. */
export class ComponentMetrics {
  readonly component: ComponentIdentity;
  readonly #registry: Registry;
  readonly #tags: Tags;
  /** Made when they are first needed: a source may count under labels of the moment instead. */
  #received: { events: Series; bytes: Series } | undefined;

  constructor(registry: Registry, component: ComponentIdentity) {
    this.component = component;
    this.#registry = registry;
    this.#tags = {
      component_id: component.id,
      component_kind: component.kind,
      component_type: component.type,
    };
    // Transforms and sinks have theirs from the start, sources from their first event.
    if (component.kind !== 'source') this.#received = this.#receivedSeries({});
  }

  received(batch: Batch): void {
    this.#received ??= this.#receivedSeries({});
    this.#received.events.value += batch.events.length;
    this.#received.bytes.value += batch.bytes;
  }

  /** Counts what a source receives under labels beside the component's. */
  labelReceived(tags: Tags): void {
    this.#received ??= this.#receivedSeries(tags);
  }

  #receivedSeries(tags: Tags): { events: Series; bytes: Series } {
    const all = { ...this.#tags, ...tags };
    return {
      events: this.#registry.counter('component_received_events_total', all),
      bytes: this.#registry.counter('component_received_event_bytes_total', all),
    };
  }

  /**
   * Counts what leaves: `output` is the port of a source or transform, and absent for a sink.
   * Where only `count` of a batch's events left, the bytes are taken in proportion.
   */
  sent(output?: string): (batch: Batch, count?: number) => void {
    const tags = output === undefined ? this.#tags : { ...this.#tags, output };
    const events = this.#registry.counter('component_sent_events_total', tags);
    const bytes = this.#registry.counter('component_sent_event_bytes_total', tags);
    return (batch, count = batch.events.length) => {
      events.value += count;
      bytes.value +=
        count === batch.events.length ? batch.bytes : Math.round((batch.bytes * count) / batch.events.length);
    };
  }

  /** Bytes on the wire: sources count what they read, sinks what they wrote. */
  wireBytes(direction: 'received' | 'sent', protocol: string, tags: Tags = {}): Series {
    return this.#registry.counter(`component_${direction}_bytes_total`, { ...this.#tags, ...tags, protocol });
  }

  error(errorType: string, stage: 'receiving' | 'processing' | 'sending', count = 1): void {
    const tags = { ...this.#tags, error_type: errorType, stage };
    this.#registry.counter('component_errors_total', tags).value += count;
  }

  count(name: string, tags: Tags): void {
    this.#registry.counter(name, { ...this.#tags, ...tags }).value += 1;
  }

  discarded(count: number, intentional: boolean): void {
    const tags = { ...this.#tags, intentional: String(intentional) };
    this.#registry.counter('component_discarded_events_total', tags).value += count;
  }

  gauge(name: string, tags: Tags = {}): Series {
    return this.#registry.gauge(name, { ...this.#tags, ...tags });
  }

  counter(name: string, tags: Tags): Series {
    return this.#registry.counter(name, { ...this.#tags, ...tags });
  }
}
