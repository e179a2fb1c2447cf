import type { Globals, Source } from '../component.ts';
import type { OptionReader } from '../config/option-reader.ts';
import { metricBatch } from '../event.ts';
import { everyInterval, yieldTurn } from './pace.ts';

/** `internal_metrics`: the engine's own counters, those of sidecar components included. */
export function configureInternalMetrics(options: OptionReader, globals: Globals): Source {
  const intervalMs = options.number('scrape_interval_secs', 1, 0.01) * 1000;
  const namespace = options.string('namespace') ?? 'vector';
  const tagNames = options.nested('tags');
  const hostKey = tagNames.string('host_key') ?? globals.logSchema.host;
  const pidKey = tagNames.string('pid_key');
  tagNames.finish();
  options.finish();

  const tags: Record<string, string> = {};
  if (hostKey) tags[hostKey] = globals.hostname;
  if (pidKey) tags[pidKey] = String(process.pid);
  return {
    output: 'metric',
    run: async ({ signal, send, metrics, registry }) => {
      const receivedBytes = metrics.wireBytes('received', 'internal');
      // Components that start in the same turn have their series in the first scrape.
      await yieldTurn();
      await everyInterval(intervalMs, signal, async () => {
        const batch = metricBatch(registry.snapshot(Date.now(), namespace, tags));
        receivedBytes.value += batch.bytes;
        await send(batch);
      });
    },
  };
}
