/** An agent on a network that is not kind: redirects, floods, refusals; and the compiled one where its runtime decides: proxies, authorities. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect } from 'chai';
import { ENGINE, ensureAgent } from './agent-process.ts';
import { faulty, makeScene, type Scene } from './scene.ts';
import { pipeline, send } from './scripted-server.ts';

describe('the way from the agent to its controller', function () {
  this.timeout(40_000);
  let scene: Scene;

  before(ensureAgent);
  beforeEach(async () => {
    scene = await makeScene();
  });
  afterEach(() => scene.close());
  const until: Scene['until'] = (...args) => scene.until(...args);

  it('goes through the proxy of HTTP_PROXY, and not to what is on the machine itself', async () => {
    const { server, runCompiled, reach } = scene;
    const proxy = await startProxy(server.url);
    try {
      server.pipelines = [pipeline('p1')];
      // A name that only the proxy knows.
      runCompiled({ SVC_URL: 'http://controller.test', HTTP_PROXY: proxy.url, SVC_ENGINE_BIN: ENGINE });
      await reach('p1', 'RUNNING');
      await until(() => server.pushStreams.length === 1, { what: 'the push stream is open' });
      await until(() => (server.report('p1')?.eventsIn ?? 0) > 0, { what: 'the engine’s metrics are read' });
      expect(proxy.seen).to.include.members([
        'POST http://controller.test/api/agent/enroll',
        'GET http://controller.test/api/agent/config',
        'GET http://controller.test/api/agent/push',
        'POST http://controller.test/api/agent/heartbeat',
      ]);
      expect(proxy.seen.filter((line) => line.includes('127.0.0.1'))).to.deep.equal([]);
    } finally {
      await proxy.close();
    }
  });

  it('goes around the proxy where NO_PROXY names the controller, and says so where the proxy is away', async () => {
    const { runCompiled } = scene;
    const proxy = await startProxy(scene.server.url);
    const around = runCompiled({
      SVC_URL: 'http://controller.test',
      HTTP_PROXY: proxy.url,
      NO_PROXY: 'controller.test',
    });
    expect(await around.ended).to.equal(1);
    expect(around.output()).to.match(/^enrollment failed: host name not found/);
    expect(proxy.seen).to.deep.equal([]);
    await proxy.close();
    const away = runCompiled({ SVC_URL: 'http://controller.test', HTTP_PROXY: proxy.url });
    expect(await away.ended).to.equal(1);
    expect(away.output()).to.match(/^enrollment failed: connection refused\n.*HTTPS_PROXY or HTTP_PROXY/);
  });

  it('takes a tunnel of the proxy for https, and trusts the private authority that signed the controller', async function () {
    const { place, runCompiled } = scene;
    const authority = makeAuthority(place.dir, 'ours');
    const other = makeAuthority(place.dir, 'theirs');
    if (!authority || !other) this.skip();
    const https = createHttpsServer(authority.server, (_, response) => send(response, 401, {}));
    https.listen(0, '127.0.0.1');
    await once(https, 'listening');
    const { port } = https.address() as AddressInfo;
    const proxy = await startProxy(`http://127.0.0.1:${port}`);
    const ask = async (env: Record<string, string>) => {
      const agent = runCompiled({ SVC_URL: `https://127.0.0.1:${port}`, ...env });
      expect(await agent.ended).to.equal(1);
      return agent.output().split('\n')[0];
    };
    try {
      const refused = 'enrollment failed: certificate verify failed (UNABLE_TO_VERIFY_LEAF_SIGNATURE)';
      const reached = 'enrollment failed: (status 401)';
      expect(await ask({})).to.equal(refused);
      expect(await ask({ NODE_EXTRA_CA_CERTS: other.ca })).to.equal(refused);
      expect(await ask({ NODE_EXTRA_CA_CERTS: authority.ca })).to.equal(reached);
      expect(await ask({ SSL_CERT_FILE: authority.ca })).to.equal(reached);
      // What turns the check off for other programs does not for this one, which would show its token to anybody.
      expect(await ask({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })).to.equal(refused);
      const tunnel = { SVC_URL: `https://controller.test:${port}`, HTTPS_PROXY: proxy.url };
      expect(await ask({ ...tunnel, NODE_EXTRA_CA_CERTS: authority.ca })).to.equal(reached);
      expect(proxy.seen).to.deep.equal([`CONNECT controller.test:${port}`]);
      expect(await ask({ SVC_URL: `https://localhost:${port}`, NODE_EXTRA_CA_CERTS: authority.ca })).to.match(
        /^enrollment failed: certificate verify failed \(.*ALTNAME/,
      );
    } finally {
      await proxy.close();
      https.close();
    }
  });

  it('is not taken elsewhere by redirects: no token goes there', async () => {
    const { server, place, run, reach } = scene;
    const asked: string[] = [];
    const elsewhere = createHttpServer((incoming, response) => {
      asked.push(`${incoming.url} ${incoming.headers.authorization}`);
      send(response, 200, {});
    }).listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    const away = (_: IncomingMessage, response: ServerResponse) => {
      const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
      response.writeHead(307, { location }).end();
    };
    server.override.enroll = away;
    const refused = run();
    expect(await refused.ended).to.equal(1);
    expect(refused.output()).to.match(/^enrollment failed: \(status 307\)\nCheck that SVC_URL/);
    expect(existsSync(place.path('node-token'))).to.equal(false);
    server.override = {};
    server.pipelines = [faulty('p1', 'idle')];
    run();
    await reach('p1', 'RUNNING');
    server.override = { config: away, heartbeat: away, logs: away, push: away };
    for (const stream of server.pushStreams) stream.destroy();
    const polls = server.polls.length;
    await until(() => server.polls.length >= polls + 3, { what: 'three polls are sent away' });
    server.override = {};
    await until(() => (server.heartbeats.at(-1)?.agentHealth?.heartbeatErrorsTotal ?? 0) >= 2, {
      what: 'the failed heartbeats are told',
    });
    expect(server.report('p1')?.status).to.equal('RUNNING');
    expect(asked).to.deep.equal([]);
    elsewhere.close();
  });

  it('may be refused for heartbeats in any way: engines run on, and Retry-After is kept to', async () => {
    const { server, place, run, reach } = scene;
    server.pipelines = [faulty('p1', 'idle')];
    run();
    await reach('p1', 'RUNNING');
    const engines = place.engines();
    let refused = 0;
    const answers: ((response: ServerResponse) => void)[] = [
      ...[401, 403, 404, 413, 429, 500, 503].map(
        (status) => (response: ServerResponse) => send(response, status, { error: 'no' }),
      ),
      (response) => response.writeHead(200).end('<html>'),
      (response) => response.writeHead(200).end('{"ok":true'),
      (response) => response.destroy(),
    ];
    for (const answer of answers) {
      const before = refused;
      server.override.heartbeat = (_, response) => {
        refused += 1;
        answer(response);
      };
      await until(() => refused > before, { what: 'a heartbeat is refused' });
    }
    // Each that is sent away asks for 20 s; the pause of the second one is over before the third comes.
    const { clock } = place;
    place.paceMs = 250;
    const at: number[] = [];
    server.override.heartbeat = (_, response) => {
      at.push(clock.monotonic());
      if (at.length === 2) server.override = {};
      send(response, 429, { error: 'slow down' }, { 'retry-after': '20' });
    };
    await until(() => at.length === 2, { what: 'the next heartbeat comes' });
    expect((at[1] ?? 0) - (at[0] ?? 0)).to.be.at.least(20_000);
    await until(() => (server.heartbeats.at(-1)?.agentHealth?.heartbeatErrorsTotal ?? 0) >= answers.length, {
      what: 'the failures are told',
    });
    expect(place.engines()).to.deep.equal(engines);
  });

  it('may cut push messages anywhere, and brings those just under 256 KB', async () => {
    const { server, run } = scene;
    server.pollIntervalMs = 60_000;
    const agent = run();
    await until(() => server.pushStreams.length === 1, { what: 'the push stream is open' });
    const [stream] = server.pushStreams;
    const empty = JSON.stringify({ type: 'poll_interval', intervalMs: 40_000, pad: '' });
    const largest = (intervalMs: number) =>
      JSON.stringify({ type: 'poll_interval', intervalMs, pad: 'x'.repeat(256 * 1024 - 1 - empty.length) });
    const follows = (ms: number) =>
      until(() => agent.output().includes(`by the controller" ms=${ms}`), { what: `${ms} ms are followed` });
    stream?.write(`event: poll_interval\r\ndata: ${largest(40_001)}\r\n\r\n`);
    await follows(40_001);
    const text = Buffer.from(
      ': comment\r\revent: unheard_of\ndata: {}\n\ndata: {broken\n\nid: 1\nretry: 5\nfoo\nevent: poll_interval\ndata: {"type":"poll_interval",\ndata:"intervalMs":40002}\n\n',
    );
    for (const byte of text) stream?.write(Buffer.from([byte]));
    await follows(40_002);
    expect(agent.output()).not.to.contain('push channel dropped');
    for (const bytes of [256 * 1024, 1024 * 1024]) {
      const broken = server.pushStreams[0];
      const drops = agent.output().split('push channel dropped').length;
      server.push({ type: 'config_changed', reason: 'x'.repeat(bytes) } as never);
      await until(() => agent.output().split('push channel dropped').length > drops, {
        what: 'the stream breaks',
      });
      await until(() => server.pushStreams.length === 1 && server.pushStreams[0] !== broken, {
        what: 'it is open again',
        timeoutMs: 8_000,
      });
    }
  });
});

interface Proxy {
  url: string;
  /** Requests as the proxy got them. */
  seen: string[];
  close(): Promise<void>;
}

/** Passes everything on to one server, whatever name it is asked for. */
async function startProxy(target: string): Promise<Proxy> {
  const seen: string[] = [];
  const { port, hostname } = new URL(target);
  const tunnels = new Set<Duplex>();
  const proxy = createHttpServer((incoming, answer) => {
    seen.push(`${incoming.method} ${incoming.url}`);
    const { pathname } = new URL(incoming.url ?? '/', target);
    const options = { hostname, port, path: pathname, method: incoming.method, headers: incoming.headers };
    const onward = request({ ...options, agent: false }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      answer.flushHeaders();
      reply.on('error', () => answer.destroy());
      reply.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    answer.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  proxy.on('connect', (incoming, near) => {
    seen.push(`CONNECT ${incoming.url}`);
    const far = connect(Number(port), hostname, () => {
      near.write('HTTP/1.1 200 Connection established\r\n\r\n');
      far.pipe(near);
      near.pipe(far);
    });
    for (const [end, other] of [
      [near, far],
      [far, near],
    ] as const) {
      tunnels.add(end);
      end.on('error', () => other.destroy());
      end.on('close', () => other.destroy());
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    seen,
    async close() {
      for (const tunnel of tunnels) tunnel.destroy();
      proxy.closeAllConnections();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}

/** An authority and a certificate by it for 127.0.0.1 and controller.test; undefined where openssl is missing. */
function makeAuthority(folder: string, name: string) {
  const path = (file: string) => `${folder}/${name}-${file}`;
  const openssl = (...args: string[]) => spawnSync('openssl', args).status === 0;
  const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const names = 'subjectAltName=IP:127.0.0.1,DNS:controller.test';
  const made =
    openssl(
      'req',
      '-x509',
      ...fresh,
      '-keyout',
      path('ca.key'),
      '-out',
      path('ca.pem'),
      '-subj',
      `/CN=${name}`,
    ) &&
    // Signed as it is made, since older releases do not copy extensions from a request.
    openssl(
      ...['req', '-x509', ...fresh, '-keyout', path('key.pem'), '-out', path('cert.pem')],
      ...['-CA', path('ca.pem'), '-CAkey', path('ca.key'), '-subj', '/CN=controller'],
      ...['-addext', names, '-addext', 'basicConstraints=critical,CA:FALSE'],
    );
  if (!made) return undefined;
  const server = { key: readFileSync(path('key.pem')), cert: readFileSync(path('cert.pem')) };
  return { ca: path('ca.pem'), server };
}
