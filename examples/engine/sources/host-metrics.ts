import type { Globals, Source } from '../component.ts';
import type { OptionReader } from '../config/option-reader.ts';
import { type Metric, metricBatch } from '../event.ts';
import { COLLECTORS, type CollectorName, type Reading } from './host-collectors.ts';
import { type NameFilter, nameFilter } from './name-filter.ts';
import { everyInterval } from './pace.ts';

const NAMES = Object.keys(COLLECTORS) as CollectorName[];

/** `host_metrics`: CPU, memory, load, disks, file systems and network of this host, under Vector's names. */
export function configureHostMetrics(options: OptionReader, globals: Globals): Source {
  const intervalMs = options.number('scrape_interval_secs', 15, 0.01) * 1000;
  const namespace = options.string('namespace') ?? 'host';
  const wanted = (options.strings('collectors') ?? NAMES).map((name) => {
    const known = NAMES.find((candidate) => candidate === name);
    return (
      known ??
      options.fail(`unknown variant \`${name}\`, expected one of ${NAMES.map((n) => `\`${n}\``).join(', ')}`)
    );
  });
  const filters: Record<string, NameFilter> = {
    disk: readFilter(options.nested('disk'), 'devices'),
    network: readFilter(options.nested('network'), 'devices'),
    filesystem: readFilter(options.nested('filesystem'), 'mountpoints'),
  };
  options.finish();

  return {
    output: 'metric',
    run: async ({ signal, send, metrics, log }) => {
      const receivedBytes = metrics.wireBytes('received', 'none');
      await everyInterval(intervalMs, signal, async () => {
        const timestamp = Date.now();
        const all: Metric[] = [];
        for (const collector of wanted) {
          try {
            const readings = await COLLECTORS[collector](filters[collector] ?? (() => true));
            all.push(
              ...readings.map((reading) => toMetric(reading, collector, namespace, globals, timestamp)),
            );
          } catch (error) {
            metrics.error('reader_failed', 'receiving');
            log.limited('error', `Failed to load ${collector} info.`, { error: (error as Error).message });
          }
        }
        const batch = metricBatch(all);
        receivedBytes.value += batch.bytes;
        await send(batch);
      });
    },
  };
}

function toMetric(
  reading: Reading,
  collector: string,
  namespace: string,
  globals: Globals,
  timestamp: number,
): Metric {
  return {
    name: reading.name,
    namespace,
    tags: { collector, [globals.logSchema.host]: globals.hostname, ...reading.tags },
    timestamp,
    kind: 'absolute',
    type: reading.counter ? 'counter' : 'gauge',
    value: reading.value,
  };
}

function readFilter(options: OptionReader, name: string): NameFilter {
  const lists = options.nested(name);
  const filter = nameFilter(lists.strings('includes') ?? ['*'], lists.strings('excludes') ?? []);
  lists.finish();
  options.finish();
  return filter;
}
