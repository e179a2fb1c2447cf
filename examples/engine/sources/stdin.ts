import type { Readable } from 'node:stream';
import { component, type Source, type SourceContext } from '../component.ts';
import { defaulted, optional } from '../config/options.ts';
import { integer, text } from '../config/shape.ts';
import { type LogEvent, logBatch, Timestamp } from '../event.ts';
import { addSourceFields, type Decode, DecodeError, decoderOf, decoding, insertMissing } from './decoding.ts';
import { Framer, type Framing, framing, LINES } from './framing.ts';

export interface StdinOptions {
  framing: Framing;
  decode: Decode;
  hostKey: string;
  /** In bytes; what a message has beyond it is cut off. */
  maxLength: number;
}

export const stdin = component({
  title: 'STDIN',
  about: 'Makes an event of each line of the standard input, until it ends.',
  options: {
    max_length: defaulted(integer({ minimum: 1 }), 102_400, 'Longer lines are cut off.', { unit: 'bytes' }),
    host_key: optional(text, "The field for the host's name; `log_schema.host_key` where it is left out."),
    framing,
    decoding,
  },
  lacking: ['log_namespace'],
  configure(values, { logSchema }): Source {
    const read: StdinOptions = {
      maxLength: values.max_length,
      hostKey: values.host_key ?? logSchema.host,
      framing: values.framing ?? LINES,
      decode: decoderOf(values.decoding, logSchema.message),
    };
    return {
      output: 'log',
      resources: ['file descriptor 0'],
      run: (context) => readStream(process.stdin, read, context),
    };
  },
});

/** Reads the stream to its end, or until the signal aborts; a line that is not complete by then is left. */
export async function readStream(
  stream: Readable,
  options: StdinOptions,
  context: SourceContext,
): Promise<void> {
  const { log, metrics, signal } = context;
  const receivedBytes = metrics.wireBytes('received', 'none');
  const framer = framerOf(options, context);
  const aborted = new Promise<'aborted'>((resolve) => {
    if (signal.aborted) resolve('aborted');
    signal.addEventListener('abort', () => resolve('aborted'), { once: true });
  });
  log.info('Capturing stdin.');
  const chunks = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([chunks.next(), aborted]);
      if (next === 'aborted') return;
      if (next.done) break;
      const chunk = Buffer.from(next.value);
      receivedBytes.value += chunk.length;
      await send(framer ? framer.push(chunk) : [chunk], options, context);
    }
    await send(framer?.end() ?? [], options, context);
  } catch (error) {
    metrics.error('io_failed', 'receiving');
    log.error('Unable to read from source.', { error: (error as Error).message });
  } finally {
    stream.destroy();
  }
}

function framerOf({ framing, maxLength }: StdinOptions, { log, metrics }: SourceContext): Framer | undefined {
  if (framing.method === 'bytes') return undefined;
  const own = framing.maxLength;
  return new Framer({
    delimiter: framing.delimiter,
    maxLength: own ?? maxLength,
    onTooLong: () => {
      if (own === undefined) {
        log.limited('warn', 'Truncating message larger than max_length.', { max_length: maxLength });
        return true;
      }
      metrics.discarded(1, false);
      log.limited('warn', 'Discarding frame larger than max_length.', { max_length: own });
      return false;
    },
  });
}

async function send(frames: Buffer[], options: StdinOptions, context: SourceContext): Promise<void> {
  const { globals, log, metrics } = context;
  const timestamp = Timestamp.now();
  const events: LogEvent[] = [];
  for (const frame of frames) {
    try {
      for (const event of options.decode(frame)) {
        if (options.hostKey) insertMissing(event, options.hostKey, globals.hostname);
        addSourceFields(event, globals.logSchema, 'stdin', timestamp);
        events.push(event);
      }
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      metrics.error('parser_failed', 'processing');
      log.limited('error', 'Failed deserializing frame.', { error: error.message });
    }
  }
  if (events.length > 0) await context.send(logBatch(events));
}
