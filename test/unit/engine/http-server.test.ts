import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { until } from '../../support/harness/until.ts';
import { Receiver } from '../../support/servers/receiver.ts';
import { configErrors, startTopology } from './support.ts';

const IN = { component_id: 'in' };

describe('the http_server source', function () {
  this.timeout(15_000);
  let receiver: Receiver;
  let running: Awaited<ReturnType<typeof startTopology>> | undefined;
  beforeEach(async () => {
    receiver = await Receiver.start();
  });
  afterEach(async () => {
    receiver.status = 200;
    running?.topology.stop();
    await running?.topology.finished.catch(() => {});
    running = undefined;
    await receiver.close();
  });

  /** Starts the source before an http sink; gives its address. */
  async function start(options: string, sinkOptions = ''): Promise<string> {
    running = await startTopology(
      `sources: {in: {type: http_server, address: "127.0.0.1:0", ${options}}}`,
      `sinks: {out: {type: http, inputs: [in], uri: "${receiver.url}", encoding: {codec: json, except_fields: [timestamp]},
        batch: {timeout_secs: 0.01}, ${sinkOptions}}}`,
    );
    const { lines } = running;
    const address = () => lines.map((line) => / Listening\. address=(\S+)/.exec(line)?.[1]).find(Boolean);
    await until(() => address() !== undefined, { what: 'the source listens' });
    return `http://${address()}`;
  }
  const post = (url: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fetch(url, { method: 'POST', body, headers });
  const arrived = async (count: number) => {
    await until(() => receiver.accepted.length >= count, { what: `${count} events arrive` });
    return receiver.accepted;
  };

  it('makes an event of each line, unless told otherwise', async () => {
    const url = await start('');
    expect((await post(url, 'one\ntwo')).status).to.equal(200);
    expect(await arrived(2)).to.deep.equal([
      { message: 'one', path: '/', source_type: 'http_server' },
      { message: 'two', path: '/', source_type: 'http_server' },
    ]);
    expect(
      running?.sum('component_received_bytes_total', { ...IN, protocol: 'http', http_path: '/' }),
    ).to.equal(7);
    expect(running?.sum('component_received_events_total', IN)).to.equal(2);
  });

  it('reads a body of JSON, and lines of JSON, and keeps the fields that they bring', async () => {
    const url = await start('encoding: json, path_key: at, host_key: from');
    await post(url, '[\n{"a":1},\n{"source_type":"own"}\n]');
    const common = { at: '/', from: '127.0.0.1' };
    expect(await arrived(2)).to.deep.equal([
      { a: 1, source_type: 'http_server', ...common },
      { source_type: 'own', ...common },
    ]);
  });

  it('adds headers where there is room and query parameters in any case', async () => {
    const url = await start(
      'decoding: {codec: json}, headers: [User-Agent, "x-*", Missing], query_parameters: [app], path_key: ""',
    );
    await post(`${url}?app=web&other=1`, '{"app":1,"x-a":"own"}', {
      'user-agent': 'test',
      'x-a': 'sent',
      'x-b': 'sent',
    });
    expect(await arrived(1)).to.deep.equal([
      {
        app: 'web',
        'x-a': 'own',
        'x-b': 'sent',
        'User-Agent': 'test',
        Missing: null,
        source_type: 'http_server',
      },
    ]);
  });

  it('reads gzip bodies, and answers with the given status', async () => {
    const url = await start('encoding: ndjson, response_code: 202, path: /logs, strict_path: false');
    const response = await post(`${url}/logs/deep`, gzipSync('{"a":1}\n\n{"a":2}\n'), {
      'content-encoding': 'gzip',
    });
    expect(response.status).to.equal(202);
    expect((await arrived(2)).map(({ a, path }) => [a, path])).to.deep.equal([
      [1, '/logs/deep'],
      [2, '/logs/deep'],
    ]);
    // The path is the client's to choose, the label is not.
    expect(running?.sum('component_received_bytes_total', { ...IN, http_path: '/logs' })).to.equal(17);
  });

  it('refuses what it cannot take, as a whole and with the reason', async () => {
    const url = await start('encoding: ndjson, path: /logs, auth: {username: u, password: sesame}');
    const good = { authorization: `Basic ${Buffer.from('u:sesame').toString('base64')}` };
    const bad = { authorization: `Basic ${Buffer.from('u:wrong!').toString('base64')}` };
    const answer = async (response: Response) => {
      const { code, message }: { code?: number; message?: string } = JSON.parse(await response.text());
      expect(code).to.equal(response.status);
      return [code, message];
    };
    expect(await answer(await post(`${url}/logs`, '{}'))).to.deep.equal([401, 'No authorization header']);
    expect(await answer(await post(`${url}/logs`, '{}', bad))).to.deep.equal([
      401,
      'Invalid username/password',
    ]);
    expect(await answer(await post(`${url}/logs/x`, '{}', good))).to.deep.equal([404, 'Not found']);
    expect(await answer(await post(`${url}/logs`, '{"a":1}\nsecret', good))).to.deep.equal([
      400,
      'Failed decoding body: Error parsing JSON: the text is not JSON',
    ]);
    expect(await answer(await fetch(`${url}/logs`, { headers: good }))).to.deep.equal([
      405,
      'HTTP method not allowed',
    ]);
    expect((await post(`${url}/logs`, 'x', { ...good, 'content-encoding': 'gzip' })).status).to.equal(422);
    expect((await post(`${url}/logs`, 'x', { ...good, 'content-encoding': 'br' })).status).to.equal(415);
    const huge = '{}\n'.repeat(4_000_000);
    expect((await post(`${url}/logs`, huge, good)).status).to.equal(413);
    const endless = await fetch(`${url}/logs`, {
      method: 'POST',
      headers: good,
      body: new Blob([huge]).stream(),
      duplex: 'half',
    });
    expect(endless.status).to.equal(413);
    const swelling = await post(`${url}/logs`, gzipSync(huge), { ...good, 'content-encoding': 'gzip' });
    expect(swelling.status).to.equal(413);
    expect(await (await fetch(`${url}/ping`)).text()).to.equal('pong');
    expect(running?.sum('component_received_events_total', IN)).to.equal(0);
    expect(running?.sum('component_errors_total', { ...IN, error_type: 'request_failed' })).to.equal(10);
    expect(running?.lines.join('\n')).not.to.match(/sesame|secret|dTpzZXNhbWU/);
  });

  it('undoes several encodings, the last one first', async () => {
    const url = await start('encoding: text');
    await post(url, gzipSync(deflateSync('packed')), { 'content-encoding': 'deflate, gzip' });
    expect((await arrived(1))[0]).to.include({ message: 'packed' });
  });

  it('forgets a request once it is answered', async () => {
    const url = await start('encoding: text', 'compression: gzip');
    const body = 'x'.repeat(9_000_000);
    for (let round = 0; round < 9; round += 1) expect((await post(url, body)).status).to.equal(200);
  });

  it('answers when there is room, and tells clients to come again before it holds too much', async () => {
    receiver.status = 503;
    const url = await start('encoding: text', 'buffer: {max_events: 1}');
    const body = 'x'.repeat(9_000_000);
    const answers: number[] = [];
    const sending = Array.from({ length: 14 }, () =>
      post(url, body).then((response) => {
        answers.push(response.status);
      }),
    );
    await until(() => answers.includes(503), { what: 'a client is told to come again', timeoutMs: 10_000 });
    const taken = () => answers.filter((status) => status === 200).length;
    expect(taken()).to.be.lessThan(8);
    receiver.status = 200;
    await Promise.all(sending);
    running?.topology.stop();
    await running?.topology.finished;
    expect(receiver.accepted).to.have.length(taken());
  });

  it('answers what is under way before it stops, and takes nothing more', async () => {
    const url = await start('encoding: text');
    const slow = httpRequest(url, {
      method: 'POST',
      headers: { 'content-length': '9', expect: '100-continue' },
    });
    slow.flushHeaders();
    await once(slow, 'continue');
    slow.write('half ');
    running?.topology.stop();
    slow.end('here');
    const [response] = await once(slow, 'response');
    expect(response.statusCode).to.equal(200);
    await running?.topology.finished;
    expect(receiver.accepted.map(({ message }) => message)).to.deep.equal(['half here']);
    expect(await post(url, 'late').catch(() => 'refused')).to.equal('refused');
  });

  it('ends the engine when its port is taken, and says so', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const { topology } = await startTopology(
      `sources: {in: {type: http_server, address: "127.0.0.1:${port}"}}`,
      'sinks: {out: {type: blackhole, inputs: [in]}}',
    );
    const reason = await topology.finished.catch((error: Error) => error.message);
    expect(reason).to.equal(
      'An error occurred: TcpBind { source: Os { code: 98, kind: AddrInUse, message: "Address already in use" } }.',
    );
    server.close();
  });

  const SINK = 'sinks: {out: {type: blackhole, inputs: ["*"]}}';
  const refused: { reason: string; sources: string; message: RegExp }[] = [
    {
      reason: 'two sources on one port',
      sources:
        'a: {type: http_server, address: "127.0.0.1:80"}, b: {type: http_server, address: "127.0.0.1:80"}',
      message:
        /^Resource `tcp 127\.0\.0\.1:80` is claimed by multiple components: \{ComponentKey \{ id: "a" \}, ComponentKey \{ id: "b" \}\}$/,
    },
    {
      reason: 'two that read the standard input',
      sources: 'a: {type: stdin}, b: {type: stdin}',
      message: /^Resource `file descriptor 0` is claimed/,
    },
    {
      reason: 'both ways to say what a body holds',
      sources: 'a: {type: http_server, address: "127.0.0.1:80", encoding: json, decoding: {codec: json}}',
      message: /Using `encoding` is deprecated/,
    },
    {
      reason: 'TLS, which only Vector has',
      sources: 'a: {type: http_server, address: "127.0.0.1:80", tls: {enabled: true}}',
      message: /^option "tls" is not available in headgate-engine\nin `sources\.a`$/,
    },
    {
      reason: 'a codec that it does not know',
      sources: 'a: {type: stdin, decoding: {codec: text}}',
      message: /^unknown variant `text`, expected `bytes` or `json`\nin `sources\.a`$/,
    },
    {
      reason: 'a way to sign in that only Vector has',
      sources: 'a: {type: http_server, address: "127.0.0.1:80", auth: {strategy: custom, source: "true"}}',
      message: /^option "auth\.strategy: custom" is not available in headgate-engine\nin `sources\.a`$/,
    },
    {
      reason: 'another way to sign in',
      sources: 'a: {type: http_server, address: "127.0.0.1:80", auth: {strategy: magic}}',
      message: /^unknown variant `magic`, expected `basic`\nin `sources\.a`$/,
    },
  ];
  for (const { reason, sources, message } of refused) {
    it(`refuses ${reason}`, () => {
      expect(configErrors(`sources: {${sources}}`, SINK).join('\n')).to.match(message);
    });
  }
});
