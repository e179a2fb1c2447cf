import { component, type Globals, type Source } from '../component.ts';
import { defaulted, table, type Values } from '../config/options.ts';
import { list, number, text, variants } from '../config/shape.ts';
import { type Metric, metricBatch } from '../event.ts';
import { COLLECTORS, type CollectorName, type Reading } from './host-collectors.ts';
import { type NameFilter, nameFilter } from './name-filter.ts';
import { everyInterval } from './pace.ts';

const NAMES = Object.keys(COLLECTORS) as CollectorName[];

const FILTER = {
  includes: defaulted(list(text), ['*'], 'What to report, as names and globs.', { examples: [['sd*']] }),
  excludes: defaulted(list(text), [], 'What to leave out of these.', { examples: [['loop*']] }),
};
const devices = table(
  {
    devices: defaulted(
      table(FILTER, { name: 'headgate_engine::host_metrics::FilterList', ignoresUnknown: true }),
      {},
      'The devices.',
    ),
  },
  { ignoresUnknown: true },
);
const mountpoints = table(
  {
    mountpoints: defaulted(
      table(FILTER, { name: 'headgate_engine::host_metrics::FilterList', ignoresUnknown: true }),
      {},
      'The mount points.',
    ),
  },
  { ignoresUnknown: true },
);

export const hostMetrics = component({
  title: 'Host Metrics',
  about: 'Reads CPU, memory, load, disks, file systems and network of the host.',
  options: {
    collectors: defaulted(
      list(variants(NAMES, ['cgroups', 'process', 'tcp', 'temperature'])),
      NAMES,
      'What to read.',
      { examples: [['cpu', 'memory']] },
    ),
    scrape_interval_secs: defaulted(number({ minimum: 0.01 }), 15, 'The time between two readings.', {
      unit: 'seconds',
    }),
    namespace: defaulted(text, 'host', 'What the names of the metrics begin with.'),
    filesystem: defaulted(mountpoints, {}, 'The file systems to report.', { advanced: true }),
    disk: defaulted(devices, {}, 'The disks to report.', { advanced: true }),
    network: defaulted(devices, {}, 'The network devices to report.', { advanced: true }),
  },
  lacking: ['cgroups', 'process', 'temperature'],
  configure(values, globals): Source {
    const { namespace, collectors } = values;
    const filters: Partial<Record<CollectorName, NameFilter>> = {
      disk: filterOf(values.disk.devices),
      network: filterOf(values.network.devices),
      filesystem: filterOf(values.filesystem.mountpoints),
    };
    return {
      output: 'metric',
      run: async ({ signal, send, metrics, log }) => {
        const receivedBytes = metrics.wireBytes('received', 'none');
        await everyInterval(values.scrape_interval_secs * 1000, signal, async () => {
          const timestamp = Date.now();
          const all: Metric[] = [];
          for (const collector of collectors) {
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
  },
});

const filterOf = ({ includes, excludes }: Values<typeof FILTER>): NameFilter =>
  nameFilter(includes, excludes);

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
