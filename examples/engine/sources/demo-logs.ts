import type { Globals, Source, SourceContext } from '../component.ts';
import type { OptionReader } from '../config/option-reader.ts';
import { type LogEvent, logBatch, Timestamp } from '../event.ts';
import { DEMO_FORMATS, type DemoFormat, demoLine, pick } from './demo-lines.ts';
import { pause, yieldTurn } from './pace.ts';

const BATCH_EVENTS = 256;

/** `demo_logs`: makes lines up. `interval` is in seconds, 0 means as fast as the sinks take them. */
export function configureDemoLogs(options: OptionReader, globals: Globals): Source {
  const format = options.oneOf('format', DEMO_FORMATS);
  const interval = options.number('interval', 1);
  const count = options.integer('count', Number.MAX_SAFE_INTEGER);
  const lines = options.strings('lines') ?? [];
  const sequence = options.boolean('sequence', false);
  options.finish();
  if (format === 'shuffle' && lines.length === 0) {
    options.fail('A non-empty list of lines is required for the shuffle format');
  }
  const makeLine = lineMaker(format, lines, sequence);
  return {
    output: 'log',
    run: (context) => run(context, globals, interval * 1000, count, makeLine),
  };
}

function lineMaker(
  format: DemoFormat,
  lines: string[],
  sequence: boolean,
): (index: number, now: Date) => string {
  if (format !== 'shuffle') return (_index, now) => demoLine(format, now);
  return sequence ? (index) => `${index} ${pick(lines)}` : () => pick(lines);
}

async function run(
  { signal, send, metrics }: SourceContext,
  globals: Globals,
  intervalMs: number,
  count: number,
  makeLine: (index: number, now: Date) => string,
): Promise<void> {
  const receivedBytes = metrics.wireBytes('received', 'none');
  const keys = globals.logSchema;
  const started = performance.now();
  let made = 0;

  while (made < count && !signal.aborted) {
    // The first event is due at once. Intervals too short for a timer are made up for in one batch.
    const due =
      intervalMs > 0 ? Math.floor((performance.now() - started) / intervalMs) + 1 : Number.MAX_SAFE_INTEGER;
    const amount = Math.min(due - made, count - made, BATCH_EVENTS);
    if (amount <= 0) {
      await pause(Math.max(1, started + made * intervalMs - performance.now()), signal);
      continue;
    }
    const now = new Date();
    const timestamp = new Timestamp(now.toISOString());
    const events: LogEvent[] = [];
    for (let index = 0; index < amount; index += 1) {
      const line = makeLine(made + index, now);
      receivedBytes.value += line.length;
      events.push({
        [keys.host]: 'localhost',
        [keys.message]: line,
        service: 'vector',
        [keys.sourceType]: 'demo_logs',
        [keys.timestamp]: timestamp,
      });
    }
    made += amount;
    await send(logBatch(events));
    await yieldTurn();
  }
}
