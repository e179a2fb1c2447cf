/** GET /api/agent/config: what a node is told to run. Absence means undeploy, so nothing may be absent by accident. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { ConfigResponse } from '../../../schemas/agent/protocol.ts';
import { validator } from '../../../schemas/validate.ts';
import { enrollNode, heartbeat, type TestNode } from '../../support/agents/agent-client.ts';
import { send } from '../../support/clients/http.ts';
import { startTestController, useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { manifest, SECRET_VALUE, useTwoTeams } from '../../support/scenes/two-teams.ts';

/** Between polls: a node may poll 120 times a minute. */
const everyMs = 50;

describe('the config of a node', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  let node: TestNode;

  const read = async (from: TestNode = node) => {
    const answer = await from.config();
    expect(answer.status, answer.text).to.equal(200);
    return { answer, body: answer.json<ConfigResponse>(), etag: String(answer.headers.etag) };
  };
  const names = async (from: TestNode = node) =>
    (await read(from)).body.pipelines.map((entry) => entry.pipelineName).sort();
  const join = async (hostname: string) => {
    const { token } = await teams.root.mutate<{ token: string }>('environment.generateEnrollmentToken', {
      environmentId: teams.ours.environmentId,
    });
    return enrollNode(test.url, token, { hostname });
  };
  const changeNode = async (nodeId: string, columns: Record<string, unknown>) => {
    await test.db('nodes').where({ id: nodeId }).update(columns);
    await test.controller.systemContext('test').services.bus.publish(test.db, {
      type: 'node',
      nodeId,
      environmentId: teams.ours.environmentId,
    });
  };

  before(async function () {
    this.timeout(30_000);
    node = teams.ours.node;
  });

  it('has every field that the protocol names', async () => {
    const { answer, body } = await read();
    expect(validator(ConfigResponse).issues(body)).to.deep.equal([]);
    expect(answer.headers['content-type']).to.match(/^application\/json/);
    expect(answer.headers['cache-control']).to.equal('no-store');
    expect(body).to.deep.include({
      pollIntervalMs: 5_000,
      secretBackend: 'BUILTIN',
      sampleRequests: [],
      pendingAction: null,
      pushUrl: `${test.url}/api/agent/push`,
    });
    expect(body.configRevision).to.be.above(0);
    const [entry] = body.pipelines;
    expect(entry).to.include({
      pipelineId: teams.ours.pipelineId,
      pipelineName: 'orders',
      version: 1,
      logLevel: 'info',
    });
    expect(entry?.certFiles).to.deep.equal([]);
    expect(entry?.checksum).to.match(/^sha256:[0-9a-f]{64}$/);
  });

  it('holds the secrets that its pipelines name, as values beside the YAML and as placeholders in it', async () => {
    await teams.root.mutate('secret.create', {
      environmentId: teams.ours.environmentId,
      name: 'not_named_by_anyone',
      value: 'stays at home',
    });
    const { answer, body } = await read();
    const [entry] = body.pipelines;
    expect(entry?.secrets).to.deep.equal({ SVC_SECRET_DB_PASSWORD: SECRET_VALUE });
    expect(entry?.configYaml)
      .to.match(/\$\{SVC_SECRET_DB_PASSWORD\}/)
      .and.not.include(SECRET_VALUE);
    expect(answer.text).not.to.include('stays at home');
  });

  it('holds values of several lines as they are', async () => {
    const { environmentId, secretId } = teams.ours;
    const value = '-----BEGIN KEY-----\n"a\\b"\r\n-----END KEY-----\n';
    const before = await read();
    await teams.editor.mutate('secret.update', { environmentId, id: secretId, value });
    await until(async () => (await read()).etag !== before.etag, { what: 'a new config', everyMs });
    expect((await read()).body.pipelines[0]?.secrets.SVC_SECRET_DB_PASSWORD).to.equal(value);
  });

  it('has another checksum and the same version when a secret is rotated', async () => {
    const { environmentId, secretId } = teams.ours;
    const before = await read();
    await teams.editor.mutate('secret.update', { environmentId, id: secretId, value: 'rotated' });
    await until(async () => (await read()).etag !== before.etag, { what: 'a new config', everyMs });
    const after = await read();
    const [old, now] = [before.body.pipelines[0], after.body.pipelines[0]];
    expect(now?.secrets).to.deep.equal({ SVC_SECRET_DB_PASSWORD: 'rotated' });
    expect(now?.checksum).not.to.equal(old?.checksum);
    expect(now?.version).to.equal(old?.version);
    expect(after.body.configRevision).to.be.above(before.body.configRevision ?? 0);
    expect(test.log()).not.to.include('rotated');
  });

  it('answers 304 without a body to the ETag that it gave, and 200 to another', async () => {
    const { etag } = await read();
    const same = await node.config({ 'if-none-match': etag });
    expect(same.status).to.equal(304);
    expect(same.text).to.equal('');
    expect(same.headers.etag).to.equal(etag);
    expect((await node.config({ 'if-none-match': '"other"' })).status).to.equal(200);
  });

  it('goes with the node’s labels when a pipeline selects by them', async () => {
    const blue = await join('blue');
    const green = await join('green');
    await blue.heartbeat(heartbeat({ labels: { colour: 'blue', zone: 'a' } }));
    await green.heartbeat(heartbeat({ labels: { colour: 'green' } }));
    await teams.git.commit({
      'ours/blue.yaml': manifest('blue only', '  nodeSelector: { colour: blue }\n'),
    });
    const pushed = await teams.git.push();
    await until(async () => (await names(blue)).includes('blue only'), {
      what: `it to arrive: ${pushed.stderr}`,
      everyMs,
    });
    expect(await names(blue)).to.deep.equal(['blue only', 'orders']);
    expect(await names(green)).to.deep.equal(['orders']);

    // A change of label counts from the very next poll.
    await green.heartbeat(heartbeat({ labels: { colour: 'blue' } }));
    expect(await names(green)).to.deep.equal(['blue only', 'orders']);
    await green.heartbeat(heartbeat({ labels: {} }));
    expect(await names(green)).to.deep.equal(['orders']);

    // What people set in the UI wins over what the agent says.
    await changeNode(green.nodeId, { ui_labels: JSON.stringify({ colour: 'blue' }) });
    await until(async () => (await names(green)).includes('blue only'), {
      what: 'the label set by hand',
      everyMs,
    });
    await green.heartbeat(heartbeat({ labels: { colour: 'green' } }));
    expect(await names(green)).to.deep.equal(['blue only', 'orders']);
  });

  it('is empty in maintenance, and whole again after it', async () => {
    await changeNode(node.nodeId, { maintenance: true });
    await until(async () => (await names()).length === 0, { what: 'maintenance', everyMs });
    const { answer, body } = await read();
    expect(answer.text).to.include('"pipelines":[]');
    expect(body.pollIntervalMs).to.equal(5_000);
    expect((await node.heartbeat(heartbeat())).status, 'heartbeats go on').to.equal(200);
    await changeNode(node.nodeId, { maintenance: false });
    await until(async () => (await names()).length > 0, { what: 'the end of maintenance', everyMs });
  });

  it('holds nothing of another environment', async () => {
    const { body } = await read(teams.theirs.node);
    expect(body.pipelines.map((entry) => entry.pipelineId)).to.deep.equal([teams.theirs.pipelineId]);
  });

  it('loses a pipeline when it leaves git, and nothing else', async () => {
    await teams.git.commit({ 'ours/brief.yaml': manifest('brief') });
    await teams.git.push();
    await until(async () => (await names()).includes('brief'), { what: 'the new pipeline', everyMs });
    await teams.git.commit({ 'ours/brief.yaml': null });
    const pushed = await teams.git.push();
    await until(async () => !(await names()).includes('brief'), {
      what: `it to go: ${pushed.stderr}`,
      everyMs,
    });
    expect(await names()).to.deep.equal(['orders']);
  });

  it('serves the last good rendering while the store of secrets is away, and never a shorter list', async () => {
    const before = await read();
    const { environmentId } = teams.ours;
    const { bus } = test.controller.systemContext('test').services;
    await test.db.raw('ALTER TABLE secrets RENAME TO secrets_away');
    try {
      const logged = test.log().length;
      await bus.publish(test.db, { type: 'config', environmentId, reason: 'test' });
      await until(
        async () => (await read()) && test.log().slice(logged).includes('the last good one is served'),
        {
          what: 'the failure to be noticed',
          everyMs,
        },
      );
      expect((await read()).body.pipelines).to.deep.equal(before.body.pipelines);
    } finally {
      await test.db.raw('ALTER TABLE secrets_away RENAME TO secrets');
    }
  });

  it('answers 503 and no config where nothing was ever rendered', async () => {
    const own = await startTestController();
    try {
      const root = await own.root();
      const team = await root.mutate<{ id: string }>('team.create', { name: 'T' });
      const made = await root.mutate<{ id: string }>('environment.create', { name: 'E', teamId: team.id });
      const { token } = await root.mutate<{ token: string }>('environment.generateEnrollmentToken', {
        environmentId: made.id,
      });
      const fresh = await enrollNode(own.url, token);
      await own.db.raw('ALTER TABLE secrets RENAME TO secrets_away');
      const answer = await fresh.config();
      expect(answer.status).to.equal(503);
      expect(answer.text).not.to.include('pipelines');
      await own.db.raw('ALTER TABLE secrets_away RENAME TO secrets');
      expect((await fresh.config()).status).to.equal(200);
    } finally {
      await own.stop();
    }
  });

  describe('without a valid token', () => {
    const ask = (authorization?: string) =>
      send(`${test.url}/api/agent/config`, { headers: authorization ? { authorization } : {} });

    it('is refused with 401', async () => {
      const { nodeToken } = node;
      const forged = nodeToken.replace(/[0-9a-f]{64}$/, 'f'.repeat(64));
      for (const value of [
        undefined,
        'Bearer',
        'Bearer ',
        'Bearer x',
        `Basic ${nodeToken}`,
        nodeToken,
        `Bearer ${forged}`,
      ]) {
        const answer = await ask(value);
        expect(answer.status, value?.slice(0, 12)).to.equal(401);
        expect(answer.json()).to.deep.equal({ error: 'The node token is not known' });
      }
    });

    it('is refused with 401 and NODE_REVOKED at once when the node is revoked', async () => {
      const revoked = await join('revoked');
      expect((await revoked.config()).status).to.equal(200);
      await changeNode(revoked.nodeId, { token_revoked_at: new Date() });
      await until(async () => (await revoked.config()).status === 401, {
        what: 'the revocation',
        timeoutMs: 1_000,
      });
      for (const answer of [await revoked.config(), await revoked.heartbeat(heartbeat())]) {
        expect(answer.status).to.equal(401);
        expect(answer.json()).to.include({ code: 'NODE_REVOKED' });
        expect(answer.json().error).to.include('node-token').and.include('SVC_TOKEN');
      }
      expect((await revoked.push()).status).to.equal(401);
    });

    it('is refused to a node that was deleted', async () => {
      const gone = await join('gone');
      expect((await gone.config()).status).to.equal(200);
      await test.db('nodes').where({ id: gone.nodeId }).delete();
      await changeNode(gone.nodeId, { name: 'nothing' });
      await until(async () => (await gone.config()).status === 401, {
        what: 'the deletion',
        timeoutMs: 1_000,
      });
    });
  });

  it('answers 429 with Retry-After after 120 polls in a minute', async () => {
    const busy = await join('busy');
    const answers = await Promise.all(Array.from({ length: 125 }, () => busy.config()));
    expect(answers.filter((answer) => answer.status === 200).length).to.equal(120);
    const refused = answers.find((answer) => answer.status === 429);
    expect(Number(refused?.headers['retry-after'])).to.be.within(1, 60);
    expect((await busy.heartbeat(heartbeat())).status, 'heartbeats count apart').to.equal(200);
  });

  it('has the drain time where one is set, and else the checksum of before there was one', async () => {
    const spec = manifest('drains');
    await teams.git.commit({
      'ours/drains.yaml': spec.replace('spec:', 'spec:\n  drainSeconds: 60'),
      'ours/drains-not.yaml': manifest('drains-not'),
    });
    await teams.git.push();
    const entryOf = async (name: string) =>
      (await read()).body.pipelines.find(({ pipelineName }) => pipelineName === name);
    await until(async () => Boolean((await entryOf('drains')) && (await entryOf('drains-not'))), {
      what: 'both are served',
      everyMs,
    });
    const [with60, without] = [await entryOf('drains'), await entryOf('drains-not')];
    expect(with60?.drainSeconds).to.equal(60);
    expect(without).not.to.have.property('drainSeconds');
    const hashOf = (...more: unknown[]) => {
      const content = [without?.configYaml, Object.entries(without?.secrets ?? {}), 'info', [], ...more];
      return `sha256:${createHash('sha256').update(JSON.stringify(content)).digest('hex')}`;
    };
    expect(without?.checksum).to.equal(hashOf());
    expect(with60?.checksum).to.equal(hashOf(60));
  });
});
