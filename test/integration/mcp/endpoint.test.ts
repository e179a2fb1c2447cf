/** `/mcp` before any tool: who may ask, how much, and in which form. */
import { expect } from 'chai';
import { send } from '../../support/clients/http.ts';
import { agentToken } from '../../support/clients/mcp-client.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { use } from '../../support/harness/use.ts';
import { signUp } from '../../support/users/person.ts';

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
const ACCEPT = { accept: 'application/json, text/event-stream' };

describe('the endpoint of agents', () => {
  const test = useController();
  const root = useRoot(test);
  const tokens = use(async () => ({ agent: await agentToken(root), git: await agentToken(root, ['git']) }));

  const ask = (headers: Record<string, string>, body: unknown = LIST, path = '/mcp') =>
    send(`${test.url}${path}`, { method: 'POST', headers: { ...ACCEPT, ...headers }, body });
  const withToken = (token: string) => ({ authorization: `Bearer ${token}` });

  it('asks for a bearer token, and takes no cookie and no token that is not known', async () => {
    const foreign = `${tokens.agent.slice(0, -4)}AAAA`;
    for (const headers of [
      {},
      { cookie: root.cookie },
      withToken('hgp_wrong'),
      withToken(foreign),
      { authorization: 'Basic eDp5' },
    ]) {
      const answer = await ask(headers as Record<string, string>);
      expect(answer.status).to.equal(401);
      expect(answer.headers['www-authenticate']).to.equal('Bearer realm="Headgate"');
      expect(answer.json().error).to.have.property('message').that.matches(/token/);
    }
  });

  it('refuses a token for git, as git refuses one for agents', async () => {
    const answer = await ask(withToken(tokens.git));
    expect([answer.status, answer.text]).to.deep.equal([
      403,
      '{"jsonrpc":"2.0","error":{"code":-32000,"message":"This personal token is for git: create one for agents in your account"},"id":null}',
    ]);
    const basic = `Basic ${Buffer.from(`x:${tokens.agent}`).toString('base64')}`;
    const clone = await send(`${test.controller.cloneUrl}/info/refs?service=git-upload-pack`, {
      headers: { authorization: basic },
    });
    expect(clone.status).to.equal(403);
    expect(clone.text).to.include('is for agents, not for git');
  });

  it('ends with its token', async () => {
    const person = await signUp(test, { email: 'agent-owner@example.org' });
    const token = await agentToken(person);
    expect((await ask(withToken(token))).status).to.equal(200);
    const [{ id }] = await person.query<[{ id: string }]>('user.listTokens');
    await person.mutate('user.deleteToken', { id });
    expect((await ask(withToken(token))).status).to.equal(401);
  });

  it('answers no page of another site, also where DNS points its name here', async () => {
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'http://evil.example', host: 'evil.example' },
      { 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of foreign)
      expect((await ask({ ...withToken(tokens.agent), ...headers })).status).to.equal(403);
    const { origin } = new URL(test.controller.url);
    expect((await ask({ ...withToken(tokens.agent), origin })).status).to.equal(200);
  });

  it('has no sessions to end and no streams to read', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const answer = await send(`${test.url}/mcp`, { method, headers: withToken(tokens.agent) });
      expect([answer.status, answer.headers.allow], method).to.deep.equal([405, 'POST']);
    }
  });

  it('takes JSON of a bounded size and a bounded number of messages, and lists that there are', async () => {
    const token = withToken(tokens.agent);
    expect((await ask({ ...token, 'content-type': 'text/plain' }, JSON.stringify(LIST))).status).to.equal(
      415,
    );
    expect((await ask({ ...token, 'content-type': 'application/json' }, '{')).status).to.equal(400);
    const large = { ...LIST, params: { cursor: 'x'.repeat(4 * 1024 * 1024) } };
    expect((await ask(token, large)).status).to.equal(413);
    const batch = await ask(
      token,
      Array.from({ length: 21 }, () => LIST),
    );
    expect([batch.status, batch.text]).to.deep.equal([
      400,
      '{"jsonrpc":"2.0","error":{"code":-32000,"message":"A batch has at most 20 messages"},"id":null}',
    ]);
    const unknown = await ask(token, LIST, '/mcp?tools=pipelines,nothing');
    expect(unknown.status).to.equal(400);
    expect(unknown.text).to.include('tools=nothing is not known; there are core, pipelines, fleet');
  });

  it('answers with JSON that is not stored, and opens no subscriptions', async () => {
    const answer = await ask(withToken(tokens.agent));
    expect(answer.headers['content-type']).to.match(/^application\/json/);
    expect(answer.headers['cache-control']).to.equal('no-store');
    const version = '2026-07-28';
    const listen = await ask(
      { ...withToken(tokens.agent), 'mcp-protocol-version': version, 'mcp-method': 'subscriptions/listen' },
      {
        ...{ jsonrpc: '2.0', id: 2, method: 'subscriptions/listen' },
        params: {
          notifications: { toolsListChanged: true },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': version,
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      },
    );
    expect(listen.json()).to.have.property('error');
  });

  it('takes 600 requests a minute of one token, and says when there are more', async () => {
    const person = await signUp(test, { email: 'many@example.org' });
    const token = withToken(await agentToken(person));
    const batch = Array.from({ length: 20 }, () => ({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    for (let n = 0; n < 30; n += 1) expect((await ask(token, batch)).status).to.equal(202);
    const answer = await ask(token);
    expect(answer.status).to.equal(429);
    expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
    expect((await ask(withToken(tokens.agent))).status).to.equal(200);
  });
});
