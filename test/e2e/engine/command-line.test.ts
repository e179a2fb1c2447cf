import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { until } from '../../support/harness/until.ts';
import { Bench, engineBinary, freePort } from './support.ts';

const PIPELINE = `
sources: {in: {type: demo_logs, format: json, interval: 0.05}}
sinks: {out: {type: blackhole, inputs: [in]}}
`;

describe("the engine's command line", function () {
  this.timeout(30_000);
  let bench: Bench;
  before(engineBinary);
  beforeEach(() => {
    bench = new Bench();
  });
  afterEach(() => bench.dispose());

  const sidecar = (apiPort: number, metricsPort: number) =>
    bench.file(
      'p.yaml.svc-metrics.yaml',
      `
data_dir: ${bench.folder}
api: {enabled: true, address: "127.0.0.1:${apiPort}"}
sources:
  svc_internal_metrics: {type: internal_metrics}
  svc_host_metrics: {type: host_metrics, collectors: [cpu, memory, load, disk, filesystem, network]}
sinks:
  svc_metrics_exporter: {type: prometheus_exporter, inputs: [svc_internal_metrics, svc_host_metrics], address: "127.0.0.1:${metricsPort}"}
`,
    );

  it('prints its version in one line', async () => {
    const { code, stdout } = await bench.run(['--version']);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^headgate-engine \d+\.\d+\.\d+ \(\S+\)\n$/);
  });

  it('ends with 2 for a bad flag and says which', async () => {
    const { code, stderr } = await bench.run(['--colour']);
    expect(code).to.equal(2);
    expect(stderr).to.match(/^error: unexpected argument '--colour' found\n/);
  });

  it('validates a pipeline and its sidecar as a pair', async () => {
    const pair = [bench.file('p.yaml', PIPELINE), sidecar(1, 2)];
    const { code, stdout } = await bench.run(['validate', '--no-environment', ...pair]);
    expect(stdout).to.equal(
      [
        `√ Loaded ["${pair[0]}", "${pair[1]}"]`,
        '√ Transforms configuration',
        '-'.repeat(`√ Loaded ["${pair[0]}", "${pair[1]}"]`.length),
        'Validated'.padStart(`√ Loaded ["${pair[0]}", "${pair[1]}"]`.length),
        '',
      ].join('\n'),
    );
    expect(code).to.equal(0);
  });

  it('reports why a configuration fails, and ends with 78', async () => {
    const path = bench.file('p.yaml', `${PIPELINE}data_dirs: x\n`);
    const { code, stdout } = await bench.run(['validate', path]);
    expect(code).to.equal(78);
    const title = `Failed to load ["${path}"]`;
    expect(stdout).to.include(`${title}\n${'-'.repeat(title.length)}\nx unknown field \`data_dirs\``);
  });

  it('compiles VRL with --no-environment too', async () => {
    const path = bench.file(
      'p.yaml',
      `${PIPELINE}transforms: {t: {type: remap, inputs: [in], source: ".a = parse_json(.message)"}}`,
    );
    const { code, stdout } = await bench.run(['validate', '--no-environment', path]);
    expect(code).to.equal(78);
    expect(stdout).to.include('~ Transform "t" has no consumers');
    expect(stdout).to.include('Transform errors\n----------------\nx Transform "t": \nerror[E103]: ');
    expect(stdout).to.include('┌─ :1:6');
  });

  it('looks at the data directory unless told not to', async () => {
    const path = bench.file(
      'p.yaml',
      `
data_dir: ${bench.path('none')}
sources: {in: {type: file, include: ["/tmp/x"]}}
sinks: {out: {type: blackhole, inputs: [in]}}
`,
    );
    const { code, stdout } = await bench.run(['validate', path]);
    expect(code).to.equal(78);
    expect(stdout).to.include(`x data_dir "${bench.path('none')}" does not exist`);
    expect((await bench.run(['validate', '--no-environment', path])).code).to.equal(0);
    expect((await bench.run(['-c', path])).code).to.equal(78);
  });

  it('fails on warnings only when they are denied', async () => {
    const path = bench.file(
      'p.yaml',
      PIPELINE.replace('sources: {', 'sources: {spare: {type: internal_metrics}, '),
    );
    expect((await bench.run(['validate', '--no-environment', path])).code).to.equal(0);
    expect((await bench.run(['validate', '--no-environment', '-d', path])).code).to.equal(78);
  });

  it('names the line of a syntax error and shows nothing of the text', async () => {
    const { code, stderr } = await bench.run([
      '-c',
      bench.file('p.yaml', 'sources:\n  in: {type: "hunter2\n'),
    ]);
    expect(code).to.equal(78);
    expect(stderr).to.match(/ at line \d+ column \d+/);
    expect(stderr).not.to.include('hunter2');
  });

  it('ends with 78 for a missing file', async () => {
    const { code, stderr } = await bench.run(['-c', bench.path('none.yaml')]);
    expect(code).to.equal(78);
    expect(stderr).to.include('Config file not found in path.');
  });

  it('serves health and metrics while it runs', async () => {
    const [apiPort, metricsPort] = [await freePort(), await freePort()];
    const engine = await bench.start([
      '-c',
      bench.file('p.yaml', PIPELINE),
      '-c',
      sidecar(apiPort, metricsPort),
    ]);
    await until(() => engine.stderr.includes('API server running.'), { what: 'the engine serves its API' });
    const health = await fetch(`http://127.0.0.1:${apiPort}/health`);
    expect(health.status).to.equal(200);
    expect(await health.json()).to.deep.equal({ ok: true });

    const labels = 'component_id="out",component_kind="sink",component_type="blackhole"';
    const names = [
      'vector_component_received_events_total{component_id="in"',
      'vector_component_received_bytes_total{component_id="in"',
      'vector_component_sent_bytes_total{component_id="out"',
      'vector_component_sent_events_total{component_id="svc_internal_metrics"',
      'vector_utilization{component_id="out"',
      'vector_uptime_seconds{host=',
      'vector_build_info{arch=',
      'host_cpu_seconds_total{collector="cpu",cpu="0"',
      'host_memory_total_bytes{collector="memory"',
      'host_load1{collector="load"',
      'host_filesystem_total_bytes{collector="filesystem"',
      'host_network_receive_bytes_total{collector="network"',
    ];
    await until(
      async () => {
        // The exporter starts after the API.
        const text = await fetch(`http://127.0.0.1:${metricsPort}/metrics`).then(
          (answer) => answer.text(),
          () => '',
        );
        const sent = `vector_component_sent_events_total{${labels},host="[^"]+"} [1-9]\\d* \\d{13}\n`;
        return new RegExp(sent).test(text) && names.every((name) => text.includes(`\n${name}`));
      },
      { what: 'every series, and events that the sink has sent' },
    );
    engine.child.kill('SIGINT');
    expect((await engine.finished).code).to.equal(0);
  });

  it('ends with 0 when a port is taken, and says which one', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const pipeline = bench.file('p.yaml', PIPELINE);
    try {
      const exporter = await bench.run(['-c', pipeline, '-c', sidecar(await freePort(), port)]);
      expect(exporter.code).to.equal(0);
      expect(exporter.stderr).to.match(
        /Failed to start Prometheus exporter: .*Address already in use \(os error 98\)\./,
      );
      expect(exporter.stderr).to.include(
        "An error occurred that Vector couldn't handle: the task completed with an error.",
      );

      const api = await bench.run(['-c', pipeline, '-c', sidecar(port, await freePort())]);
      expect(api.code).to.equal(0);
      expect(api.stderr).to.include(
        `An error occurred that Vector couldn't handle. error=Failed to bind gRPC API server to 127.0.0.1:${port}: Address already in use`,
      );
    } finally {
      server.close();
    }
  });

  it('lists its components as Vector does', async () => {
    const { code, stdout } = await bench.run(['list', '--format', 'json']);
    expect(code).to.equal(0);
    const lists = JSON.parse(stdout) as Record<string, string[]>;
    expect(lists).to.have.keys('sources', 'transforms', 'sinks', 'enrichment_tables');
    expect(lists.transforms).to.include('remap');
    expect((await bench.run(['list'])).stdout).to.match(/^Sources:\n- demo_logs\n[\s\S]*\n\nTransforms:\n- /);
    expect((await bench.run(['list', '--format', 'xml'])).code).to.equal(2);
  });

  it('takes its log level from ENGINE_LOG, and from VECTOR_LOG before that', async () => {
    const path = bench.file('p.yaml', PIPELINE.replace('interval: 0.05', 'count: 1'));
    expect((await bench.run(['-c', path], { ENGINE_LOG: 'error' })).stderr).to.equal('');
    expect((await bench.run(['-c', path], { ENGINE_LOG: 'error', VECTOR_LOG: 'info' })).stderr).not.to.equal(
      '',
    );
  });
});
