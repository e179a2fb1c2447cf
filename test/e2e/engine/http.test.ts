// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the engine's placeholders look like these
import { once } from 'node:events';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { until } from '../../support/harness/until.ts';
import { Receiver } from '../../support/servers/receiver.ts';
import { Bench, engineBinary, freePort, type RunningEngine } from './support.ts';

const SECRETS = {
  VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION: 'true',
  SVC_SECRET_IN: 'open sesame',
  SVC_SECRET_OUT: 'tok-hunter2',
};
const GOOD = { authorization: `Basic ${Buffer.from('app:open sesame').toString('base64')}` };

describe('the engine between HTTP clients and an HTTP receiver', function () {
  this.timeout(60_000);
  let bench: Bench;
  let receiver: Receiver;
  before(engineBinary);
  beforeEach(async () => {
    bench = new Bench();
    receiver = await Receiver.start();
  });
  afterEach(async () => {
    await bench.dispose();
    await receiver.close();
  });

  /** A pipeline from requests to requests; `transforms` leads from `in` to `last`. */
  const pipeline = (port: number, transforms = '', sink = '') =>
    bench.file(
      'p.yaml',
      `
sources:
  in:
    type: http_server
    address: 127.0.0.1:${port}
    path: /logs
    encoding: ndjson
    auth: {strategy: basic, username: app, password: "\${SVC_SECRET_IN}"}
transforms:
  first: {type: filter, inputs: [in], condition: 'true'}
${transforms || "  last: {type: filter, inputs: [first], condition: 'true'}"}
sinks:
  out:
    type: http
    inputs: [last]
    uri: ${receiver.url}
    encoding: {codec: json}
    auth: {strategy: bearer, token: "\${SVC_SECRET_OUT}"}
    batch: {max_events: 50, timeout_secs: 0.05}
    ${sink}
`,
    );
  /** Starts the engine and waits until its source at `port` answers. */
  const start = async (
    port: number,
    config: string,
    more: string[] = [],
    env: Record<string, string> = {},
  ) => {
    const engine = await bench.start(['-c', config, ...more], { ...SECRETS, ...env });
    const ping = async () => (await fetch(`http://127.0.0.1:${port}/ping`)).ok;
    await until(() => ping().catch(() => false), { what: () => `the source answers: ${engine.stderr}` });
    return engine;
  };
  const post = (port: number, events: object[], headers: Record<string, string> = GOOD) =>
    fetch(`http://127.0.0.1:${port}/logs`, {
      method: 'POST',
      headers,
      body: events.map((event) => JSON.stringify(event)).join('\n'),
    });
  const stop = async (engine: RunningEngine) => {
    engine.child.kill('SIGTERM');
    return await engine.finished;
  };
  const numbers = () => receiver.accepted.map(({ n }) => Number(n)).sort((a, b) => a - b);
  const numbered = (from: number, count: number) =>
    Array.from({ length: count }, (_unused, index) => ({ n: from + index }));

  it('takes, thins out, changes and delivers events, with secrets from its environment', async () => {
    const port = await freePort();
    const metricsPort = await freePort();
    const sidecar = bench.file(
      'p.yaml.svc-metrics.yaml',
      `
sources: {svc_internal_metrics: {type: internal_metrics, scrape_interval_secs: 0.1}}
sinks: {svc_metrics_exporter: {type: prometheus_exporter, inputs: [svc_internal_metrics], address: "127.0.0.1:${metricsPort}"}}
`,
    );
    const config = pipeline(
      port,
      `
  unique: {type: dedupe, inputs: [first], fields: {match: [n]}}
  double: {type: remap, inputs: [unique], source: '.m = int!(.n) * 2'}
  last: {type: sample, inputs: [double], rate: 10}`,
      'compression: gzip',
    );
    const engine = await start(port, config, ['-c', sidecar]);
    const events = numbered(0, 100);
    expect((await post(port, events)).status).to.equal(200);
    expect((await post(port, events)).status).to.equal(200);
    await until(() => receiver.accepted.length === 10, { what: 'the sample arrives' });
    expect(numbers()).to.deep.equal([0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
    // They may come in two requests, side by side.
    expect(receiver.accepted.find(({ n }) => n === 10)).to.deep.include({
      n: 10,
      m: 20,
      sample_rate: '10',
      path: '/logs',
      source_type: 'http_server',
    });
    expect(receiver.requests[0]?.headers).to.include({
      authorization: 'Bearer tok-hunter2',
      'content-encoding': 'gzip',
      'content-type': 'application/json',
    });
    expect((await post(port, events, {})).status).to.equal(401);

    const wanted = [
      'component_received_bytes_total{component_id="in",component_kind="source",component_type="http_server",host="h",http_path="/logs",protocol="http"} ',
      'component_received_events_total{component_id="in",component_kind="source",component_type="http_server",host="h",http_path="/logs",protocol="http"} 200',
      'component_errors_total{component_id="in",component_kind="source",component_type="http_server",error_type="request_failed",host="h",stage="receiving"} 1',
      'component_discarded_events_total{component_id="unique",component_kind="transform",component_type="dedupe",host="h",intentional="true"} 100',
      'component_discarded_events_total{component_id="last",component_kind="transform",component_type="sample",host="h",intentional="true"} 90',
      'component_sent_events_total{component_id="out",component_kind="sink",component_type="http",host="h"} 10',
      'component_sent_bytes_total{component_id="out",component_kind="sink",component_type="http",host="h",protocol="http"} ',
    ];
    let missing: string[] = [];
    await until(
      async () => {
        const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
        const text = (await response.text()).replaceAll(/host="[^"]*"/g, 'host="h"');
        missing = wanted.filter((line) => !text.includes(`\nvector_${line}`));
        return missing.length === 0;
      },
      { what: () => `the metrics have ${missing.join('\n')}` },
    );
    const { code, stderr, stdout } = await stop(engine);
    expect(code).to.equal(0);
    expect(`${stderr}${stdout}`).not.to.match(/sesame|hunter2/);
  });

  it('keeps everything while the receiver fails, and delivers it once when it is back', async () => {
    const port = await freePort();
    const engine = await start(port, pipeline(port, '', 'buffer: {max_events: 100}'));
    receiver.status = 503;
    const answers = Array.from({ length: 40 }, (_unused, round) => post(port, numbered(round * 25, 25)));
    await until(() => receiver.requests.length >= 2, { what: 'the second try', timeoutMs: 10_000 });
    receiver.status = 200;
    for (const answer of await Promise.all(answers)) expect(answer.status).to.equal(200);
    await until(() => receiver.accepted.length >= 1000, { what: 'all events arrive', timeoutMs: 20_000 });
    expect(numbers()).to.deep.equal(numbered(0, 1000).map(({ n }) => n));
    const { code, stderr } = await stop(engine);
    expect(code).to.equal(0);
    expect(stderr).to.include('Retrying after response. reason=Http Status: 503');
    expect(stderr).not.to.include('Events dropped');
    expect(receiver.accepted).to.have.length(1000);
  });

  it('waits for a receiver that is not there yet, and drains on SIGTERM', async () => {
    const [port, target] = [await freePort(), receiver.port];
    const config = pipeline(port);
    await receiver.close();
    const engine = await start(port, config);
    expect((await post(port, numbered(0, 120))).status).to.equal(200);
    await until(
      () =>
        engine.stderr.includes(
          'Retrying after error. error=Failed to make HTTP(S) request: error trying to connect: tcp connect error: Connection refused',
        ),
      {
        what: 'a try has failed',
      },
    );
    engine.child.kill('SIGTERM');
    await until(() => engine.stderr.includes('is stopping'), { what: 'the engine is stopping' });
    receiver = await Receiver.start(target);
    const { code, stderr } = await engine.finished;
    expect(code).to.equal(0);
    expect(stderr).not.to.match(/Events dropped|Killing components/);
    expect(numbers()).to.deep.equal(numbered(0, 120).map(({ n }) => n));
  });

  it('says which components had not ended when the time to drain is over', async () => {
    const port = await freePort();
    receiver.status = 503;
    const engine = await start(port, pipeline(port), [], { VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS: '0.5' });
    expect((await post(port, numbered(0, 30))).status).to.equal(200);
    await until(() => receiver.requests.length > 0, { what: 'the first try' });
    const { code, stderr } = await stop(engine);
    expect(code).to.equal(0);
    expect(stderr).to.match(/Failed to gracefully shut down in time\. Killing components\. components="out"/);
    expect(stderr).not.to.include('Events dropped');
  });

  it('answers requests that are too large, packed or not, and goes on', async () => {
    const port = await freePort();
    const engine = await start(port, pipeline(port));
    const huge = '{}\n'.repeat(4_000_000);
    const send = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
      fetch(`http://127.0.0.1:${port}/logs`, { method: 'POST', body, headers: { ...GOOD, ...headers } });
    expect((await send(huge)).status).to.equal(413);
    expect((await send(gzipSync(huge), { 'content-encoding': 'gzip' })).status).to.equal(413);
    expect((await send(gzipSync('{"n":1}'), { 'content-encoding': 'gzip' })).status).to.equal(200);
    await until(() => numbers().length === 1, { what: 'the event arrives' });
    expect((await stop(engine)).code).to.equal(0);
  });

  it('ends with 0 when the port of a source is taken, and says which component wanted it', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const { code, stderr } = await bench.run(['-c', pipeline(port)], SECRETS);
    server.close();
    expect(code).to.equal(0);
    expect(stderr).to.include('An error occurred: TcpBind { source: Os { code: 98, kind: AddrInUse,');
    expect(stderr).to.include(`Building HTTP server. address=127.0.0.1:${port}`);
    expect(stderr).to.include(
      "An error occurred that Vector couldn't handle: the task completed with an error.",
    );
  });

  it('validates without secrets, ports or receivers, and asks the receiver when told to', async () => {
    const port = await freePort();
    const placeholders = { ...SECRETS, SVC_SECRET_IN: 'placeholder', SVC_SECRET_OUT: 'placeholder' };
    const config = pipeline(port, '', `healthcheck: {uri: "${receiver.url}"}`);
    const data = bench.file('data.yaml', `data_dir: ${bench.folder}\n`);
    expect((await bench.run(['validate', '--no-environment', config], placeholders)).code).to.equal(0);
    expect(receiver.requests).to.have.length(0);
    expect((await bench.run(['validate', config, data], placeholders)).stdout).to.include(
      '√ Health check "out"',
    );
    receiver.status = 500;
    const unhealthy = await bench.run(['validate', config, data], placeholders);
    expect(unhealthy.code).to.equal(78);
    expect(unhealthy.stdout).to.include('x Health check for "out" failed: Unexpected status: 500');

    const required = bench.file('r.yaml', 'healthchecks: {require_healthy: true}');
    const { code, stderr } = await bench.run(['-c', config, '-c', required], SECRETS);
    expect(code).to.equal(78);
    expect(stderr).to.include('Sinks unhealthy.');
  });
});

describe('the engine reading its standard input', function () {
  this.timeout(30_000);
  let bench: Bench;
  before(engineBinary);
  beforeEach(() => {
    bench = new Bench();
  });
  afterEach(() => bench.dispose());

  const config = (sources = '') =>
    bench.file(
      'p.yaml',
      `
sources: {in: {type: stdin, decoding: {codec: json}}${sources}}
sinks: {out: {type: console, inputs: [in], encoding: {codec: json, only_fields: [n, source_type]}}}
`,
    );

  it('ends with it', async () => {
    const engine = await bench.start(['-c', config()], {}, 'pipe');
    engine.child.stdin?.end('{"n":1}\n{"n":2}');
    const { code, stdout } = await engine.finished;
    expect(code).to.equal(0);
    expect(stdout).to.equal('{"n":1,"source_type":"stdin"}\n{"n":2,"source_type":"stdin"}\n');
  });

  it('goes on without it while other sources live', async () => {
    const other = config(', other: {type: demo_logs, format: json, interval: 3600}');
    const engine = await bench.start(['-c', other], {}, 'pipe');
    engine.child.stdin?.end('{"n":1}\n');
    await until(() => engine.stdout.includes('"n":1'), { what: 'the line is written' });
    expect(engine.child.exitCode).to.equal(null);
    engine.child.kill('SIGTERM');
    expect((await engine.finished).code).to.equal(0);
  });

  it('stops on SIGTERM though its input stays open', async () => {
    const engine = await bench.start(['-c', config()], {}, 'pipe');
    engine.child.stdin?.write('{"n":1}\n');
    await until(() => engine.stdout.includes('"n":1'), { what: 'the line is written' });
    engine.child.kill('SIGTERM');
    const { code, stderr } = await engine.finished;
    expect(code).to.equal(0);
    expect(stderr).to.include('Headgate engine has stopped.');
  });
});
