/** The cases that either engine must answer alike: Vector where `HEADGATE_ENGINE_BIN` names it, else the reference engine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { until } from '../../support/harness/until.ts';
import { type EngineCase, START_CASES, VALIDATE_CASES } from './cases.ts';
import { engineBinary, type Finished, freePort, RunningEngine } from './support.ts';

const binary = () => Promise.resolve(process.env.HEADGATE_ENGINE_BIN ?? engineBinary());

describe('an engine', function () {
  this.timeout(20_000);
  let folder: string;
  const children: ChildProcess[] = [];
  before(async function () {
    this.timeout(60_000);
    await binary();
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'engine-case-'));
  });
  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(folder, { recursive: true });
  });

  async function start({ args, env = {}, files = {} }: Pick<EngineCase, 'args' | 'env' | 'files'>) {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const child = spawn(await binary(), [...args], {
      cwd: folder,
      env: { PATH: '/usr/bin:/bin', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    return new RunningEngine(child);
  }

  const check = ({ code, stdout }: EngineCase, answer: Finished) => {
    expect(answer.code, answer.stdout + answer.stderr).to.equal(code);
    if (stdout !== undefined) expect(answer.stdout).to.equal(stdout);
  };
  for (const one of VALIDATE_CASES) {
    it(`validates: ${one.name}`, async () => {
      const answer = await (await start(one)).finished;
      check(one, answer);
      expectInOrder(answer.stdout, one.out);
      expectInOrder(answer.stderr, one.err);
    });
  }
  for (const one of START_CASES) {
    it(`starts: ${one.name}`, async () => {
      const answer = await (await start(one)).finished;
      check(one, answer);
      expectInOrder(answer.stdout, one.out);
      expectInOrder(answer.stderr, one.err);
    });
  }

  const exporter = (port: number, more = '') => `${more}
sources: {m: {type: internal_metrics, scrape_interval_secs: 0.1}, in: {type: demo_logs, format: json, interval: 0.05}}
sinks:
  exp: {type: prometheus_exporter, inputs: [m], address: "127.0.0.1:${port}"}
  out: {type: blackhole, inputs: [in]}
`;

  it('ends with 0 where a port is taken, after it has started', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    try {
      const inExporter = await (await start({ args: ['-c', 'a.yaml'], files: { 'a.yaml': exporter(port) } }))
        .finished;
      expect(inExporter.code).to.equal(0);
      expectInOrder(inExporter.stderr, [
        'has started.',
        /ERROR sink\{component_kind="sink" component_id=exp component_type=prometheus_exporter\}: \S+: Failed to start Prometheus exporter: TCP bind failed: Address already in use \(os error 98\)\./,
        "An error occurred that Vector couldn't handle: the task completed with an error.",
        'has stopped.',
      ]);
      const config = `api: {enabled: true, address: "127.0.0.1:${port}"}${exporter(await freePort())}`;
      const inApi = await (await start({ args: ['-c', 'b.yaml'], files: { 'b.yaml': config } })).finished;
      expect(inApi.code).to.equal(0);
      expectInOrder(inApi.stderr, [
        'has started.',
        `An error occurred that Vector couldn't handle. error=Failed to bind gRPC API server to 127.0.0.1:${port}: Address already in use (os error 98) internal_log_rate_limit=false`,
        'has stopped.',
      ]);
    } finally {
      taken.close();
    }
  });

  it('counts what waits for sinks, with the labels of buffers', async () => {
    const port = await freePort();
    await start({ args: ['-c', 'a.yaml'], files: { 'a.yaml': exporter(port) } });
    const labels =
      'buffer_id="out",buffer_type="memory",component_id="out",component_kind="sink",component_type="blackhole"';
    let text = '';
    await until(
      async () => {
        text = await fetch(`http://127.0.0.1:${port}/metrics`).then(
          (answer) => answer.text(),
          () => '',
        );
        return new RegExp(`buffer_sent_events_total\\{${labels},host="[^"]*",stage="0"\\} [1-9]`).test(text);
      },
      { what: 'the series of the buffer', timeoutMs: 15_000 },
    );
    for (const name of [
      'buffer_size_events',
      'buffer_size_bytes',
      'buffer_max_size_events',
      'buffer_received_events_total',
    ]) {
      expect(text).to.include(`\nvector_${name}{${labels}`);
    }
    expect(text)
      .to.include(`vector_buffer_max_size_events{${labels}`)
      .and.to.match(/buffer_max_size_events\{[^}]*"out"[^}]*\} 500 /);
    for (const name of [
      'component_errors_total',
      'component_discarded_events_total',
      'buffer_discarded_events_total',
    ]) {
      expect(text).not.to.include(name);
    }
  });

  it('says at the end of its time which components had not ended, and counts nothing', async () => {
    const config = `sources: {in: {type: demo_logs, format: json, interval: 0.05}}
sinks: {out: {type: http, inputs: [in], uri: "http://127.0.0.1:9/", encoding: {codec: json}, batch: {timeout_secs: 0.1}}}
`;
    const engine = await start({
      args: ['-c', 'a.yaml', '--graceful-shutdown-limit-secs', '1'],
      files: { 'a.yaml': config },
    });
    await until(() => engine.stderr.includes('Retrying after error.'), {
      what: 'a retry',
      timeoutMs: 15_000,
    });
    engine.child.kill('SIGTERM');
    const { code, stderr } = await engine.finished;
    expect(code).to.equal(0);
    expectInOrder(stderr, [
      'Signal received. signal="SIGTERM"',
      'is stopping.',
      /Shutting down\.\.\. Waiting on running components\. remaining_components=".*out.*" time_remaining="\d+ seconds left"/,
      /ERROR .*Failed to gracefully shut down in time\. Killing components\..* internal_log_rate_limit=false/,
      'has stopped.',
    ]);
    expect(stderr).to.include('components="out"');
    expect(stderr).not.to.include('Events dropped');
  });

  it('says more than one thing of a life in JSON as Vector does', async () => {
    const config = `${'sources: {in: {type: demo_logs, format: json, count: 1}}'}
sinks: {out: {type: http, inputs: [in], uri: "http://127.0.0.1:9/", encoding: {codec: json}, healthcheck: {enabled: true, uri: "http://127.0.0.1:9/h"}, request: {retry_attempts: 0}}}
`;
    const engine = await start({
      args: ['-c', 'a.yaml', '--log-format', 'json'],
      files: { 'a.yaml': config },
    });
    const { stdout } = await engine.finished;
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const unhealthy = lines.find(({ msg }) => msg === 'Healthcheck failed.');
    expect(unhealthy).to.include({
      level: 'ERROR',
      component_kind: 'sink',
      component_type: 'http',
      component_id: 'out',
    });
    expect(unhealthy).not.to.have.property('message');
    const dropped = lines.find(({ message }) => message === 'Events dropped');
    // Vector's own span is that of the request; the component is in the list.
    const [component] = (dropped?.spans ?? []) as unknown[];
    expect(component).to.deep.equal({
      component_id: 'out',
      component_kind: 'sink',
      component_type: 'http',
      name: 'sink',
    });
  });
});

/** Each part stands in the text, after the one before it. */
function expectInOrder(text: string, parts: EngineCase['out'] = []): void {
  let rest = text;
  for (const part of parts) {
    const at = typeof part === 'string' ? rest.indexOf(part) : rest.search(part);
    expect(at, `${part} in:\n${text}`).to.be.at.least(0);
    rest = rest.slice(at);
  }
}
