/** POST /api/agent/enroll: how a node joins, and what keeps it out. */
import { expect } from 'chai';
import { enrollRequest, tryEnroll } from '../../support/agents/agent-client.ts';
import { send } from '../../support/clients/http.ts';
import { startTestController, useController, useRoot } from '../../support/harness/controller.ts';
import { testEnvironment } from '../../support/scenes/two-teams.ts';

describe('enrollment', () => {
  const test = useController();
  const root = useRoot(test);
  let environments = 0;

  const fresh = async (limits: { maxUses?: number; expiresInHours?: number } = {}) => {
    const place = await testEnvironment(root, `place ${++environments}`);
    const { token, id } = await root.mutate<{ token: string; id: string }>(
      'environment.generateEnrollmentToken',
      {
        environmentId: place.environmentId,
        ...limits,
      },
    );
    return { ...place, token, tokenId: id, name: `place ${environments}` };
  };
  const enroll = (token: string, more = {}) => tryEnroll(test.url, enrollRequest(token, more));

  it('answers with the node, its token and the environment, and nothing else', async () => {
    const { token, environmentId, name } = await fresh();
    const answer = await enroll(token, { hostname: 'web-1', labels: { zone: 'a' }, channel: 'dev' });
    expect(answer.status).to.equal(200);
    expect(answer.headers['content-type']).to.match(/^application\/json/);
    const body = answer.json<Record<string, string>>();
    expect(Object.keys(body).sort()).to.deep.equal([
      'environmentId',
      'environmentName',
      'nodeId',
      'nodeToken',
    ]);
    expect(body).to.include({ environmentId, environmentName: name });
    expect(body.nodeToken).to.match(/^hgn_[0-9a-z]{26}_[0-9a-f]{64}$/);
    const node = await root.query('fleet.get', { id: body.nodeId });
    expect(node).to.include({ name: 'web-1', host: 'web-1', os: 'linux/x64', status: 'UNKNOWN' });
    const row = await test.db('nodes').where({ id: body.nodeId }).first();
    expect(row.channel).to.equal('dev');
    expect(JSON.stringify(row)).not.to.include(body.nodeToken?.slice(-64));
  });

  it('makes a new node each time, also for the same host', async () => {
    const { token } = await fresh();
    const [first, second] = [await enroll(token), await enroll(token)];
    expect(first.json().nodeId).not.to.equal(second.json().nodeId);
  });

  it('takes over a node of that host that somebody made and that was never seen', async () => {
    const { token, environmentId } = await fresh();
    await test
      .db('nodes')
      .insert({ id: 'made-by-hand', environment_id: environmentId, name: 'Edge', host: 'edge-1' });
    expect((await enroll(token, { hostname: 'edge-1' })).json().nodeId).to.equal('made-by-hand');
    expect((await enroll(token, { hostname: 'edge-1' })).json().nodeId).not.to.equal('made-by-hand');
  });

  it('leaves an audit row that names the node and the token’s id, not the token', async () => {
    const { token, tokenId } = await fresh();
    const { nodeId } = (await enroll(token)).json();
    const row = await test.db('audit_log').where({ action: 'node.enrolled', entity_id: nodeId }).first();
    expect(row).to.include({ actor_type: 'system', entity_type: 'Node', ip_address: '127.0.0.1' });
    expect(row.metadata).to.deep.equal({ hostname: 'node-1', enrollmentTokenId: tokenId });
  });

  it('answers 400 to what is wrong in a request, and tells where', async () => {
    const BAD: Record<string, unknown[]> = {
      token: [undefined, 7],
      hostname: ['x'.repeat(300), 'a\0b', 'a\ud800b', 'a\nb'],
      os: ['linux\0/x64'],
      channel: ['nightly'],
      labels: [{ a: 1 }],
    };
    const { token } = await fresh();
    for (const [names, values] of Object.entries(BAD))
      for (const value of values) {
        const answer = await enroll(token, { [names]: value });
        expect(answer.status, answer.text).to.equal(400);
        const body = answer.json<{ error: string; details: { path: string; message: string }[] }>();
        expect(body.error).to.include(names);
        expect(body.details[0]?.path).to.include(names);
      }
    for (const body of ['{"token":', '', 'null', '[]']) {
      const answer = await send(`${test.url}/api/agent/enroll`, { method: 'POST', body });
      expect(answer.status, body).to.equal(400);
      expect(answer.json().error).to.be.a('string');
    }
  });

  it('answers 401 to tokens that are not known, not ours, or changed', async () => {
    const { token } = await fresh();
    const wrong = [
      'nonsense',
      token.slice(0, -1),
      token.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      token.replace(/_[0-9a-z]{26}_/, '_01arz3ndektsv4rrffq69g5fav_'),
      token.replace('hge', 'hgn'),
    ];
    for (const bad of wrong) {
      const answer = await enroll(bad);
      expect(answer.status).to.equal(401);
      expect(answer.json().error).to.include('generate a new one');
      expect(answer.text).not.to.include(bad);
    }
  });

  it('answers 401 to a token that has expired', async () => {
    const { token, tokenId } = await fresh({ expiresInHours: 1 });
    expect((await enroll(token)).status).to.equal(200);
    await test
      .db('enrollment_tokens')
      .where({ id: tokenId })
      .update({ expires_at: new Date(Date.now() - 1) });
    const answer = await enroll(token);
    expect(answer.status).to.equal(401);
    expect(answer.json().error).to.include('expired');
  });

  it('answers 403 to a token that a newer one replaced', async () => {
    const { token, environmentId } = await fresh();
    await root.mutate('environment.generateEnrollmentToken', { environmentId });
    const answer = await enroll(token);
    expect(answer.status).to.equal(403);
    expect(answer.json().error).to.include('revoked');
  });

  it('answers 403 to a token that is used up', async () => {
    const { token } = await fresh({ maxUses: 1 });
    expect((await enroll(token)).status).to.equal(200);
    const answer = await enroll(token);
    expect(answer.status).to.equal(403);
    expect(answer.json().error).to.include('used up');
  });

  it('answers 403 where the environment has all the nodes that it may have', async () => {
    const { token, environmentId } = await fresh();
    await test.db('environments').where({ id: environmentId }).update({ max_nodes: 1 });
    expect((await enroll(token)).status).to.equal(200);
    const answer = await enroll(token);
    expect(answer.status).to.equal(403);
    expect(answer.json().error).to.include('limit of 1 node');
  });

  it('lets exactly ten of twenty in at the same moment, with a token for ten', async () => {
    const { token, environmentId } = await fresh({ maxUses: 10 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => enroll(token, { hostname: `node-${index}` })),
    );
    const statuses = answers.map((answer) => answer.status).sort();
    expect(statuses).to.deep.equal([...Array(10).fill(200), ...Array(10).fill(403)]);
    expect(await test.db('nodes').where({ environment_id: environmentId })).to.have.length(10);
    const environment = await root.query<{ enrollmentToken: { uses: number } }>('environment.get', {
      id: environmentId,
    });
    expect(environment.enrollmentToken.uses).to.equal(10);
  });

  it('answers 404 in JSON to other agent paths, and to other methods', async () => {
    for (const [method, path] of [
      ['GET', 'enroll'],
      ['POST', 'config'],
      ['GET', 'nope'],
      ['DELETE', 'heartbeat'],
    ]) {
      const answer = await send(`${test.url}/api/agent/${path}`, { method: method ?? '' });
      expect(answer.status).to.equal(404);
      expect(answer.json().error).to.be.a('string');
    }
  });

  it('answers 429 with Retry-After to more than the allowed number of one address', async () => {
    const own = await startTestController({ enrollPerMinute: 3 });
    try {
      const statuses: number[] = [];
      for (let attempt = 0; attempt < 4; attempt += 1) {
        const answer = await tryEnroll(own.url, enrollRequest('nonsense'));
        statuses.push(answer.status);
        if (answer.status === 429) expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
      }
      expect(statuses).to.deep.equal([401, 401, 401, 429]);
    } finally {
      await own.stop();
    }
  });
});
