/** How long, how large and how often a request may be, at every door. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { createRequestHandler } from '../../../api/handler.ts';
import { createHttpServer, type HttpLimits } from '../../../api/http/http-server.ts';
import { ANONYMOUS_PER_MINUTE } from '../../../api/middleware/anonymous-rate-limit.ts';
import { perMinute } from '../../../api/middleware/rate-limit.ts';
import { createAddressReader, withRequest } from '../../../api/middleware/request.ts';
import { procedureRoutes } from '../../../api/procedures/routes.ts';
import { mintToken } from '../../../controller/platform/crypto/tokens.ts';
import { SCIM_LIMITS } from '../../../schemas/scim/common.ts';
import { enrollNode } from '../../support/agents/agent-client.ts';
import { makeApiSurfaces } from '../../support/clients/api-surfaces.ts';
import { send } from '../../support/clients/http.ts';
import { statusesOf } from '../../support/clients/pipelined.ts';
import { useController } from '../../support/harness/controller.ts';
import { watchStatements } from '../../support/harness/statements.ts';
import { until } from '../../support/harness/until.ts';
import { use } from '../../support/harness/use.ts';

const SHORT: HttpLimits = { headBytes: 4_096, headMs: 250, requestMs: 500, checkMs: 50 };

describe('the HTTP server', () => {
  let server: Server;
  let port = 0;
  let read = '';
  let heldUp = Promise.withResolvers<void>();

  before(async () => {
    server = createHttpServer(async (request, response) => {
      if (request.url === '/stream') return void response.write('first\n');
      if (request.url === '/git/early') return void response.writeHead(401).end('no\n');
      if (request.url === '/early') return void response.writeHead(413).end('no\n');
      if (request.url === '/held') await heldUp.promise;
      try {
        for await (const chunk of request) read += String(chunk);
      } catch {
        return; // the request was refused while its body came
      }
      response.end('done\n');
    }, SHORT);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    port = (server.address() as AddressInfo).port;
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  beforeEach(() => {
    read = '';
  });

  /** A connection, with everything that has come over it. */
  function open(text: string): { socket: Socket; told(): string; ended(): boolean } {
    let told = '';
    let ended = false;
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk: Buffer) => (told += chunk.toString('utf8')));
    socket.on('close', () => (ended = true));
    socket.on('error', () => (ended = true));
    return { socket, told: () => told, ended: () => ended };
  }

  const tooLong = 'too long to arrive';
  const noHttp = 'no HTTP';
  const chunked = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n';
  const post = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ';
  const REFUSED: [what: string, status: number, says: string, request: string][] = [
    ['a head that does not end', 408, tooLong, 'GET / HTTP/1.1\r\nHost: x\r\n'],
    ['a body that does not come', 408, tooLong, `${post}10\r\n\r\n1`],
    ['a long address', 431, 'too long', `GET /${'x'.repeat(5_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['long headers', 431, 'too long', `GET / HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(1_000)}\r\n`],
    ['what is none', 400, 'no HTTP request', '\x16\x03\x01\x02\x00\r\n\r\n'],
    ['a method that there is not', 400, noHttp, 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['what goes on without end', 400, noHttp, `BREW / HTTP/1.1\r\nHost: x\r\n\r\n${'x'.repeat(4_000_000)}`],
    // Two servers would end it at two places.
    ['a body of two lengths', 400, noHttp, `${post}5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a length that is given twice', 400, noHttp, `${post}5\r\nContent-Length: 6\r\n\r\nhello`],
    ['a line break in a header', 400, noHttp, 'GET / HTTP/1.1\r\nHost: x\r\nA: b\nSet-Cookie: c\r\r\n\r\n'],
    ['chunk extensions without end', 413, 'chunk extensions', `${chunked}\r\n1;${'x'.repeat(20_000)}`],
  ];
  it('refuses what is no request that it takes, in JSON, and ends the connection', async () => {
    const opened = REFUSED.map(([, , , request]) => open(request));
    for (const [index, [what, status, says]] of REFUSED.entries()) {
      const { told, ended } = opened[index]!;
      await until(ended, { what: `the connection to end: ${what} ${told()}` });
      const [head = '', body = ''] = told().split('\r\n\r\n');
      expect(head.split('\r\n')[0], what).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(head).to.include('X-Content-Type-Options: nosniff').and.to.include('Connection: close');
      expect(JSON.parse(body).error, what).to.include(says);
    }
  });

  it('takes no request that names no host', async () => {
    const { told, ended } = open('GET / HTTP/1.1\r\n\r\n');
    await until(() => told() !== '' || ended(), { what: 'an answer' });
    expect(told()).to.match(/^HTTP\/1\.1 400 /);
  });

  it('leaves an answer alone that goes on for longer than a request may', async () => {
    const { socket, told, ended } = open('GET /stream HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => told().includes('first'), { what: 'the stream to begin' });
    const slow = open('GET / HTTP/1.1\r\nHost: x\r\n');
    const later = open('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n');
    await until(() => slow.ended() && later.ended(), { what: 'connections that are younger to be ended' });
    expect(ended()).to.equal(false);
    socket.destroy();
  });

  it('waits for a push of git that takes longer than a request may', async () => {
    const { socket, told, ended } = open('POST /git/x HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab');
    await until(() => read === 'ab', { what: 'the first half' });
    const other = open('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab');
    await until(other.ended, { what: 'another request of that age to be ended' });
    expect(ended()).to.equal(false);
    socket.write('cd');
    await until(() => told().includes('done'), { what: 'the answer' });
    socket.destroy();
  });

  it('does not wait for the rest of a push that was refused', async () => {
    const { told, ended } = open('POST /git/early HTTP/1.1\r\nHost: x\r\nContent-Length: 400\r\n\r\nab');
    await until(ended, { what: 'the connection to end' });
    expect(told()).to.match(/^HTTP\/1\.1 401 /);
  });

  const headOf = (told: string) => told.split('\r\n\r\n')[0] ?? '';

  it('says that it closes where it does not read the rest of a body, and lets the answer through', async () => {
    const part = 'x'.repeat(65_536);
    for (const [length, chunk] of [
      ['Content-Length: 40000000', part],
      ['Transfer-Encoding: chunked', `10000\r\n${part}\r\n`],
    ] as const) {
      // More than the socket takes at once, as by a client that looks for an answer when it has sent all.
      const { told, ended } = open(
        `POST /early HTTP/1.1\r\nHost: x\r\n${length}\r\n\r\n${chunk.repeat(100)}`,
      );
      await until(ended, { what: 'the connection to end' });
      expect(told()).to.match(/^HTTP\/1\.1 413 .*no\n/s);
      expect(headOf(told()))
        .to.match(/\r\nConnection: close/i)
        .and.not.match(/keep-alive/i);
      expect(told().match(/HTTP\/1\.1/g), 'one answer').to.have.length(1);
    }
  });

  it('keeps the connection where a body was read, or is there as a whole', async () => {
    const { socket, told } = open('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab');
    await until(() => told().includes('done'), { what: 'an answer' });
    expect(headOf(told())).to.match(/keep-alive/i);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => told().match(/done/g)?.length === 2, { what: 'another one' });
    socket.destroy();
  });

  it('says with each answer that it closes once it is to stop', async () => {
    heldUp = Promise.withResolvers<void>();
    const first = open('GET /held HTTP/1.1\r\nHost: x\r\n\r\n');
    const second = open('GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /held HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => second.told().includes('done'), { what: 'an answer before' });
    expect(headOf(second.told())).to.match(/keep-alive/i);
    server.close();
    heldUp.resolve();
    await until(() => first.ended() && second.ended(), { what: 'both to end' });
    for (const { told } of [first, second])
      expect(told().slice(told().lastIndexOf('HTTP/1.1'))).to.match(/\r\nConnection: close.*done/is);
    await once(server.listen(port, '127.0.0.1'), 'listening');
  });
});

describe('the limits of the doors', function () {
  this.timeout(60_000);
  const test = useController();
  const doors = use(
    () => makeApiSurfaces(test),
    ({ teams }) => teams.git.remove(),
  );

  const MIB = 1024 * 1024;
  const BODIES: { path: string; bytes: number; as?: 'session' | 'key' | 'node' | 'scim' }[] = [
    { path: '/api/auth/sign-in', bytes: 16 * 1024 },
    { path: '/api/trpc/team.create', bytes: 2 * MIB, as: 'session' },
    { path: '/api/v1/secrets', bytes: 256 * 1024, as: 'key' },
    { path: '/api/git/webhook/none', bytes: 25 * MIB },
    { path: '/api/scim/v2/Users', bytes: SCIM_LIMITS.bodyBytes, as: 'scim' },
    { path: '/api/agent/enroll', bytes: 64 * 1024 },
    { path: '/api/agent/heartbeat', bytes: 8 * MIB, as: 'node' },
    { path: '/api/agent/logs', bytes: 8 * MIB, as: 'node' },
    { path: '/api/agent/samples', bytes: 8 * MIB, as: 'node' },
    { path: '/api/agent/tap-events', bytes: 8 * MIB, as: 'node' },
  ];
  const credentials = (as: 'session' | 'key' | 'node' | 'scim' | undefined) => {
    if (as === 'session') return { cookie: doors.teams.root.cookie };
    return as === undefined ? {} : doors[as];
  };

  for (const { path, bytes, as } of BODIES) {
    it(`refuses more than ${bytes} bytes at ${path}, also where their number is not told`, async () => {
      const answer = await send(`${test.url}${path}`, {
        method: 'POST',
        headers: {
          ...{ 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
          ...credentials(as),
        },
        body: JSON.stringify({ json: 'x'.repeat(bytes) }),
      });
      expect(answer.status).to.equal(413);
      expect(answer.headers['content-type']).to.match(/^application\/(scim\+)?json/);
    });

    it(`answers JSON without end of nesting at ${path} with a refusal, at once`, async () => {
      const deep = Math.min(bytes / 2 - 100, 500_000);
      for (const [open, close] of [
        ['[', ']'],
        ['{"json":', '}'],
      ] as const) {
        const levels = Math.floor(deep / open.length);
        const answer = await send(`${test.url}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...credentials(as) },
          body: `${open.repeat(levels)}1${close.repeat(levels)}`,
        });
        expect(answer.status, `${open} ${answer.text.slice(0, 200)}`).to.be.oneOf(
          path === '/api/agent/logs' ? [200, 400] : [400, 404, 413],
        );
      }
    });
  }

  it('say that they close where they do not read the rest of a body, and keep the connection otherwise', async () => {
    const { port } = new URL(test.url);
    for (const { path, bytes, as } of BODIES) {
      for (const [length, status, connection] of [
        [bytes + 1_000_000, 413, 'close'],
        [2, null, 'keep-alive'],
      ] as const) {
        const head = Object.entries({
          host: 'x',
          'content-type': 'application/json',
          'content-length': String(length),
          ...credentials(as),
        }).map(([name, value]) => `${name}: ${value}\r\n`);
        let told = '';
        const socket = connect(Number(port), '127.0.0.1');
        socket.on('error', () => {});
        socket.on('data', (chunk: Buffer) => (told += chunk.toString('utf8')));
        socket.write(`POST ${path} HTTP/1.1\r\n${head.join('')}\r\n{}`);
        await until(() => told.includes('\r\n\r\n'), { what: `an answer at ${path}` });
        socket.destroy();
        if (status) expect(told, path).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
        expect(told, `${path}, ${length} bytes`).to.match(
          new RegExp(`\r\nConnection: ${connection}\r\n`, 'i'),
        );
      }
    }
  });

  it('refuse a query parameter that is given twice, at every door', async () => {
    const session = { cookie: doors.teams.root.cookie };
    const me = encodeURIComponent('{"json":{}}');
    for (const [path, headers] of [
      [`/api/trpc/user.me?input=${me}&input=${me}`, session],
      ['/api/v1/audit?after=0&after=1', doors.key],
      ['/git/config.git/info/refs?service=git-upload-pack&service=git-receive-pack', doors.git],
      ['/api/events?a=1&a=2', session],
      ['/api/scim/v2/Users?count=1&count=2', doors.scim],
      ['/api/audit/export?format=csv&format=ndjson', session],
      ['/api/auth/session?a=1&%61=2', session],
    ] as const) {
      const answer = await send(`${test.url}${path}`, { headers });
      expect(answer.status, path).to.equal(400);
      expect(answer.text, path).to.include('more than once');
    }
    const many = Array.from({ length: 60 }, (_, index) => `p${index}=1`).join('&');
    expect((await send(`${test.url}/api/auth/session?${many}`, { headers: session })).status).to.equal(400);
  });

  it('answer one person who calls without end with 429 and when to come again, and others as before', async () => {
    const { services, clock } = test.controller.systemContext('test');
    const made = createRequestHandler({
      baseUrl: test.url,
      db: test.db,
      essential: test.db,
      clock,
      log: test.controller.systemContext('test').log,
      services,
      execute: async () => ({}) as never,
    });
    const app = new Koa();
    app.use(withRequest({ log: made.log, addressOf: createAddressReader([]) }) as Koa.Middleware);
    app.use(procedureRoutes({ ...made, calls: perMinute(3) }));
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/trpc/team.list`;
    const call = (cookie: string) => send(url, { headers: { cookie } });
    try {
      const { viewer, editor } = doors.teams;
      const answers = [];
      for (let count = 0; count < 4; count += 1) answers.push(await call(viewer.cookie));
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 429]);
      const refused = answers[3]!;
      expect(Number(refused.headers['retry-after'])).to.be.within(1, 60);
      expect(refused.json<{ error: { json: { data: object } } }>().error.json.data).to.include({
        code: 'TOO_MANY_REQUESTS',
        httpStatus: 429,
      });
      expect((await call(editor.cookie)).status).to.equal(200);
    } finally {
      server.close();
    }
  });

  it('count by address who sends node tokens that nobody knows, and ask the database little', async () => {
    const statements = watchStatements();
    let from = 0;
    /** Looks for a token since this was asked for the last time. The controller reads nodes for other ends as well. */
    const reads = () => {
      const count = statements.seen.slice(from).filter((sql) => sql.includes('"tokenHash"')).length;
      from = statements.seen.length;
      return count;
    };
    const ask = async (token: string, path: string) => {
      const method = path.endsWith('config') || path.endsWith('push') ? 'GET' : 'POST';
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      return send(`${test.url}/api/agent/${path}`, {
        ...{ method, headers },
        ...(method === 'POST' ? { body: '{"pipelines": []}' } : {}),
      });
    };
    const same = mintToken('hgn').token;
    try {
      for (let n = 0; n < 40; n += 1) expect((await ask(same, 'config')).status).to.equal(401);
      // One, and another each time that it was forgotten, after some seconds.
      expect(reads()).to.be.within(1, 10);
      const paths = ['config', 'heartbeat', 'logs', 'samples', 'tap-events', 'push'];
      for (const path of paths) expect((await ask(mintToken('hgn').token, path)).status, path).to.equal(401);
      const many = () =>
        Array.from({ length: 400 }, () => ({
          ...{ path: '/api/agent/config', headers: { Authorization: `Bearer ${mintToken('hgn').token}` } },
        }));
      const statuses = new Set<number>();
      let asked = 0;
      // The minute may end meanwhile, and its count with it.
      while (asked < 2 * ANONYMOUS_PER_MINUTE && !statuses.has(429)) {
        asked += 400;
        for (const status of await statusesOf(test.url, many())) statuses.add(status);
      }
      expect([...statuses].sort()).to.deep.equal([401, 429]);
      // Those of one moment share a statement; on a slow machine fewer come in one moment.
      expect(reads()).to.be.below(asked * 0.8);
      for (const path of paths) {
        const refused = await ask(mintToken('hgn').token, path);
        expect(refused.status, path).to.equal(429);
        expect(Number(refused.headers['retry-after'])).to.be.within(1, 60);
      }
      expect(reads()).to.equal(0);
    } finally {
      statements.stop();
    }
    // Nodes that are known, and those that come, are not counted by their address; nor is who signs in.
    const { node, environmentId } = doors.teams.ours;
    expect((await node.config()).status).to.equal(200);
    const { token } = await doors.teams.root.mutate<{ token: string }>(
      'environment.generateEnrollmentToken',
      { environmentId },
    );
    const joined = await enrollNode(test.url, token, { hostname: 'late' });
    await until(async () => (await joined.config()).status === 200, { what: 'the new node to be known' });
    expect((await send(`${test.url}/api/auth/providers`)).status).to.equal(200);
  });

  it('count by address what is not signed in, whatever a stranger says of where he comes from', async () => {
    const doorsOfStrangers = [
      '/api/trpc/user.me',
      '/api/v1/pipelines',
      '/api/scim/v2/Users',
      '/api/events',
      '/api/audit/export?format=csv',
      '/api/auth/providers',
      '/schemas/v1/pipeline.json',
    ];
    const many = () =>
      Array.from({ length: 400 }, (_, n) => ({
        path: doorsOfStrangers[n % doorsOfStrangers.length]!,
        headers: { 'X-Forwarded-For': `203.0.113.${n % 250}`, Forwarded: `for=203.0.113.${n % 250}` },
      }));
    const statuses = new Set<number>();
    // The minute began with the first of these requests in this file, and may end meanwhile.
    for (let asked = 0; asked < 2 * ANONYMOUS_PER_MINUTE && !statuses.has(429); asked += 400)
      for (const status of await statusesOf(test.url, many())) statuses.add(status);
    expect([...statuses]).to.include(429);
    const refused = await send(`${test.url}/api/v1/pipelines`);
    expect(refused.status).to.equal(429);
    expect(Number(refused.headers['retry-after'])).to.be.within(1, 60);
    // Whoever is known is counted by that.
    expect((await doors.teams.root.call('query', 'user.me')).status).to.equal(200);
    expect((await send(`${test.url}/api/v1/pipelines`, { headers: doors.key })).status).to.equal(200);
    expect((await doors.teams.ours.node.config()).status).to.equal(200);
  });
});
