// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the engine's placeholders look like these
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { until } from '../../support/harness/until.ts';
import { Bench, engineBinary } from './support.ts';

describe('the engine moving events', function () {
  this.timeout(30_000);
  let bench: Bench;
  before(engineBinary);
  beforeEach(() => {
    bench = new Bench();
    mkdirSync(bench.path('data'));
  });
  afterEach(() => bench.dispose());

  const fileToFile = () =>
    bench.file(
      'p.yaml',
      `
data_dir: ${bench.path('data')}
sources:
  in: {type: file, include: ["${bench.path('*.log')}"], glob_minimum_cooldown_ms: 20}
transforms:
  parse:
    type: remap
    inputs: [in]
    drop_on_error: true
    source: |
      . = object!(parse_json!(.message))
      .level = upcase(string!(.level))
  errors: {type: filter, inputs: [parse], condition: '.level == "ERROR"'}
sinks:
  out:
    type: file
    inputs: [errors]
    path: "${bench.path('out')}/{{ app }}.json"
    encoding: {codec: json}
`,
    );
  const written = (app = 'web') => {
    const path = bench.path(`out/${app}.json`);
    return existsSync(path)
      ? readFileSync(path, 'utf8')
          .split('\n')
          // The last one may still be on its way.
          .slice(0, -1)
          .map((line) => JSON.parse(line).n)
      : [];
  };
  const line = (n: number, level = 'error', app = 'web') => `${JSON.stringify({ n, level, app })}\n`;

  it('reads a file, parses, filters and writes by field', async () => {
    bench.file('app.log', `${line(1)}${line(2, 'info')}not json\n${line(3)}${line(4, 'error', '../evil')}`);
    const engine = await bench.start(['-c', fileToFile()]);
    await until(() => written().length === 2, { what: 'two events are written' });
    expect(readFileSync(bench.path('out/web.json'), 'utf8').split('\n')[0]).to.equal(
      '{"app":"web","level":"ERROR","n":1}',
    );
    engine.child.kill('SIGTERM');
    const { code, stderr } = await engine.finished;
    expect(code).to.equal(0);
    expect(stderr).to.include('Headgate engine has started.').and.include('Headgate engine has stopped.');
    expect(existsSync(bench.path('evil.json')), 'a value left the directory').to.equal(false);
  });

  it('goes on after a restart where it stopped, and follows rotation and truncation', async () => {
    const log = bench.file('app.log', line(1));
    const config = fileToFile();
    const first = await bench.start(['-c', config]);
    await until(() => written().length === 1, { what: 'the first event is written' });
    first.child.kill('SIGTERM');
    await first.finished;

    appendFileSync(log, line(2));
    await bench.start(['-c', config]);
    await until(() => written().length === 2, { what: 'the event of the break is written' });

    renameSync(log, `${log}.1`);
    appendFileSync(`${log}.1`, line(3));
    writeFileSync(log, line(4));
    await until(() => written().length === 4, { what: 'both sides of the rotation are written' });
    writeFileSync(log, '');
    appendFileSync(log, line(5));
    await until(() => written().includes(5), { what: 'the truncated file is read anew' });
    expect(written()).to.have.members([1, 2, 3, 4, 5]);
  });

  it('ends by itself with exit code 0 when its sources have ended', async () => {
    const config = bench.file(
      'p.yaml',
      `
sources: {in: {type: demo_logs, format: shuffle, lines: [hello], interval: 0, count: 1000}}
sinks: {out: {type: console, inputs: [in], encoding: {codec: text}}}
`,
    );
    const { code, stdout } = await bench.run(['--config', config]);
    expect(code).to.equal(0);
    expect(stdout).to.equal('hello\n'.repeat(1000));
  });

  it('drains on SIGTERM: every event that was counted as sent has been written', async () => {
    const config = bench.file(
      'p.yaml',
      `
sources: {in: {type: demo_logs, format: shuffle, sequence: true, lines: [x], interval: 0}}
sinks: {out: {type: file, inputs: [in], path: "${bench.path('out.txt')}", encoding: {codec: text}}}
`,
    );
    const engine = await bench.start(['-c', config]);
    await until(() => existsSync(bench.path('out.txt')), { what: 'events flow' });
    engine.child.kill('SIGTERM');
    expect((await engine.finished).code).to.equal(0);
    const numbers = readFileSync(bench.path('out.txt'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((text) => Number.parseInt(text, 10));
    expect(numbers.every((number, index) => number === index)).to.equal(true);
    expect(numbers.length % 256, 'a batch was cut').to.equal(0);
  });

  it('expands variables when allowed, and keeps them literal otherwise', async () => {
    const config = bench.file(
      'p.yaml',
      `
sources: {in: {type: demo_logs, format: shuffle, lines: ["\${SVC_SECRET_WORD}"], count: 1}}
sinks: {out: {type: console, inputs: [in], encoding: {codec: text}}}
`,
    );
    const env = { SVC_SECRET_WORD: 'sesame' };
    expect((await bench.run(['-c', config], env)).stdout).to.equal('${SVC_SECRET_WORD}\n');
    const allowed = { ...env, VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION: 'true' };
    expect((await bench.run(['-c', config], allowed)).stdout).to.equal('sesame\n');
    const missing = await bench.run(['-c', config], {
      VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION: 'true',
    });
    expect(missing.code).to.equal(78);
    expect(missing.stderr).to.match(
      /ERROR headgate_engine::cli: Configuration error\. error=Missing environment variable in config\. name = "SVC_SECRET_WORD"/,
    );
  });

  it('does not grow in memory before a reader that does not read, and still stops in time', async function () {
    if (process.platform !== 'linux') this.skip();
    const config = bench.file(
      'p.yaml',
      `
sources: {in: {type: demo_logs, format: json, interval: 0}}
sinks: {out: {type: console, inputs: [in], encoding: {codec: json}}}
`,
    );
    const engine = await bench.start(['-c', config], { VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS: '0.3' });
    await until(() => engine.stdout !== '', { what: 'the first events arrive' });
    engine.child.stdout?.pause();
    // With the reader gone quiet the engine comes to a stand: its processor time no longer changes.
    let before = -1;
    await until(
      () => {
        const now = cpuTicks(engine.child.pid!);
        const still = now === before;
        before = now;
        return still;
      },
      { what: 'the engine stands still', timeoutMs: 20_000, everyMs: 200 },
    );
    expect(residentMegabytes(engine.child.pid!)).to.be.lessThan(250);
    engine.child.kill('SIGTERM');
    await until(() => engine.child.exitCode !== null, { what: 'the engine gives up draining' });
    engine.child.stdout?.resume();
    const { code, stderr } = await engine.finished;
    expect(code).to.equal(0);
    expect(stderr).to.include('Failed to gracefully shut down in time. Killing components.');
  });
});

function cpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

function residentMegabytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
