import { component, type Sink } from '../component.ts';
import { defaulted, optional } from '../config/options.ts';
import { number } from '../config/shape.ts';

export const blackhole = component({
  title: 'Blackhole',
  about: 'Counts events and forgets them.',
  options: {
    print_interval_secs: defaulted(
      number({ minimum: 0 }),
      0,
      'The time between two lines in the log that tell the count. With 0 there are none.',
      { unit: 'seconds', examples: [10] },
    ),
    rate: optional(number({ minimum: 0 }), 'Taken for the sake of Vector, and without effect.', {
      advanced: true,
    }),
  },
  configure({ print_interval_secs: seconds }): Sink {
    const printMs = seconds * 1000;
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
  },
});
