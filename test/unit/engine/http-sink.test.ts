import { expect } from 'chai';
import { until } from '../../support/harness/until.ts';
import { Receiver } from '../../support/servers/receiver.ts';
import { compileYaml, configErrors, startTopology } from './support.ts';

const source = (count: number) =>
  `sources: {in: {type: demo_logs, format: shuffle, lines: [x], sequence: true, interval: 0, count: ${count}}}`;
const OUT = { component_id: 'out' };

describe('the http sink', function () {
  this.timeout(15_000);
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await Receiver.start();
  });
  afterEach(() => receiver.close());

  const sink = (options: string) =>
    `sinks: {out: {type: http, inputs: [in], uri: "${receiver.url}", ${options}}}`;
  const messages = () => receiver.accepted.map((event) => Number.parseInt(String(event.message), 10));
  const upTo = (count: number) => Array.from({ length: count }, (_unused, n) => n);

  it('sends JSON events as arrays, in order, and counts what it sent', async () => {
    const { topology, sum } = await startTopology(
      source(1000),
      sink('encoding: {codec: json}, batch: {max_events: 300}, request: {concurrency: none}'),
    );
    await topology.finished;
    expect(messages()).to.deep.equal(upTo(1000));
    expect(receiver.requests.map(({ body }) => JSON.parse(body).length)).to.deep.equal([300, 300, 300, 100]);
    const [first] = receiver.requests;
    expect(first).to.include({ method: 'POST' });
    expect(first?.headers).to.include({ 'content-type': 'application/json' });
    expect(first?.headers['user-agent']).to.match(/^headgate-engine\//);
    expect(sum('component_sent_events_total', OUT)).to.equal(1000);
    expect(sum('component_received_events_total', OUT)).to.equal(1000);
    expect(sum('component_sent_bytes_total', { ...OUT, protocol: 'http' })).to.equal(
      receiver.requests.reduce((total, { body }) => total + body.length, 0),
    );
    expect(sum('http_client_responses_total', { ...OUT, status: '200' })).to.equal(4);
    expect(sum('component_discarded_events_total', OUT)).to.equal(0);
  });

  it('sends lines of JSON, and lines of text', async () => {
    const ndjson = sink(
      'encoding: {codec: json, only_fields: [message]}, framing: {method: newline_delimited}',
    );
    await (await startTopology(source(2), ndjson)).topology.finished;
    expect(receiver.requests[0]?.body).to.equal('{"message":"0 x"}\n{"message":"1 x"}');
    expect(receiver.requests[0]?.headers['content-type']).to.equal('application/x-ndjson');
    await (await startTopology(source(2), sink('encoding: {codec: ndjson}'))).topology.finished;
    expect(receiver.requests.pop()?.headers['content-type']).to.equal('application/x-ndjson');
    await (await startTopology(source(2), sink('encoding: {codec: text}, method: put'))).topology.finished;
    expect(receiver.requests[1]).to.include({ body: '0 x\n1 x\n', method: 'PUT' });
    expect(receiver.requests[1]?.headers['content-type']).to.equal('text/plain');
  });

  it('compresses, wraps, and sends headers and credentials', async () => {
    const { topology } = await startTopology(
      source(1),
      sink(
        `encoding: {codec: json, only_fields: [message]}, compression: gzip, payload_prefix: '{"data":', payload_suffix: '}',
        request: {headers: {X-Team: a}}, auth: {strategy: bearer, token: sesame}`,
      ),
    );
    await topology.finished;
    expect(receiver.requests[0]?.body).to.equal('{"data":[{"message":"0 x"}]}');
    expect(receiver.requests[0]?.headers).to.include({
      'content-encoding': 'gzip',
      'x-team': 'a',
      authorization: 'Bearer sesame',
    });
  });

  it('takes credentials from the address too', async () => {
    const { topology } = await startTopology(
      source(1),
      `sinks: {out: {type: http, inputs: [in], uri: "http://me:p%40ss@127.0.0.1:${receiver.port}", encoding: {codec: json}}}`,
    );
    await topology.finished;
    const expected = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
    expect(receiver.requests[0]?.headers.authorization).to.equal(expected);
  });

  it('sends a batch that does not fill up when its time is over', async () => {
    const { topology } = await startTopology(
      'sources: {in: {type: demo_logs, format: json, interval: 3600}}',
      sink('encoding: {codec: json}, batch: {timeout_secs: 0.05}'),
    );
    await until(() => receiver.accepted.length === 1, { what: 'the first event arrives' });
    topology.stop();
    await topology.finished;
    expect(receiver.requests).to.have.length(1);
  });

  it('gives each batch its own time', async () => {
    const { topology } = await startTopology(
      'sources: {in: {type: demo_logs, format: json, interval: 0.02, count: 20}}',
      sink('encoding: {codec: json}, batch: {timeout_secs: 0.1}'),
    );
    await topology.finished;
    expect(receiver.accepted).to.have.length(20);
    expect(receiver.requests.length).to.be.lessThan(12);
  });

  it('tries again while the receiver is failing, holds the source back, and loses nothing', async () => {
    receiver.status = 503;
    const { topology, sum, lines } = await startTopology(
      source(20_000),
      sink('encoding: {codec: json}, batch: {max_events: 500}, buffer: {max_events: 500}'),
    );
    await until(() => receiver.requests.length >= 2, { what: 'the second try' });
    expect(sum('component_sent_events_total', { component_id: 'in' })).to.be.lessThan(3000);
    expect(sum('component_sent_events_total', OUT)).to.equal(0);
    receiver.status = 200;
    await topology.finished;
    expect(messages().sort((a, b) => a - b)).to.deep.equal(upTo(20_000));
    expect(sum('component_sent_events_total', OUT)).to.equal(20_000);
    expect(sum('component_discarded_events_total', OUT)).to.equal(0);
    expect(lines.join('\n')).to.include('Retrying after response. reason=Http Status: 503');
  });

  it('drops what the receiver refuses, counts it and says why', async () => {
    receiver.status = 400;
    const { topology, sum, lines } = await startTopology(source(10), sink('encoding: {codec: json}'));
    await topology.finished;
    expect(receiver.requests).to.have.length(1);
    expect(
      sum('component_errors_total', { ...OUT, error_type: 'request_failed', stage: 'sending' }),
    ).to.equal(1);
    expect(sum('component_discarded_events_total', { ...OUT, intentional: 'false' })).to.equal(10);
    expect(sum('component_sent_events_total', OUT)).to.equal(0);
    expect(lines.join('\n')).to.include('Not retriable; dropping the request. reason=Http Status: 400');
    expect(lines.join('\n')).to.match(/Events dropped intentional=false count=10/);
  });

  it('gives up after the given number of tries, timed-out ones included', async () => {
    receiver.status = undefined;
    const { topology, sum, lines } = await startTopology(
      source(10),
      sink('encoding: {codec: json}, request: {timeout_secs: 1, retry_attempts: 1}'),
    );
    await topology.finished;
    expect(receiver.requests).to.have.length(2);
    expect(sum('http_client_errors_total', { ...OUT, error_kind: 'timeout' })).to.equal(2);
    expect(sum('component_discarded_events_total', { ...OUT, intentional: 'false' })).to.equal(10);
    expect(lines.join('\n')).to.include(
      'Retries exhausted; dropping the request. reason=the request timed out',
    );
  });

  it('asks the given address whether the receiver is well', async () => {
    const { sinks } = compileYaml(
      source(1),
      sink(
        `encoding: {codec: json}, healthcheck: {uri: "${receiver.url}"}, auth: {strategy: basic, user: u, password: p}`,
      ),
    );
    const { definition, healthcheck } = sinks[0]!;
    await definition.checkHealth?.(healthcheck.uri ?? '');
    expect(receiver.requests[0]).to.include({ method: 'HEAD' });
    expect(receiver.requests[0]?.headers.authorization).to.match(/^Basic /);
    receiver.status = 500;
    const refused = await definition
      .checkHealth?.(healthcheck.uri ?? '')
      .catch((error: Error) => error.message);
    expect(refused).to.equal('Unexpected status: 500');
  });

  const refused: { reason: string; options: string; message: RegExp }[] = [
    {
      reason: 'no address',
      options: 'encoding: {codec: json}',
      message: /^missing field `uri`\nin `sinks\.out`$/,
    },
    {
      reason: 'a template as address',
      options: 'uri: "http://h/{{ hunter2 }}", encoding: {codec: json}',
      message: /^option "templates in uri" is not available in headgate-engine\nin `sinks\.out`$/,
    },
    {
      reason: 'a header that HTTP cannot carry',
      options: 'uri: "http://h", encoding: {codec: json}, request: {headers: {a: "hunter2\\n"}}',
      message: /the header `a` must be a text that HTTP can carry/,
    },
    {
      reason: 'two credentials',
      options: 'uri: "http://u:hunter2@h", encoding: {codec: json}, auth: {strategy: bearer, token: t}',
      message: /Two authorization credentials was provided\./,
    },
    {
      reason: 'credentials twice over',
      options:
        'uri: "http://h", encoding: {codec: json}, auth: {strategy: bearer, token: t}, request: {headers: {Authorization: hunter2}}',
      message: /Authorization header can not be used with defined auth options/,
    },
    {
      reason: 'an option that only Vector has',
      options: 'uri: "https://h", encoding: {codec: json}, tls: {ca_file: x}',
      message: /^option "tls" is not available in headgate-engine\nin `sinks\.out`$/,
    },
    {
      reason: 'a codec that only Vector has',
      options: 'uri: "http://h", encoding: {codec: avro}',
      message: /^option "codec: avro" is not available in headgate-engine\nin `sinks\.out`$/,
    },
    {
      reason: 'a codec that nobody has',
      options: 'uri: "http://h", encoding: {codec: jsno}',
      message: /^unknown variant `jsno`, expected one of/,
    },
    {
      reason: 'a wrapper that makes no JSON',
      options: `uri: "http://h", encoding: {codec: json}, payload_prefix: '{'`,
      message: /must produce a valid JSON object/,
    },
  ];
  for (const { reason, options, message } of refused) {
    it(`refuses ${reason}`, () => {
      const errors = configErrors(source(1), `sinks: {out: {type: http, inputs: [in], ${options}}}`);
      expect(errors).to.have.length(1);
      expect(errors[0]).to.match(message).and.not.include('hunter2');
    });
  }

  it('takes an address without a scheme, as a placeholder for a secret may be', () => {
    expect(
      configErrors(
        source(1),
        'sinks: {out: {type: http, inputs: [in], uri: placeholder, encoding: {codec: json}}}',
      ),
    ).to.deep.equal([]);
  });
});
