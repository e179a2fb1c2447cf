import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import type { LogEvent } from '../../../examples/engine/event.ts';
import { jsonDecoder, textDecoder } from '../../../examples/engine/sources/decoding.ts';
import { LINES } from '../../../examples/engine/sources/framing.ts';
import { readStream, type StdinOptions } from '../../../examples/engine/sources/stdin.ts';
import { ComponentMetrics } from '../../../examples/engine/telemetry/component-metrics.ts';
import { Registry } from '../../../examples/engine/telemetry/registry.ts';
import { until } from '../../support/harness/until.ts';
import { collectingLogger, compileYaml } from './support.ts';

const { settings } = compileYaml(
  'sources: {in: {type: stdin}}',
  'sinks: {out: {type: blackhole, inputs: [in]}}',
);

/** Starts reading what is written into `stream`; `events` grows as they come. */
function start(options: Partial<StdinOptions> = {}) {
  const stream = new PassThrough();
  const stop = new AbortController();
  const registry = new Registry();
  const { log, lines } = collectingLogger();
  const events: LogEvent[] = [];
  const ended = readStream(
    stream,
    { framing: LINES, decode: textDecoder('message'), hostKey: 'host', maxLength: 100, ...options },
    {
      id: 'in',
      log,
      metrics: new ComponentMetrics(registry, { id: 'in', kind: 'source', type: 'stdin' }),
      globals: { ...settings.globals, hostname: 'h1' },
      registry,
      signal: stop.signal,
      send: async (batch) => {
        if (batch.kind === 'log') events.push(...batch.events);
      },
    },
  );
  const value = (name: string) => registry.snapshot(0, 'v', {}).find((metric) => metric.name === name)?.value;
  return { stream, stop, events, ended, lines, value };
}

describe('the stdin source', () => {
  it('makes an event of each line and ends with its input, the last line whole or not', async () => {
    const { stream, events, ended, value } = start();
    stream.write('one\ntw');
    stream.write('o\n');
    stream.end('three');
    await ended;
    expect(events.map((event) => event.message)).to.deep.equal(['one', 'two', 'three']);
    expect(Object.keys(events[0]!).sort()).to.deep.equal(['host', 'message', 'source_type', 'timestamp']);
    expect(events[0]).to.include({ host: 'h1', source_type: 'stdin' });
    expect(value('component_received_bytes_total')).to.equal(13);
  });

  it('keeps letters whole that a chunk cuts in two', async () => {
    const { stream, events, ended } = start();
    const bytes = Buffer.from('Grüße\n');
    stream.write(bytes.subarray(0, 3));
    stream.end(bytes.subarray(3));
    await ended;
    expect(events[0]?.message).to.equal('Grüße');
  });

  it('cuts a line off at max_length and says so once', async () => {
    const { stream, events, ended, lines } = start({ maxLength: 5 });
    stream.end(`${'x'.repeat(1000)}\n${'y'.repeat(6)}\nok\n`);
    await ended;
    expect(events.map((event) => event.message)).to.deep.equal(['xxxxx', 'yyyyy', 'ok']);
    expect(lines.filter((line) => line.includes(': Truncating message'))).to.have.length(1);
  });

  it('leaves out a frame that is longer than the framing allows, and counts it', async () => {
    const { stream, events, ended, value } = start({
      framing: { method: 'delimited', delimiter: 10, maxLength: 3 },
    });
    stream.end('long\nabc\n');
    await ended;
    expect(events.map((event) => event.message)).to.deep.equal(['abc']);
    expect(value('component_discarded_events_total')).to.equal(1);
  });

  it('reads JSON, keeps what the event brings, and counts what is not JSON', async () => {
    const { stream, events, ended, value, lines } = start({ decode: jsonDecoder() });
    stream.end('{"a":1,"host":null}\nsecret\n[{"b":1},{"b":2}]\n3\n');
    await ended;
    expect(events.map(({ timestamp: _timestamp, source_type: _type, ...rest }) => rest)).to.deep.equal([
      { a: 1, host: null },
      { b: 1, host: 'h1' },
      { b: 2, host: 'h1' },
    ]);
    expect(value('component_errors_total')).to.equal(2);
    expect(lines.join('\n')).to.include('Failed deserializing frame.').and.not.include('secret');
  });

  it('refuses JSON that is nested without end', () => {
    const deep = (levels: number) => Buffer.from(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`);
    expect(jsonDecoder()(deep(100))).to.have.length(1);
    expect(() => jsonDecoder()(deep(5000))).to.throw('recursion limit exceeded');
  });

  it('refuses bytes that are no UTF-8 where it shall', () => {
    const broken = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
    expect(jsonDecoder(true)(broken)).to.deep.equal([{ '\ufffd': 1 }]);
    expect(() => jsonDecoder(false)(broken)).to.throw('not JSON');
  });

  it('stops when it is told to, though the input goes on', async () => {
    const { stream, stop, events, ended } = start();
    stream.write('one\npart');
    await until(() => events.length === 1, { what: 'the first line is read' });
    stop.abort();
    await ended;
    expect(events).to.have.length(1);
    expect(stream.destroyed).to.equal(true);
  });
});
