import { component, type Globals, type Source, type SourceContext } from '../component.ts';
import { defaulted, optional, required } from '../config/options.ts';
import { refusal } from '../config/refusals.ts';
import { flag, integer, list, number, text, variants } from '../config/shape.ts';
import { type LogEvent, logBatch, Timestamp } from '../event.ts';
import { DEMO_FORMATS, type DemoFormat, demoLine, pick } from './demo-lines.ts';
import { pause, yieldTurn } from './pace.ts';

const BATCH_EVENTS = 256;

export const demoLogs = component({
  title: 'Demo Logs',
  about: 'Makes log lines up, for trying things out.',
  options: {
    format: required(variants(DEMO_FORMATS), 'What the lines look like.'),
    lines: defaulted(list(text), [], 'The lines to pick from, for the format `shuffle`.', {
      examples: [['line 1', 'line 2']],
    }),
    sequence: defaulted(flag, false, 'Puts a running number before each line of `shuffle`.'),
    interval: defaulted(
      number({ minimum: 0 }),
      1,
      'The time between two lines. With 0 they come as fast as the sinks take them.',
      { unit: 'seconds', examples: [1, 0.1, 0.01] },
    ),
    count: optional(integer({ minimum: 0 }), 'How many lines to make. Without it, there is no end.'),
  },
  lacking: ['framing', 'decoding', 'log_namespace'],
  ignoresUnknown: true,
  configure({ format, lines, sequence, interval, count }, globals, path): Source {
    if (format === 'shuffle' && lines.length === 0) {
      throw refusal('A non-empty list of lines is required for the shuffle format', path);
    }
    const makeLine = lineMaker(format, lines, sequence);
    return {
      output: 'log',
      run: (context) => run(context, globals, interval * 1000, count ?? Number.POSITIVE_INFINITY, makeLine),
    };
  },
});

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
