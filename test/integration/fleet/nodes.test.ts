/** Nodes that people make, name, label, revoke and delete: what agents and pages see of it. */
import { expect } from 'chai';
import { fleetOperations } from '../../../controller/fleet/index.ts';
import type { FleetNode, NodeSummary } from '../../../schemas/api/fleet/fleet.ts';
import {
  enrollNode,
  enrollRequest,
  heartbeat,
  type TestNode,
  tryEnroll,
} from '../../support/agents/agent-client.ts';
import { type OpenStream, openStream } from '../../support/clients/http.ts';
import { startTestController, type TestController, useController } from '../../support/harness/controller.ts';
import { countStatements } from '../../support/harness/statements.ts';
import { until } from '../../support/harness/until.ts';
import { ONE_OF_TEN, refusal, tenAtOnce, useTestEnvironments } from '../../support/scenes/places.ts';

describe('nodes', () => {
  const test = useController();
  const places = useTestEnvironments(test);
  let token: string;
  let made = 0;

  before(async () => {
    token = await enrollmentToken();
  });

  const enrollmentToken = async (environmentId = places.environmentId) =>
    (await places.root.mutate<{ token: string }>('environment.generateEnrollmentToken', { environmentId }))
      .token;
  const create = (more: object = {}) =>
    places.editor.mutate<NodeSummary>('fleet.create', {
      ...{ environmentId: places.environmentId, name: `node ${++made}`, host: `host-${made}` },
      ...more,
    });
  const join = (hostname = `joined-${++made}`) => enrollNode(test.url, token, { hostname });
  const see = (id: string) => places.viewer.query<FleetNode>('fleet.get', { id });
  const audit = (action: string, id: string) =>
    test.db('audit_log').where({ action, entity_id: id }).orderBy('created_at').select('diff', 'metadata');
  const seen = (id: string, what: string, holds: (node: FleetNode) => boolean) =>
    until(async () => holds(await see(id)), { what });

  describe('made by hand', () => {
    it('wait for their host, whose agent takes them over with their name and labels', async () => {
      const node = await create({ name: '  Edge 1 ', host: 'edge-1', apiPort: 8_686 });
      expect(node).to.include({ name: 'Edge 1', host: 'edge-1', status: 'UNKNOWN', revoked: false });
      expect(node).to.include({ enrolledAt: null, updateTo: null, channel: 'stable' });
      expect(await see(node.id)).to.deep.include({ apiPort: 8_686, pendingUpdate: null, failedUpdates: [] });
      expect(await audit('node.created', node.id)).to.deep.equal([
        { diff: null, metadata: { name: 'Edge 1', host: 'edge-1' } },
      ]);
      await places.editor.mutate('fleet.update', { id: node.id, labels: { zone: 'a' } });
      const joined = await enrollNode(test.url, token, { hostname: 'edge-1', channel: 'dev' });
      expect(joined.nodeId).to.equal(node.id);
      await joined.heartbeat(heartbeat({ labels: { zone: 'b', role: 'edge' } }));
      await seen(node.id, 'the heartbeat', ({ status }) => status === 'HEALTHY');
      expect(await see(node.id)).to.deep.include({
        ...{ name: 'Edge 1', channel: 'dev', apiPort: 8_686 },
        labels: { zone: 'a', role: 'edge' },
      });
    });

    it('are one for a host while it waits, and may share names with others', async () => {
      const first = await create({ name: 'Twin', host: 'twin-1' });
      const input = { environmentId: places.environmentId, name: 'Twin', host: 'twin-1' };
      expect(await refusal(places.editor, 'mutation', 'fleet.create', input)).to.match(
        /^CONFLICT: .*twin-1.*start its agent, or delete/,
      );
      await enrollNode(test.url, token, { hostname: 'twin-1' });
      expect((await create({ name: 'Twin', host: 'twin-1' })).id).not.to.equal(first.id);
      expect((await create({ name: 'Twin', host: 'twin-2' })).name).to.equal('Twin');
    });

    it('are one of ten that are made for a host at once', async () => {
      const input = { environmentId: places.environmentId, name: 'Crowd', host: 'crowd' };
      expect(await tenAtOnce(() => places.editor.call('mutation', 'fleet.create', input))).to.deep.equal(
        ONE_OF_TEN,
      );
    });

    it('count against the limit of the environment, and their agents do not count again', async () => {
      const environmentId = places.siblingId;
      await places.admin.mutate('environment.update', { id: environmentId, maxNodes: 4 });
      const own = await enrollmentToken(environmentId);
      const waiting = await create({ environmentId, host: 'limited' });
      const creating = Array.from({ length: 6 }, (_, n) =>
        places.editor.call('mutation', 'fleet.create', { environmentId, name: 'many', host: `many-${n}` }),
      );
      const enrolling = Array.from({ length: 6 }, (_, n) =>
        tryEnroll(test.url, enrollRequest(own, { hostname: `also-${n}` })),
      );
      const statuses = (await Promise.all([...creating, ...enrolling])).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).to.have.length(3);
      expect(
        statuses.every((status) => [200, 403, 412].includes(status)),
        statuses.join(),
      ).to.equal(true);
      const full = { environmentId, name: 'one more', host: 'one-more' };
      expect(await refusal(places.editor, 'mutation', 'fleet.create', full)).to.include('limit of 4 nodes');
      const adopted = await enrollNode(test.url, own, { hostname: 'limited' });
      expect(adopted.nodeId).to.equal(waiting.id);
    });

    for (const { reason, more } of [
      { reason: 'a host with a space', more: { host: 'a b' } },
      { reason: 'an empty host', more: { host: '' } },
      { reason: 'a name that is not seen', more: { name: ' \u200b ' } },
      { reason: 'a port that is none', more: { apiPort: 70_000 } },
    ]) {
      it(`are refused with ${reason}`, async () => {
        const input = { environmentId: places.environmentId, name: 'x', host: 'x', ...more };
        expect(await refusal(places.editor, 'mutation', 'fleet.create', input)).to.match(/^BAD_REQUEST/);
      });
    }
  });

  describe('labelled', () => {
    it('replace all labels that were set before, tell the agent, and leave the difference', async () => {
      const node = await join();
      await node.heartbeat(heartbeat({ labels: { zone: 'a', role: 'edge' } }));
      await seen(node.nodeId, 'the heartbeat', ({ status }) => status === 'HEALTHY');
      const before = (await node.config()).json<{ configRevision: number }>().configRevision;
      const stream = await node.push();
      try {
        await until(() => stream.text() !== '', { what: 'the stream' });
        const update = (labels: object) => places.editor.mutate('fleet.update', { id: node.nodeId, labels });
        await update({ zone: 'b', tier: '1' });
        await until(() => stream.events('config_changed').length > 0, { what: 'the agent to be told' });
        await update({ tier: '2' });
      } finally {
        stream.close();
      }
      const view = await see(node.nodeId);
      expect(view.uiLabels).to.deep.equal({ tier: '2' });
      expect(view.labels).to.deep.equal({ zone: 'a', role: 'edge', tier: '2' });
      expect(view.labelSources).to.deep.equal({ zone: 'agent', role: 'agent', tier: 'ui' });
      expect((await audit('node.updated', node.nodeId)).map(({ diff }) => diff)).to.deep.equal([
        { labels: [{}, { zone: 'b', tier: '1' }] },
        { labels: [{ zone: 'b', tier: '1' }, { tier: '2' }] },
      ]);
      const revision = async () => (await node.config()).json<{ configRevision: number }>().configRevision;
      await until(async () => (await revision()) >= before + 2, { what: 'two changes of the config' });
    });

    it('change nothing where they are the same, in whatever order', async () => {
      const { id } = await create();
      const labels = { b: '1', aa: '2', c: '3' };
      await places.editor.mutate('fleet.update', { id, labels });
      const revision = async () => (await test.db('nodes').where({ id }).first()).config_revision;
      const before = await revision();
      await places.editor.mutate('fleet.update', { id, labels: { c: '3', aa: '2', b: '1' } });
      expect(await revision()).to.equal(before);
      expect((await audit('node.updated', id)).at(-1)?.diff).to.equal(null);
    });

    it('join and leave groups at once', async () => {
      const { id: groupId } = await places.admin.mutate<{ id: string }>('nodeGroup.create', {
        ...{ environmentId: places.environmentId, name: 'Canaries', criteria: { ring: 'canary' } },
        labelTemplate: { speed: 'fast' },
      });
      const { id } = await create();
      const groups = async () => (await see(id)).groups.map((group) => group.id);
      expect(await groups()).to.deep.equal([]);
      await places.editor.mutate('fleet.update', { id, labels: { ring: 'canary' } });
      expect(await groups()).to.deep.equal([groupId]);
      expect((await see(id)).labels).to.deep.equal({ ring: 'canary', speed: 'fast' });
      await places.editor.mutate('fleet.update', { id, labels: {} });
      expect((await see(id)).labels).to.deep.equal({});
    });

    for (const [reason, labels] of [
      ['a key with =', { 'a=b': 'c' }],
      ['an empty key', { '': 'c' }],
      ['a key that begins with a space', { ' a': 'c' }],
      ['a key without end', { ['k'.repeat(129)]: 'c' }],
      ['a value that is a number', { a: 1 }],
      ['a value without end', { a: 'x'.repeat(257) }],
      ['65 of them', Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`k${n}`, '']))],
    ] as const) {
      it(`are refused with ${reason}`, async () => {
        const { id } = await create();
        expect(await refusal(places.editor, 'mutation', 'fleet.update', { id, labels })).to.match(
          /^BAD_REQUEST: .*labels/,
        );
      });
    }

    it('may be named like members of every object', async () => {
      const { id } = await create();
      const labels = { constructor: 'x', prototype: 'y', toString: 'z' };
      await places.editor.mutate('fleet.update', { id, labels });
      expect((await see(id)).uiLabels).to.deep.equal(labels);
    });
  });

  describe('in maintenance', () => {
    it('are healthy as long as they are heard', async () => {
      const node = await join();
      await places.editor.mutate('fleet.setMaintenance', { nodeId: node.nodeId, enabled: true });
      expect((await node.config()).json<{ pipelines: unknown[] }>().pipelines).to.deep.equal([]);
      await node.heartbeat(heartbeat());
      await seen(node.nodeId, 'the heartbeat', ({ status }) => status === 'HEALTHY');
      expect(await see(node.nodeId)).to.include({ maintenance: true, statusReason: '', pipelinesDesired: 0 });
    });
  });

  describe('deleted', () => {
    it('are gone with their reports, and their agent is refused', async () => {
      const node = await join();
      await node.heartbeat(heartbeat());
      await seen(node.nodeId, 'the heartbeat', ({ status }) => status === 'HEALTHY');
      const answer = await places.editor.mutate('fleet.delete', { id: node.nodeId });
      expect(answer).to.include({ deleted: true, id: node.nodeId });
      expect(await refusal(places.viewer, 'query', 'fleet.get', { id: node.nodeId })).to.match(/^NOT_FOUND/);
      expect(await test.db('node_reports').where({ node_id: node.nodeId })).to.have.length(0);
      await until(async () => (await node.config()).status === 401, {
        what: 'the refusal',
        timeoutMs: 1_000,
      });
      expect((await node.heartbeat(heartbeat())).status).to.equal(401);
      expect(await test.db('nodes').where({ id: node.nodeId })).to.have.length(0);
      expect(await audit('node.deleted', node.nodeId)).to.have.length(1);
    });

    it('are deleted once, by one of ten at once', async () => {
      const { id } = await create();
      const statuses = await tenAtOnce(() => places.editor.call('mutation', 'fleet.delete', { id }));
      expect(statuses.filter((status) => status === 200)).to.have.length(1);
      expect(new Set(statuses)).to.deep.equal(new Set([200, 404]));
      expect(await audit('node.deleted', id)).to.have.length(1);
    });

    it('do not come back by heartbeats that were on their way', async () => {
      const node = await join();
      const beats = Array.from({ length: 20 }, () => node.heartbeat(heartbeat()));
      await places.editor.mutate('fleet.delete', { id: node.nodeId });
      expect((await Promise.all(beats)).every(({ status }) => [200, 401].includes(status))).to.equal(true);
      expect(await test.db('nodes').where({ id: node.nodeId })).to.have.length(0);
      expect(await test.db('node_reports').where({ node_id: node.nodeId })).to.have.length(0);
    });
  });

  describe('revoked', () => {
    it('say so with what to do, answer the same again, and leave one difference', async () => {
      const node = await join('leaky');
      await node.heartbeat(heartbeat());
      await seen(node.nodeId, 'the heartbeat', ({ status }) => status === 'HEALTHY');
      for (const _ of [1, 2]) {
        const answer = await places.admin.mutate('fleet.revokeNode', { id: node.nodeId });
        expect(answer).to.deep.equal({
          id: node.nodeId,
          name: 'leaky',
          revoked: true,
        });
      }
      const view = await see(node.nodeId);
      expect(view).to.include({ revoked: true, status: 'UNREACHABLE' });
      expect(view.statusReason).to.include('token was revoked').and.include('SVC_TOKEN');
      expect((await audit('node.revoked', node.nodeId)).filter(({ diff }) => diff)).to.have.length(1);
      await until(async () => (await node.config()).status === 401, {
        what: 'the refusal',
        timeoutMs: 1_000,
      });
      expect((await node.heartbeat(heartbeat())).json()).to.include({ code: 'NODE_REVOKED' });
    });

    it('stay as they are when their host enrolls again, as a new node', async () => {
      const node = await join('comes-back');
      await places.admin.mutate('fleet.revokeNode', { id: node.nodeId });
      const again = await join('comes-back');
      expect(again.nodeId).not.to.equal(node.nodeId);
      expect((await again.config()).status).to.equal(200);
      expect((await see(node.nodeId)).revoked).to.equal(true);
    });

    it('have enrolled before: one that waits for its host has no token', async () => {
      const { id } = await create();
      expect(await refusal(places.admin, 'mutation', 'fleet.revokeNode', { id })).to.match(
        /^PRECONDITION_FAILED: .*delete it instead/,
      );
    });
  });

  describe('with a stream at one of two controllers', function () {
    this.timeout(30_000);
    let second: TestController;
    const open: OpenStream[] = [];

    before(async () => {
      const { secretKey } = test.config;
      second = await startTestController({
        ...{ secretKey, databaseUrl: test.databaseUrl, dataDir: test.config.dataDir },
      });
    });
    afterEach(() => {
      for (const stream of open.splice(0)) stream.close();
    });
    after(() => second?.stop());

    async function connect(url: string, node: TestNode): Promise<OpenStream> {
      const authorization = `Bearer ${node.nodeToken}`;
      const stream = await openStream(`${url}/api/agent/push`, { authorization });
      open.push(stream);
      await until(() => stream.text() !== '', { what: 'the stream' });
      return stream;
    }

    for (const [procedure, person] of [
      ['fleet.revokeNode', 'admin'],
      ['fleet.delete', 'editor'],
    ] as const) {
      it(`lose it within a moment of ${procedure}, whichever has it, and no other node does`, async () => {
        for (const at of [test, second]) {
          const [node, other] = [await join(), await join()];
          const [stream, others] = [await connect(at.url, node), await connect(at.url, other)];
          await places[person].mutate(procedure, { id: node.nodeId });
          await until(() => stream.ended(), { what: `the stream to end at ${at.url}`, timeoutMs: 1_500 });
          expect(stream.whole()).to.equal(true);
          expect(others.ended()).to.equal(false);
        }
      });
    }

    it('keep it when they are changed', async () => {
      const node = await join();
      const stream = await connect(second.url, node);
      await places.editor.mutate('fleet.update', { id: node.nodeId, labels: { zone: 'z' } });
      await until(() => stream.events('config_changed').length > 0, { what: 'the change' });
      expect(stream.ended()).to.equal(false);
      await until(async () => (await node.config()).status === 200, { what: 'the config' });
    });
  });

  it('are read in as many statements as before, however many there are', async () => {
    const { teamId, siblingId } = places;
    const count = (environmentId: string) =>
      countStatements(test, { [teamId]: 'VIEWER' }, fleetOperations.list, { environmentId });
    expect(await count(places.environmentId)).to.equal(await count(siblingId));
  });
});
