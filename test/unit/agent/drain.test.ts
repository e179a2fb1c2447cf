import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { readUndelivered } from '../../../agent/report/undelivered-events.ts';
import { Drain, drainSecondsOf, killAfterMs } from '../../../agent/supervise/engine/drain.ts';
import { engineEnvironment } from '../../../agent/supervise/engine/engine-environment.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';

const labels = (id: string, type: string, more = '') =>
  `{${more}component_id="${id}",component_kind="sink",component_type="${type}",host="n1",stage="0"}`;
const buffer = (id: string, type: string, kind: 'memory' | 'disk', events: number) =>
  `vector_buffer_size_events${labels(id, type, `buffer_id="${id}",buffer_type="${kind}",`)} ${events} 1767225630000`;
const counter = (name: string, id: string, type: string, value: number) =>
  `vector_component_${name}_events_total${labels(id, type)} ${value} 1767225630000`;

const HANGING = [
  '# TYPE vector_buffer_size_events gauge',
  buffer('out', 'http', 'memory', 500),
  buffer('disk', 'http', 'disk', 6),
  buffer('fine', 'console', 'memory', 0),
  buffer('svc_metrics_exporter', 'prometheus_exporter', 'memory', 3),
  counter('received', 'out', 'http', 4_600),
  counter('sent', 'out', 'http', 90),
  counter('discarded', 'out', 'http', 10),
  counter('received', 'disk', 'http', 64),
  counter('discarded', 'disk', 'http', 57),
  counter('received', 'fine', 'console', 69),
  counter('sent', 'fine', 'console', 69),
  counter('received', 'sums', 'prometheus_remote_write', 900),
  counter('sent', 'sums', 'prometheus_remote_write', 40),
].join('\n');

describe('the drain of an engine', () => {
  let server: Server;
  let answer: string | null;
  let port: number;
  beforeEach(async () => {
    answer = HANGING;
    server = createServer((_, response) => {
      if (answer === null) response.destroy();
      else response.end(answer);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    port = (server.address() as AddressInfo).port;
  });
  afterEach(() => server.close());

  const drain = (more: { drainSeconds?: number; metricsPort?: number | undefined } = {}) => {
    const clock = manualClock(Date.UTC(2026, 0, 1));
    const { drainSeconds, metricsPort = port } = more;
    const entry = { version: 3, ...(drainSeconds === undefined ? {} : { drainSeconds }) };
    return { clock, drain: new Drain({ entry, metricsPort, clock, onProgress: () => {} }) };
  };
  const begun = (one: Drain) => new Promise<void>((done) => one.begin(done));
  const AT = new Date(Date.UTC(2026, 0, 1));

  it('counts what is in memory, in flight and on disk, and nothing of its own exporter', () => {
    expect(readUndelivered(HANGING)).to.deep.equal([
      { componentId: 'out', lostEvents: 5_000, keptEvents: 0 },
      { componentId: 'disk', lostEvents: 0, keptEvents: 6 },
    ]);
  });

  it('reads the buffer sizes of engines before 0.53', () => {
    const old = buffer('out', 'http', 'memory', 7).replace('buffer_size_events', 'buffer_events');
    expect(readUndelivered(old)).to.deep.equal([{ componentId: 'out', lostEvents: 7, keptEvents: 0 }]);
  });

  it('reports what an engine that ran out of time held', async () => {
    const { clock, drain: one } = drain();
    await begun(one);
    expect(one.progress).to.deep.equal({ version: 3, secondsLeft: 25, undeliveredEvents: 5_006 });
    clock.advance(25_000);
    const { report, lines } = one.end(false, AT);
    expect(report).to.deep.include({ version: 3, lostEvents: 5_000, keptEvents: 6 });
    expect(lines.join('\n')).to.match(
      /up to 5000 events were lost: version 3 .* within 25 s.*"out" 5000[\s\S]*6 events of version 3 are kept in a disk buffer.*"disk" 6/,
    );
  });

  it('reports nothing of an engine that ended in time, whatever it held when it was told to', async () => {
    const { clock, drain: one } = drain();
    await begun(one);
    clock.advance(3_000);
    expect(one.end(false, AT)).to.deep.equal({ report: null, lines: [] });
  });

  it('reports what was held by an engine that was killed before its time', async () => {
    const { clock, drain: one } = drain();
    await begun(one);
    clock.advance(3_000);
    expect(one.end(true, AT).report?.lostEvents).to.equal(5_000);
  });

  it('says so where the metrics did not answer', async () => {
    answer = null;
    const { clock, drain: one } = drain();
    await begun(one);
    clock.advance(30_000);
    const { report, lines } = one.end(true, AT);
    expect(report).to.equal(null);
    expect(lines[0]).to.match(/not known how many events were lost/);
  });

  it('gives an engine the seconds that are set, and 5 more before it is killed', () => {
    const pipeline = { configYaml: '', logLevel: 'info', secrets: {} };
    const limitOf = (drainSeconds?: number) =>
      engineEnvironment(drainSeconds === undefined ? pipeline : { ...pipeline, drainSeconds }, {}, '/c').env
        .VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS;
    expect([limitOf(), limitOf(1), limitOf(600)]).to.deep.equal(['25', '1', '600']);
    expect([killAfterMs({}), killAfterMs({ drainSeconds: 600 })]).to.deep.equal([30_000, 605_000]);
    for (const bad of [0, -1, 601, Number.NaN]) expect(drainSecondsOf({ drainSeconds: bad })).to.equal(25);
  });
});
