import { component, type Source } from '../component.ts';
import { defaulted, optional, table } from '../config/options.ts';
import { number, text } from '../config/shape.ts';
import { metricBatch } from '../event.ts';
import { everyInterval, yieldTurn } from './pace.ts';

const tagNames = table({
  host_key: optional(text, "The tag for the host's name; `log_schema.host_key` where it is left out."),
  pid_key: optional(text, 'The tag for the process id. Without it, none is added.', { examples: ['pid'] }),
});

export const internalMetrics = component({
  title: 'Internal Metrics',
  about: "Gives the engine's own counters, those of all components included.",
  options: {
    scrape_interval_secs: defaulted(number({ minimum: 0.01 }), 1, 'The time between two readings.', {
      unit: 'seconds',
    }),
    namespace: defaulted(text, 'vector', 'What the names of the metrics begin with.'),
    tags: defaulted(tagNames, {}, 'The names of tags that each metric carries.'),
  },
  configure(values, globals): Source {
    const { namespace } = values;
    const hostKey = values.tags.host_key ?? globals.logSchema.host;
    const pidKey = values.tags.pid_key;
    const tags: Record<string, string> = {};
    if (hostKey) tags[hostKey] = globals.hostname;
    if (pidKey) tags[pidKey] = String(process.pid);
    return {
      output: 'metric',
      run: async ({ signal, send, metrics, registry }) => {
        const receivedBytes = metrics.wireBytes('received', 'internal');
        // Components that start in the same turn have their series in the first scrape.
        await yieldTurn();
        await everyInterval(values.scrape_interval_secs * 1000, signal, async () => {
          const batch = metricBatch(registry.snapshot(Date.now(), namespace, tags));
          receivedBytes.value += batch.bytes;
          await send(batch);
        });
      },
    };
  },
});
