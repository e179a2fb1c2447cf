import { expect } from 'chai';
import fc from 'fast-check';
import { EngineCounters } from '../../../agent/report/engine-metrics.ts';

const AT = 1_767_225_629_996;
const line = (name: string, labels: string, value: number) => `vector_${name}{${labels}} ${value} ${AT}`;
const of = (id: string, kind: string, type: string) =>
  `component_id="${id}",component_kind="${kind}",component_type="${type}",`;
const STRICT = of('strict', 'transform', 'remap');
const WEB = of('web', 'source', 'http_server');

/** Series of a scrape of Vector 0.57.0, shortened. */
const SCRAPE = [
  '# HELP vector_component_received_events_total component_received_events_total',
  '# TYPE vector_component_received_events_total counter',
  line('component_received_events_total', `${of('in', 'source', 'demo_logs')}host="node-1"`, 300),
  line('component_received_events_total', `${WEB}host="node-1",http_path="/",protocol="http"`, 25),
  line('component_received_events_total', `${STRICT}host="node-1"`, 238),
  line(
    'component_received_events_total',
    `${of('svc_internal', 'source', 'internal_metrics')}host="n"`,
    7_409,
  ),
  line('component_received_events_count', `${STRICT}host="node-1"`, 17),
  line(
    'component_received_bytes_total',
    `${of('in', 'source', 'demo_logs')}host="node-1",protocol="none"`,
    0,
  ),
  line('component_received_bytes_total', `${WEB}host="node-1",http_path="/",protocol="http"`, 675),
  line('component_received_event_bytes_total', `${of('in', 'source', 'demo_logs')}host="node-1"`, 78_810),
  line('component_received_event_bytes_total', `${WEB}host="node-1",http_path="/",protocol="http"`, 1_775),
  line(
    'component_errors_total',
    `${STRICT}error_type="conversion_failed",host="node-1",stage="processing"`,
    196,
  ),
  line('component_discarded_events_total', `${STRICT}host="node-1",intentional="false"`, 196),
  line('component_discarded_events_total', `${STRICT}host="node-1",intentional="true"`, 27),
  line(
    'component_errors_total',
    `${of('api', 'sink', 'http')}error_type="request_failed",stage="sending"`,
    16,
  ),
  line('component_discarded_events_total', `${of('api', 'sink', 'http')}intentional="false"`, 47),
  line('component_latency_mean_seconds', `${STRICT}host="node-1"`, 0.000995699049670301),
  line('utilization', `${STRICT}host="node-1"`, 0.0123),
  '',
].join('\n');

describe('counters of an engine over its life', () => {
  it('are those of a real scrape: bytes of events where the wire has none, each failure once', () => {
    const metrics = new EngineCounters().read(SCRAPE);
    expect(metrics).to.include({ eventsIn: 325, bytesIn: 78_810 + 675 });
    // 196 lost by errors, and the 47 of 16 failed requests.
    expect((metrics?.errorsTotal ?? 0) + (metrics?.eventsDiscarded ?? 0)).to.equal(196 + 47);
    expect(metrics?.components.find(({ componentId }) => componentId === 'strict')).to.include({
      ...{ errorsTotal: 196, discardedEvents: 196, filteredEvents: 27 },
      ...{ latencyMeanSeconds: 0.000995699049670301, utilization: 0.0123 },
    });
    expect(metrics?.components.some(({ componentId }) => componentId.startsWith('svc_'))).to.equal(false);
  });

  const bufferLine = (name: string, type: string, value: number, stage = 0) =>
    line(`buffer_${name}`, `buffer_type="${type}",${of('api', 'sink', 'http')}stage="${stage}"`, value);
  const sent = line('component_sent_events_total', of('api', 'sink', 'http'), 7);
  const bufferOf = (...lines: string[]) => {
    const found = new EngineCounters().read([...lines, sent, ''].join('\n'))?.components[0];
    return { events: found?.bufferEvents, fill: found?.bufferFill };
  };

  it('come with how full the buffer of a sink is: by bytes on disk, by events in memory', () => {
    expect(
      bufferOf(
        bufferLine('size_bytes', 'disk', 64_000),
        bufferLine('size_events', 'disk', 300),
        bufferLine('max_size_bytes', 'disk', 256_000),
      ),
    ).to.deep.equal({ events: 300, fill: 0.25 });
    expect(
      bufferOf(bufferLine('size_events', 'memory', 100), bufferLine('max_size_events', 'memory', 500)),
    ).to.deep.equal({
      ...{ events: 100, fill: 0.2 },
    });
  });

  it('know the names that engines up to 0.52 give to the sizes of buffers, and take them once where both are there', () => {
    const old = [
      bufferLine('byte_size', 'disk', 64_000),
      bufferLine('events', 'disk', 300),
      bufferLine('max_byte_size', 'disk', 128_000),
    ];
    expect(bufferOf(...old)).to.deep.equal({ events: 300, fill: 0.5 });
    expect(bufferOf(...old, bufferLine('size_events', 'disk', 300))).to.deep.equal({
      events: 300,
      fill: 0.5,
    });
  });

  it('tell of no buffer where the engine does not, and of no fill without a limit', () => {
    expect(bufferOf()).to.deep.equal({ events: undefined, fill: undefined });
    expect(bufferOf(bufferLine('size_events', 'memory', 3))).to.deep.equal({ events: 3, fill: undefined });
    const source = line('buffer_size_events', of('in', 'source', 'demo_logs'), 3);
    const made = line('component_sent_events_total', of('in', 'source', 'demo_logs'), 7);
    expect(new EngineCounters().read(`${source}\n${made}\n`)?.components[0]).not.to.have.property(
      'bufferEvents',
    );
  });

  it('are not those of an exporter that is empty', () => {
    const counters = new EngineCounters();
    expect(counters.read('')).to.equal(null);
    expect(counters.read('# HELP host_uptime uptime\nhost_uptime{host="n"} 5 1\n')).to.equal(null);
  });

  it('do not jump where an empty answer stands between two of the same series', () => {
    const counters = new EngineCounters();
    counters.read(SCRAPE);
    counters.read('');
    expect(counters.read(SCRAPE)).to.include({ eventsIn: 325 });
  });

  it('keep what an expired series had, and add what it counts when it comes back, even more than before', () => {
    const path = (name: string, value: number) =>
      line('component_received_events_total', `${WEB}http_path="${name}"`, value);
    const counters = new EngineCounters();
    const read = (...lines: string[]) => counters.read(lines.join('\n'))?.eventsIn;
    expect(read(path('/a', 10), path('/b', 5))).to.equal(15);
    expect(read(path('/b', 6))).to.equal(16);
    expect(read(path('/a', 12), path('/b', 6))).to.equal(28);
    expect(read(path('/a', 3), path('/b', 6))).to.equal(31);
  });

  it('are those of a plain model, whatever series expire, begin again and grow', () => {
    const steps = fc.array(
      fc.array(fc.record({ alive: fc.boolean(), grows: fc.nat(50), expires: fc.boolean() }), {
        minLength: 4,
        maxLength: 4,
      }),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(steps, (scrapes) => {
        const counters = new EngineCounters();
        const values: (number | undefined)[] = [undefined, undefined, undefined, undefined];
        let total = 0;
        for (const scrape of scrapes) {
          scrape.forEach(({ alive, grows, expires }, at) => {
            if (values[at] !== undefined && expires) values[at] = undefined;
            else if (alive || values[at] !== undefined) {
              values[at] = (values[at] ?? 0) + grows;
              total += grows;
            }
          });
          const text = [
            line('component_received_events_total', `${STRICT}host="n"`, 1),
            ...values.flatMap((value, at) =>
              value === undefined
                ? []
                : [line('component_received_events_total', `${WEB}http_path="/,\\"${at}}"`, value)],
            ),
          ];
          expect(counters.read(text.join('\n'))?.eventsIn).to.equal(total);
        }
      }),
    );
  });
});
