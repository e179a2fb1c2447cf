/** Asking an address for somebody: to the very host that was checked, within bounds, and nowhere else. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import {
  createOutgoing,
  createTargetGuard,
  type Outgoing,
  OutgoingError,
} from '../../../controller/platform/net/outgoing/index.ts';
import { NO_PROXIES } from '../../../controller/platform/net/proxies.ts';
import { QUIET } from '../../support/harness/platform.ts';
import { until } from '../../support/harness/until.ts';
import { ForwardProxy } from '../../support/servers/forward-proxy.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

describe('an outgoing request', () => {
  const made: { close(): Promise<void> | void }[] = [];
  afterEach(async () => {
    for (const one of made.splice(0)) await one.close();
  });

  const serve = async (
    handler: Handler,
  ): Promise<{ url: string; port: number; asked: IncomingMessage[] }> => {
    const asked: IncomingMessage[] = [];
    const server: Server = createServer((request, response) => {
      asked.push(request);
      handler(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    made.push({
      close() {
        server.close();
        server.closeAllConnections();
      },
    });
    const { port } = server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, port, asked };
  };
  const outgoing = (privateTargets: string[] = ['127.0.0.1'], proxies = NO_PROXIES): Outgoing => {
    const one = createOutgoing({ guard: createTargetGuard(privateTargets, QUIET), proxies, log: QUIET });
    made.push(one);
    return one;
  };
  const faultOf = async (asking: Promise<unknown>): Promise<string> => {
    try {
      await asking;
    } catch (error) {
      return error instanceof OutgoingError ? error.fault : `threw ${error}`;
    }
    return 'none';
  };

  it('brings status, headers and body', async () => {
    const { url, asked } = await serve((_, response) =>
      response.writeHead(418, { 'x-tea': 'y' }).end('{"a":1}'),
    );
    const answer = await outgoing().ask(`${url}/path?q`, {
      method: 'POST',
      headers: { a: 'b' },
      body: 'text',
    });
    expect([answer.status, answer.headers.get('x-tea'), await answer.text()]).to.deep.equal([
      418,
      'y',
      '{"a":1}',
    ]);
    expect(asked[0]?.headers).to.include({ a: 'b', 'user-agent': 'headgate', 'accept-encoding': 'identity' });
    expect([asked[0]?.method, asked[0]?.url]).to.deep.equal(['POST', '/path?q']);
  });

  it('takes an answer without body, and none with a status that there is not', async () => {
    const { url } = await serve((request, response) =>
      response.writeHead(Number(request.url?.slice(1))).end(),
    );
    for (const status of [204, 304, 404, 599])
      expect((await outgoing().ask(`${url}/${status}`)).status).to.equal(status);
    expect(await faultOf(outgoing().ask(`${url}/999`))).to.equal('unreachable');
  });

  it('goes to nothing private that the operator has not named', async () => {
    const { port, asked } = await serve((_, response) => response.end('secret'));
    for (const host of ['127.0.0.1', 'localhost', '127.1', '[::ffff:127.0.0.1]', 'localhost.'])
      expect(await faultOf(outgoing([]).ask(`http://${host}:${port}/`)), host).to.equal('unreachable');
    expect(await faultOf(outgoing(['10.0.0.0/8']).ask(`http://localhost:${port}/`))).to.equal('unreachable');
    expect(asked).to.have.length(0);
    const answer = await outgoing(['localhost']).ask(`http://localhost:${port}/`);
    expect(await answer.text(), 'named').to.equal('secret');
  });

  it('goes to no name of which any address is private', async () => {
    const { port, asked } = await serve((_, response) => response.end());
    // 127.0.0.1, and ::1 where there is IPv6.
    const fault = await faultOf(outgoing(['::1']).ask(`http://localhost:${port}/`));
    expect([fault, asked.length]).to.deep.equal(['unreachable', 0]);
  });

  it('says the same of a name that is not there and of what it may not ask, but for what the operator has listed', async () => {
    const told = new Set<string>();
    for (const url of [
      'http://127.0.0.2:9',
      'https://nowhere.invalid',
      'https://10.0.0.1',
      'https://169.254.169.254',
    ])
      await outgoing(['127.0.0.1'])
        .ask(url)
        .catch((error: Error) => told.add(error.message.replace(url, 'X')));
    expect([...told]).to.have.length(1);
    const listed = await outgoing(['127.0.0.1', 'nowhere.invalid'])
      .ask('http://127.0.0.1:9')
      .catch((error: Error) => error);
    expect(listed).to.include({
      message:
        'http://127.0.0.1:9 cannot be reached: the connection is refused; nothing listens at this port',
      reason: 'the connection is refused; nothing listens at this port (ECONNREFUSED)',
    });
    const unknown = await outgoing(['nowhere.invalid'])
      .ask('https://nowhere.invalid')
      .catch((error: Error) => error.message);
    expect(unknown).to.match(/cannot be reached: the name server (does not know this name|does not answer)$/);
  });

  it('follows three redirects, each of them checked, and takes no credentials to another host', async () => {
    const other = await serve((_, response) => response.end('there'));
    const { url, asked } = await serve((request, response) => {
      const hop = Number(request.url?.slice(1));
      const location = hop < 3 ? `/${hop + 1}` : other.url.replace('127.0.0.1', 'localhost');
      response.writeHead(302, { location }).end();
    });
    const named = outgoing(['127.0.0.1', 'localhost']);
    const headers = { authorization: 'Bearer x', cookie: 'a=b', 'x-svc-signature': 's', 'x-kept': '1' };
    expect(await (await named.ask(`${url}/1`, { headers })).text()).to.equal('there');
    expect(asked.map((one) => one.headers.authorization)).to.deep.equal(Array(3).fill('Bearer x'));
    expect(other.asked[0]?.headers)
      .to.include({ 'x-kept': '1' })
      .and.not.have.any.keys('authorization', 'cookie', 'x-svc-signature');
    expect(await faultOf(named.ask(`${url}/0`)), 'four').to.equal('redirected');
    expect(await faultOf(named.ask(`${url}/1`, { method: 'POST', body: '' })), 'a POST').to.equal(
      'redirected',
    );
  });

  it('posts on where a redirect keeps the method, as often as it is asked to, and nowhere else', async () => {
    const other = await serve((_, response) => response.writeHead(204).end());
    const { url, asked } = await serve((request, response) => {
      const [, status = '', hop = ''] = request.url?.split('/') ?? [];
      const location =
        Number(hop) > 1 ? `/${status}/${Number(hop) - 1}` : other.url.replace('127.0.0.1', 'localhost');
      response.writeHead(Number(status), { location }).end();
    });
    const named = outgoing(['127.0.0.1', 'localhost']);
    const headers = { 'x-key': 'k', 'webhook-signature': 's', 'x-svc-signature': 's', 'webhook-id': 'i' };
    const post = (path: string, redirects = 3) =>
      named.ask(`${url}${path}`, {
        ...{ method: 'POST', body: 'the text', headers, redirects, secretHeaders: ['X-Key'] },
      });
    for (const status of [307, 308]) expect((await post(`/${status}/3`)).status, `${status}`).to.equal(204);
    expect(asked.map(({ method }) => method)).to.deep.equal(Array(6).fill('POST'));
    expect(asked[2]?.headers).to.include(headers);
    expect(other.asked[0]?.headers)
      .to.include({ 'webhook-id': 'i', 'content-length': '8' })
      .and.not.have.any.keys('x-key', 'webhook-signature', 'x-svc-signature');
    expect(await faultOf(post('/307/4')), 'a fourth').to.equal('redirected');
    expect(await faultOf(post('/307/1', 0)), 'none is allowed').to.equal('redirected');
    for (const status of [301, 302, 303])
      expect(await faultOf(post(`/${status}/1`)), `${status} makes a GET of it`).to.equal('redirected');
    const inside = await serve((_, response) =>
      response.writeHead(307, { location: 'http://127.0.0.2/' }).end(),
    );
    const error = await named.ask(inside.url, { method: 'POST', redirects: 3 }).catch((thrown) => thrown);
    expect(error, 'a private address').to.include({ fault: 'unreachable', isForbidden: true });
  });

  it('knows what the policy forbids apart from what does not answer', async () => {
    const errorOf = (asking: Promise<unknown>) => asking.catch((thrown: unknown) => thrown);
    for (const url of ['http://127.0.0.2:9', 'https://10.0.0.1', 'ftp://x', 'https://a:b@example.org'])
      expect(await errorOf(outgoing().ask(url)), url).to.include({ isForbidden: true });
    expect(await errorOf(outgoing(['::1']).ask('http://localhost:9')), 'by its lookup').to.include({
      isForbidden: true,
    });
    expect(await errorOf(outgoing().ask('http://127.0.0.1:9'))).to.include({ isForbidden: false });
  });

  it('leaves a body unread where the status is enough, however long it is', async () => {
    const { url } = await serve((_, response) => response.writeHead(202).write(Buffer.alloc(100_000)));
    const answer = await outgoing().ask(url, { method: 'POST', ignoreBody: true, replyBytes: 10 });
    expect([answer.status, await answer.text()]).to.deep.equal([202, '']);
  });

  it('is not led to other places than the web', async () => {
    for (const location of [
      'file:///etc/passwd',
      'http://169.254.169.254/',
      'http://10.0.0.1/',
      'http://a:b@127.0.0.1/',
      'http://:99999',
    ]) {
      const { url } = await serve((_, response) => response.writeHead(301, { location }).end());
      expect(await faultOf(outgoing().ask(url)), location).to.be.oneOf(['unreachable', 'redirected']);
    }
  });

  it('reads no more than it should, whatever length is promised', async () => {
    const big = Buffer.alloc(2_000);
    const { url, asked } = await serve((request, response) => {
      if (request.url === '/told') response.setHeader('content-length', big.length);
      response.write(big);
      response.end();
    });
    for (const path of ['/told', '/untold'])
      expect(await faultOf(outgoing().ask(`${url}${path}`, { replyBytes: 1_999 })), path).to.equal(
        'too-large',
      );
    expect((await (await outgoing().ask(`${url}/untold`, { replyBytes: 2_000 })).text()).length).to.equal(
      2_000,
    );
    expect(asked).to.have.length(3);
  });

  it('passes a body on as it comes, and breaks it off at its limits', async () => {
    let closed = false;
    const { url } = await serve((_, response) => {
      response.write('first');
      response.on('close', () => {
        closed = true;
      });
    });
    const pieces = async (how: object) => {
      const { body } = await outgoing().ask(url, { method: 'POST', streamBody: true, ...how });
      return body?.pipeThrough(new TextDecoderStream()).getReader();
    };
    const reader = await pieces({});
    expect(await reader?.read()).to.deep.include({ value: 'first' });
    await reader?.cancel();
    await until(() => closed, { what: 'the end of the connection' });
    expect(await faultOf((await pieces({ replyBytes: 4 }))?.read() ?? Promise.resolve())).to.equal(
      'too-large',
    );
    // Long enough for the first piece to arrive on a slow machine too.
    const late = await pieces({ deadlineMs: 1_500 });
    await late?.read();
    expect(await faultOf(late?.read() ?? Promise.resolve())).to.equal('slow');
  });

  it('does not listen to the end where there is none', async () => {
    const { url } = await serve((_, response) => {
      const piece = Buffer.alloc(64 * 1024);
      const more = () => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', more);
      more();
    });
    expect(await faultOf(outgoing().ask(url))).to.equal('too-large');
  });

  it('waits no longer than it should', async () => {
    const { url } = await serve((request, response) => {
      if (request.url === '/half') response.write('{');
    });
    expect(await faultOf(outgoing().ask(`${url}/never`, { deadlineMs: 50 }))).to.equal('unreachable');
    // Long enough for the half to arrive on a slow machine too.
    expect(await faultOf(outgoing().ask(`${url}/half`, { deadlineMs: 1_500 }))).to.equal('slow');
    const signal = AbortSignal.abort();
    expect(await faultOf(outgoing().ask(`${url}/never`, { signal })), 'nobody wants it').to.equal(
      'unreachable',
    );
  });

  it('leaves the network by its proxy, which looks names up itself', async () => {
    const { url } = await serve((_, response) => response.end('through'));
    const proxy = await ForwardProxy.start();
    made.push({ close: () => proxy.stop() });
    const proxies = { http: `http://${proxy.host}`, https: `http://${proxy.host}`, except: '' };
    expect(await (await outgoing(['127.0.0.1'], proxies).ask(url)).text()).to.equal('through');
    expect(proxy.asked).to.deep.equal([`GET ${url}/`]);
    for (const private_ of [
      'http://127.0.0.2',
      'https://10.0.0.1',
      'https://metadata.google.internal',
      'http://example.org',
    ])
      expect(await faultOf(outgoing(['127.0.0.1'], proxies).ask(private_)), private_).to.equal('unreachable');
    expect(proxy.asked).to.have.length(1);
  });

  it('says what is wrong with a proxy, without its password', async () => {
    const proxies = { http: 'http://user:hunter2@', https: 'ftp://user:hunter2@x', except: '' };
    for (const asking of [
      outgoing([], proxies).ask('https://id.example'),
      outgoing([], proxies).check('https://id.example'),
    ]) {
      const error = await asking.then(
        () => null,
        (thrown: Error) => thrown,
      );
      expect(error).to.be.instanceOf(OutgoingError);
      expect(error?.message)
        .to.match(/HTTPS_PROXY/)
        .and.not.match(/hunter2/);
    }
  });

  it('is refused before an address is stored, where it always would be', async () => {
    const check = (address: string, names: string[] = []) => faultOf(outgoing(names).check(address));
    expect(await check('https://nowhere.invalid'), 'may be there later').to.equal('none');
    expect(await check('http://nowhere.invalid')).to.equal('unreachable');
    expect(await check('http://nowhere.invalid', ['nowhere.invalid'])).to.equal('none');
    expect(await check('https://localhost')).to.equal('unreachable');
    expect(await check('https://localhost', ['127.0.0.0/8', '::1'])).to.equal('none');
    expect(await check('https://10.0.0.1')).to.equal('unreachable');
  });
});
