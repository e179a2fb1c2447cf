import { expect } from 'chai';
import fc from 'fast-check';
import { readConfig } from '../../../agent/config.ts';
import { createLogger } from '../../../agent/log.ts';
import { PollInterval } from '../../../agent/poll-interval.ts';
import { EngineComponents } from '../../../agent/report/engine-inventory.ts';
import { EngineCounters } from '../../../agent/report/engine-metrics.ts';
import { cpu, disks, memory, network, readHostMetrics } from '../../../agent/report/host-metrics.ts';
import { LineSplitter } from '../../../agent/report/line-splitter.ts';
import { LogRing } from '../../../agent/report/log-ring.ts';
import { NodeDescription } from '../../../agent/report/node-description.ts';
import { redactor } from '../../../agent/report/redact.ts';
import { SelfMetrics } from '../../../agent/report/self-metrics.ts';
import { systemClock } from '../../../reconcilers/loops/clock.ts';
import { HOST_METRIC_NAMES } from '../../../schemas/agent/protocol.ts';

const readEngineMetrics = (text: string) => new EngineCounters().read(text);

const series = (name: string, id: string, kind: string, value: number, more = '') =>
  `vector_${name}{component_id="${id}",component_kind="${kind}",component_type="x",host="n"${more}} ${value} 1760000000000`;

describe('metrics of an engine', () => {
  it('sums the series of each component, matches names exactly and leaves svc_ out', () => {
    const text = [
      '# HELP vector_component_received_events_total component_received_events_total',
      '# TYPE vector_component_received_events_total counter',
      series('component_received_events_total', 'in', 'source', 40, ',file="a"'),
      series('component_received_events_total', 'in', 'source', 2, ',file="b"'),
      series('component_received_bytes_total', 'in', 'source', 900),
      series('component_received_event_bytes_total', 'in', 'source', 5_000),
      series('component_received_events_count', 'in', 'source', 7),
      series('component_sent_events_total', 'in', 'source', 42, ',output="_default"'),
      series('component_sent_events_total', 'r', 'transform', 30, ',output="a"'),
      series('component_sent_events_total', 'r', 'transform', 9, ',output="_unmatched"'),
      series('component_discarded_events_total', 'r', 'transform', 3, ',intentional="true"'),
      series('utilization', 'r', 'transform', 0.25),
      series('utilization', 'out', 'sink', 0.5),
      series('component_sent_events_total', 'out', 'sink', 38),
      series('component_sent_event_bytes_total', 'out', 'sink', 700),
      series('component_errors_total', 'out', 'sink', 1, ',error_type="x"'),
      series('component_received_events_total', 'svc_internal_metrics', 'source', 9_999),
      series('component_sent_events_total', 'svc_metrics_exporter', 'sink', 9_999),
      'vector_uptime_seconds{host="n"} 17',
      'host_cpu_seconds_total{cpu="0"} 5',
    ].join('\n');
    const metrics = readEngineMetrics(text);
    expect(metrics).to.include({ eventsIn: 42, eventsOut: 38, bytesIn: 900, bytesOut: 700, errorsTotal: 1 });
    expect(metrics).to.include({ eventsDiscarded: 0, utilization: 0.5 });
    expect(metrics?.components.map(({ componentId, sentEvents }) => [componentId, sentEvents])).to.deep.equal(
      [
        ['in', 42],
        ['r', 39],
        ['out', 38],
      ],
    );
  });

  it('reads label values with quotes, commas and braces, and ignores what is no number', () => {
    const text = [
      String.raw`vector_component_sent_events_total{x="a,component_id=\"no\"}",component_id="o{u},t",component_kind="sink"} 5`,
      series('component_sent_events_total', 'nan', 'sink', Number.NaN),
      'vector_component_sent_events_total 7',
      'vector_component_sent_events_total{component_id="half',
    ].join('\n');
    expect(readEngineMetrics(text)?.components.map((metric) => metric.componentId)).to.deep.equal(['o{u},t']);
  });

  it('never throws and never gives a negative or unsafe count', () => {
    const line = fc
      .tuple(fc.constantFrom('in', 'out'), fc.double(), fc.string())
      .map(([id, value, tail]) => series('component_sent_events_total', id, 'sink', value) + tail);
    fc.assert(
      fc.property(fc.array(fc.oneof(line, fc.string())), (lines) => {
        const { eventsOut = 0 } = readEngineMetrics(lines.join('\n')) ?? {};
        return eventsOut >= 0 && Number.isFinite(eventsOut);
      }),
    );
  });
});

describe('metrics of the host', () => {
  it('come from the kernel’s tables, in bytes and seconds', () => {
    expect(memory('MemTotal:  1000 kB\nMemFree: 100 kB\nMemAvailable:  400 kB\n')).to.deep.equal({
      memoryTotalBytes: 1_024_000,
      memoryFreeBytes: 409_600,
      memoryUsedBytes: 614_400,
    });
    expect(cpu('cpu  100 0 100 700 100 0 0 0 50 0\ncpu0 1 1 1\n')).to.deep.equal({
      cpuSecondsTotal: 10,
      cpuSecondsIdle: 8,
    });
    const table = ' 8 0 sda 5 0 10 0 6 0 20 0 0\n 8 1 sda1 5 0 10 0 6 0 20 0 0\n';
    expect(disks(table, new Set(['sda']))).to.deep.equal({ diskReadBytes: 5_120, diskWrittenBytes: 10_240 });
    const dev =
      'h\nh\n    lo: 9 0 0 0 0 0 0 0 9 0\n  eth0: 5 0 0 0 0 0 0 0 7 0\nveth1: 9 0 0 0 0 0 0 0 9 0\n';
    expect(network(dev)).to.deep.equal({ netRxBytes: 5, netTxBytes: 7 });
  });

  it('have only names that the protocol knows', () => {
    expect(HOST_METRIC_NAMES).to.include.members(Object.keys(readHostMetrics('/')));
  });
});

describe('what a heartbeat says of the node', () => {
  it('names the engine’s version only once it is known, so that the controller keeps the one it has', () => {
    const config = readConfig({ SVC_URL: 'http://127.0.0.1:1', SVC_DATA_DIR: '/tmp' });
    const log = createLogger('error', () => {});
    let version = '';
    const node = new NodeDescription({
      ...{ config, mode: 'STANDALONE', metrics: new SelfMetrics(), updateError: () => null },
      interval: new PollInterval(config.pollIntervalMs, log),
      components: new EngineComponents({
        ...{ engineBin: 'none', env: {}, clock: systemClock, log, onVersion: () => {} },
      }),
      engineVersion: () => version,
    });
    expect(JSON.parse(JSON.stringify(node.read()))).not.to.have.property('engineVersion');
    version = 'vector 0.57.0 (x)';
    expect(node.read().engineVersion).to.equal(version);
  });
});

describe('lines of an engine', () => {
  const split = (chunks: Uint8Array[]) => {
    const lines: string[] = [];
    const splitter = new LineSplitter((line) => lines.push(line));
    for (const chunk of chunks) splitter.push(chunk);
    splitter.end();
    return lines;
  };

  it('are the same however the bytes are cut', () => {
    const text = fc.array(fc.string({ unit: 'grapheme' }).map((line) => line.replace(/[\r\n]/g, '')));
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 9 }), (lines, size) => {
        const all = Buffer.from(lines.join('\n'));
        const chunks = Array.from({ length: Math.ceil(all.length / size) }, (_, n) =>
          all.subarray(n * size, (n + 1) * size),
        );
        expect(split(chunks)).to.deep.equal(lines.filter((line) => line !== ''));
      }),
    );
  });

  it('are decoded only as far as they are kept, and a long one is cut', () => {
    const flood = Buffer.from('x\n'.repeat(5_000));
    expect(split([flood]).length).to.be.within(500, 502);
    expect(split([Buffer.alloc(10_000_000, 121)])[0]).to.have.length(8192 * 5);
  });

  it('lose secret values in every form in which they may appear', () => {
    const secret = 'p"ss w\\rd+&=é';
    const redact = redactor([secret, 'abc', '']);
    for (const form of [
      secret,
      JSON.stringify(secret),
      encodeURIComponent(secret),
      Buffer.from(secret).toString('base64'),
    ]) {
      expect(redact(`before ${form} after abc`)).to.match(/^before "?\[redacted\]"? after abc$/);
    }
  });

  it('lose a secret as YAML, VRL and the engine escape it, and as each of its lines', () => {
    const secret = 'first "line" of it\nsecond \u001b line\r\n}';
    const redact = redactor([secret]);
    for (const form of [
      String.raw`first \"line\" of it\nsecond \u001b line\r\n}`,
      String.raw`first \"line\" of it\nsecond \u{1b} line\r\n}`,
      'first "line" of it',
      String.raw`first \"line\" of it`,
      'second \u001b line',
    ])
      expect(redact(`string "${form}", expected`), form).to.equal('string "[redacted]", expected');
  });

  for (const [secret, form] of [
    ['0123', '123'],
    ['1e5', '100000'],
    ['1e5', '100000.0'],
    ['+4711', '4711'],
    ['0x1F40', '8000'],
    ['12345678901234567890', '12345678901234567000'],
    ['1_000_000', '1000000'],
  ] as const)
    it(`lose the secret ${secret} as the number ${form}, which is how YAML reads it`, () => {
      const redact = redactor([secret]);
      expect(redact(`invalid type: integer \`${form}\`, expected a string`)).to.match(
        /^invalid type: integer `\[redacted\](?:\.0)?`, expected a string$/,
      );
    });

  it('keep numbers that only hold one of a secret', () => {
    expect(redactor(['0123'])('at 1234 and 5123, 1.123 s')).to.equal('at 1234 and 5123, 1.123 s');
  });

  it('lose the longer of two secrets that overlap, and half a secret at the end of a line that was cut', () => {
    const redact = redactor(['secret', 'secret-longer']);
    expect(redact('x secret-longer y')).to.equal('x [redacted] y');
    expect(redact(`${'a'.repeat(100)}secret-lon`, true)).not.to.contain('-lon');
    expect(redact('z'.repeat(9_000))).to.have.length(8_192);
    expect(redact('a\0b')).to.equal('a\uFFFDb');
  });

  it('are kept up to 500, and each reader gets each line once', () => {
    const ring = new LogRing();
    for (let count = 0; count < 700; count += 1) ring.push(`line ${count}`);
    const first = ring.since(0, 1e6);
    expect(first.lines).to.have.length(500);
    expect(first.lines[0]).to.equal('line 200');
    ring.push('new');
    expect(ring.since(first.next, 1e6).lines).to.deep.equal(['new']);
    const part = ring.since(0, 20);
    expect(part.lines).to.deep.equal(['line 201', 'line 202']);
    expect(ring.since(part.next, 8).lines).to.deep.equal(['line 203']);
  });
});

describe('metrics of the agent itself', () => {
  it('have the names and types of the protocol', () => {
    const metrics = new SelfMetrics();
    metrics.pollErrors = 3;
    metrics.pushConnected = () => true;
    const text = metrics.render();
    expect(text).to.contain('# TYPE svc_agent_poll_errors_total counter\nsvc_agent_poll_errors_total 3\n');
    expect([...text.matchAll(/^(svc_agent_\w+) /gm)].map((found) => found[1])).to.deep.equal([
      'svc_agent_poll_errors_total',
      'svc_agent_poll_duration_seconds',
      'svc_agent_push_reconnects_total',
      'svc_agent_push_connected',
      'svc_agent_heartbeat_errors_total',
      'svc_agent_heartbeat_duration_seconds',
      'svc_agent_pipelines_running',
      'svc_agent_uptime_seconds',
    ]);
  });
});
