import type { Globals, Sink } from '../component.ts';
import type { OptionReader } from '../config/option-reader.ts';
import { readEncoding } from './encoding.ts';

/** `console`: one line an event, on stdout or stderr. */
export function configureConsole(options: OptionReader, globals: Globals): Sink {
  const target = options.oneOf('target', ['stdout', 'stderr'], 'stdout');
  const encode = readEncoding(options, globals.logSchema.message);
  options.finish();
  return {
    accepts: ['log', 'metric'],
    resources: [],
    start: async ({ metrics }) => {
      const sentBytes = metrics.wireBytes('sent', 'console');
      const stream = process[target];
      // Without a listener, a reader that left would end the process with a stack on stderr.
      const ignore = () => {};
      stream.on('error', ignore);
      return {
        write(batch) {
          const text = batch.events.map((_event, index) => `${encode(batch, index)}\n`).join('');
          // Waiting for the callback keeps a slow reader's backlog out of memory.
          return new Promise((resolve, reject) => {
            stream.write(text, (error) => {
              if (error) return reject(new Error(`Failed writing to ${target}: ${error.message}`));
              sentBytes.value += Buffer.byteLength(text);
              resolve(undefined);
            });
          });
        },
        async close() {
          stream.off('error', ignore);
        },
      };
    },
  };
}
