import type { Sink } from '../component.ts';
import type { OptionReader } from '../config/option-reader.ts';

/** `blackhole`: counts and forgets. */
export function configureBlackhole(options: OptionReader): Sink {
  const printMs = options.number('print_interval_secs', 0) * 1000;
  options.number('rate', 0);
  options.finish();
  return {
    accepts: ['log', 'metric'],
    resources: [],
    start: async ({ log, metrics }) => {
      const sentBytes = metrics.wireBytes('sent', 'blackhole');
      let events = 0;
      const print = () => log.info('Collected events.', { events, raw_bytes_collected: sentBytes.value });
      const timer = printMs > 0 ? setInterval(print, printMs) : undefined;
      return {
        write(batch) {
          events += batch.events.length;
          sentBytes.value += batch.bytes;
          return undefined;
        },
        async close() {
          clearInterval(timer);
          if (timer) print();
        },
      };
    },
  };
}
