/** `tap` of the compiled engine, against the compiled engine. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { patient } from '../../support/harness/patience.ts';
import { until } from '../../support/harness/until.ts';
import { Bench, engineBinary, freePort, type RunningEngine } from './support.ts';

describe('tap of the engine', function () {
  this.timeout(30_000);
  let bench: Bench;
  let port: number;
  let engine: RunningEngine;
  before(engineBinary);
  beforeEach(async () => {
    bench = new Bench();
    port = await freePort();
    engine = await startEngine();
  });
  afterEach(() => bench.dispose());

  async function startEngine(): Promise<RunningEngine> {
    const config = bench.file(
      'p.yaml',
      `
data_dir: ${bench.folder}
api: {enabled: true, address: "127.0.0.1:${port}"}
sources:
  in: {type: demo_logs, format: shuffle, lines: [one], interval: 0.01}
  silent: {type: demo_logs, format: shuffle, lines: [never], interval: 3600}
  metrics: {type: internal_metrics, scrape_interval_secs: 0.2}
transforms:
  tidy: {type: remap, inputs: [in], source: '.tidy = true'}
  split: {type: route, inputs: [tidy], route: {all: 'true', none: 'false'}}
sinks:
  out: {type: blackhole, inputs: [split.all], print_interval_secs: 0}
  rest: {type: blackhole, inputs: ["split.none", "split._unmatched", silent, metrics], print_interval_secs: 0}
`,
    );
    const started = await bench.start(['--config', config]);
    await until(() => started.stderr.includes('API server running.'), { what: 'the engine serves its API' });
    return started;
  }

  const args = (...words: string[]) => ['tap', '--url', `http://127.0.0.1:${port}`, ...words];
  /** With bursts so short that some come within the time, however long the connection takes. */
  const tap = (...words: string[]) => bench.run(args('--duration-ms', '900', '--interval', '100', ...words));
  const events = (stdout: string) =>
    stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { log: Record<string, unknown> });

  it('prints events of an output, wrapped by their kind, and tells of the pattern', async () => {
    const { code, stdout, stderr } = await tap('--outputs-of', 'in');
    expect(code).to.equal(0);
    expect(events(stdout)[0]?.log).to.include({ message: 'one' });
    expect(events(stdout)[0]?.log).to.not.have.property('tidy');
    expect(stderr).to.equal("[tap] Pattern 'in' successfully matched.\n");
  });

  it('takes the address of the GraphQL API too', async () => {
    const url = `http://127.0.0.1:${port}/graphql`;
    const { stdout } = await bench.run(['tap', '--url', url, '-d', '900', '-i', '100', 'in']);
    expect(events(stdout)).to.not.have.length(0);
  });

  it('shows what comes in at a sink, and one named output', async () => {
    const sink = await tap('--inputs-of', 'out', '--meta');
    expect(sink.stdout).to.match(
      /^{"component_id":"split","component_kind":"transform","component_type":"route","event":{"log":{/,
    );
    const named = await tap('split.all');
    expect(events(named.stdout)[0]?.log).to.include({ tidy: true });
    expect((await tap('split.none')).stdout).to.equal('');
  });

  it('gives so many events an interval, as a choice of those that came by', async () => {
    const { stdout } = await tap('in', '--limit', '3', '--interval', '1000', '--duration-ms', '2500');
    expect(events(stdout)).to.have.length.within(3, 6);
  });

  it('ends with 0 and prints nothing where nothing came, without notices when quiet', async () => {
    const { code, stdout, stderr } = await tap('silent', 'nosuch', '--quiet');
    expect({ code, stdout, stderr }).to.deep.equal({ code: 0, stdout: '', stderr: '' });
  });

  it('says which pattern met nothing', async () => {
    const { stderr } = await tap('nosuch');
    expect(stderr).to.equal("[tap] Pattern 'nosuch' failed to match: will retry on configuration reload.\n");
  });

  it('shows metrics as events, which logfmt leaves out', async () => {
    const { stdout } = await tap('metrics');
    expect(stdout).to.match(/^{"metric":{"name":"[a-z_]+","namespace":"vector","tags":{/);
    expect((await tap('metrics', '-f', 'logfmt')).stdout).to.equal('');
  });

  it('ends with 69 and says why where there is no API', async () => {
    const nowhere = await freePort();
    const { code, stdout, stderr } = await bench.run(['tap', '--url', `http://127.0.0.1:${nowhere}`, 'in']);
    expect({ code, stdout }).to.deep.equal({ code: 69, stdout: '' });
    expect(stderr).to.match(
      /^\[tap\] Couldn't connect to the API at http:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED/,
    );
  });

  it('ends with its engine where it shall not connect again', async () => {
    const listening = await bench.start(args('in', '--no-reconnect'));
    await until(() => listening.stdout !== '', { what: 'it shows events' });
    engine.child.kill('SIGKILL');
    const { code, stderr } = await listening.finished;
    expect(code).to.equal(0);
    expect(stderr).to.not.contain('Reconnecting');
  });

  it('connects again to the next engine', async () => {
    const listening = await bench.start(args('in', '-i', '100'));
    await until(() => listening.stdout !== '', { what: 'it shows events' });
    engine.child.kill('SIGKILL');
    await until(() => listening.stderr.includes('Reconnecting in 5 seconds'), { what: 'it says so' });
    await startEngine();
    const before = listening.stdout.length;
    await until(() => listening.stdout.length > before, { what: 'events go on', timeoutMs: 10_000 });
    listening.child.kill('SIGTERM');
    expect((await listening.finished).code).to.equal(0);
  });

  it('lets the engine stop as ever', async () => {
    const listening = await bench.start(args('in', '-n', '-i', '100'));
    await until(() => listening.stdout !== '', { what: 'it shows events' });
    const startedAt = Date.now();
    engine.child.kill('SIGTERM');
    expect((await engine.finished).code).to.equal(0);
    expect(Date.now() - startedAt).to.be.below(patient(3_000));
    expect((await listening.finished).code).to.equal(0);
  });

  it('ends when nobody reads what it prints', async () => {
    const listening = await bench.start(args('in', '-i', '100'));
    await until(() => listening.stdout !== '', { what: 'it shows events' });
    listening.child.stdout?.destroy();
    expect((await listening.finished).code).to.equal(0);
  });

  it('never holds the pipeline up for a client that does not read', async () => {
    const client = connect(port, '127.0.0.1');
    client.pause();
    client.write('GET /tap?output=in&output=tidy&interval=100&limit=100000 HTTP/1.1\r\nhost: x\r\n\r\n');
    const sent = async () => {
      const { stdout } = await tap('metrics', '-l', '100000');
      const counts = stdout
        .split('\n')
        .filter(
          (line) => line.includes('"component_sent_events_total"') && line.includes('"component_id":"tidy"'),
        )
        .map((line) => Number(/"value":(\d+)/.exec(line)?.[1]));
      return counts.at(-1) ?? 0;
    };
    const before = await sent();
    const after = await sent();
    expect(after).to.be.greaterThan(before + 20);
    client.destroy();
    await once(client, 'close');
  });

  it('serves a bounded number of clients and forgets those that left', async () => {
    const clients = Array.from({ length: 32 }, () => connect(port, '127.0.0.1'));
    for (const client of clients) {
      client.on('error', () => {});
      client.write('GET /tap?output=in&interval=100&limit=1 HTTP/1.1\r\nhost: x\r\n\r\n');
    }
    await Promise.all(clients.map((client) => once(client, 'data')));
    const refused = await tap('in');
    expect(refused.code).to.equal(69);
    expect(refused.stderr).to.contain('there are 32 taps');
    for (const client of clients) client.destroy();
    await Promise.all(clients.map((client) => (client.closed ? undefined : once(client, 'close'))));
    await until(async () => (await tap('in')).code === 0, { what: 'there is room again', timeoutMs: 10_000 });
  });
});
