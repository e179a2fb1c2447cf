import { component, type Sink } from '../component.ts';
import { defaulted } from '../config/options.ts';
import { variants } from '../config/shape.ts';
import { encoderOf, encoding } from './encoding.ts';

export const consoleSink = component({
  title: 'Console',
  about: 'Writes a line for each event to the standard output.',
  options: {
    target: defaulted(
      variants({ stdout: 'The standard output.', stderr: 'The standard error output.' }),
      'stdout',
      'Where to write.',
    ),
    encoding,
  },
  lacking: ['framing'],
  configure({ target, encoding: options }, { logSchema }): Sink {
    const encode = encoderOf(options, logSchema.message);
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
  },
});
