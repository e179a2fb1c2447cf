/** Live taps: started by people, run by nodes, watched through one controller or across two. */
import { expect } from 'chai';
import { maintainTaps } from '../../../controller/fleet/samples/index.ts';
import type { TapEnded, TapEvents } from '../../../schemas/api/fleet/samples.ts';
import type { TestNode } from '../../support/agents/agent-client.ts';
import { type OpenStream, openStream, send } from '../../support/clients/http.ts';
import { type TestController, useController, useReplica } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { enrollmentToken, refusal, tenAtOnce } from '../../support/scenes/places.ts';
import { report, useSampled } from '../../support/scenes/sampled.ts';
import { signIn, type TestUser } from '../../support/users/person.ts';

interface Started {
  tapId: string;
  nodeId: string;
  endsAt: string;
}

describe('live taps', () => {
  const test = useController();
  const second = useReplica(test);
  const at = useSampled(test);
  const open: OpenStream[] = [];

  beforeEach(async () => {
    await test.db('taps').delete();
    await test.db('tap_batches').delete();
    await report(test, at.node, at.pipelineId);
  });
  afterEach(() => {
    for (const stream of open.splice(0)) stream.close();
  });

  const start = (componentKey = 'lines', person: TestUser = at.editor) =>
    person.mutate<Started>('pipeline.startTap', { pipelineId: at.pipelineId, componentKey });
  const tryStart = (componentKey: string, more: object = {}, person: TestUser = at.editor) =>
    refusal(person, 'mutation', 'pipeline.startTap', { pipelineId: at.pipelineId, componentKey, ...more });
  const watch = async (tapId: string, person: TestUser = at.editor, on: TestController = test) => {
    const stream = await openStream(`${on.url}/api/taps/${tapId}`, { cookie: person.cookie });
    open.push(stream);
    if (stream.status === 200) await until(() => stream.text() !== '', { what: 'the first words' });
    return stream;
  };
  const eventsOf = (stream: OpenStream) => stream.events<TapEvents>('events').flatMap(({ events }) => events);
  const droppedOf = (stream: OpenStream) =>
    stream.events<TapEvents>('events').reduce((sum, { dropped }) => sum + dropped, 0);
  const endOf = (stream: OpenStream) => stream.events<TapEnded>('ended').map(({ reason }) => reason);
  const bring = (tapId: string, events: unknown[], more: object = {}, node: TestNode = at.node) =>
    node.tapEvents({ requestId: tapId, pipelineId: at.pipelineId, componentId: 'lines', events, ...more });
  const rows = () => test.db('tap_batches');
  const watchedBy = async (tapId: string) => (await test.db('taps').where({ id: tapId }).first())?.watched_by;
  const upkeep = () => maintainTaps(test.controller.systemContext('test'));
  const age = (tapId: string, column: 'watched_at' | 'ends_at', seconds: number) =>
    test
      .db('taps')
      .where({ id: tapId })
      .update({ [column]: test.db.raw(`${column} - interval '${seconds} seconds'`) });
  /** The same token at the other controller. */
  const elsewhere = (node: TestNode, tapId: string, events: unknown[]) =>
    send(`${second.url}/api/agent/tap-events`, {
      headers: { authorization: `Bearer ${node.nodeToken}` },
      body: { requestId: tapId, pipelineId: at.pipelineId, componentId: 'lines', events },
    });

  describe('begin', () => {
    it('with a message to the node, for five minutes, and an audit row', async () => {
      const push = await at.node.push();
      open.push(push);
      await until(() => push.text() !== '', { what: 'the stream' });
      const { tapId, nodeId, endsAt } = await start('out');
      expect(nodeId).to.equal(at.node.nodeId);
      expect(Date.parse(endsAt) - Date.now()).to.be.within(290_000, 300_000);
      await until(() => push.events('tap_start').length > 0, { what: 'tap_start' });
      expect(push.events('tap_start')[0]).to.deep.equal({
        ...{ type: 'tap_start', requestId: tapId, pipelineId: at.pipelineId, componentId: 'out', sink: true },
      });
      const audit = await test
        .db('audit_log')
        .where({ action: 'pipeline.tapStarted' })
        .orderBy('created_at', 'desc')
        .first();
      expect(audit.metadata).to.deep.equal({ name: 'orders', componentKey: 'out', node: 'node-1' });
      await at.editor.mutate('pipeline.stopTap', { tapId });
      await until(() => push.events('tap_stop').length > 0, { what: 'tap_stop' });
      expect(push.events('tap_stop')).to.deep.equal([{ type: 'tap_stop', requestId: tapId }]);
    });

    it('again on a node whose agent connects anew, and on no other', async () => {
      const { tapId } = await start();
      const other = await at.join('node-beside');
      const [push, beside] = [await at.node.push(), await other.push()];
      open.push(push, beside);
      await until(() => push.events('tap_start').length > 0, { what: 'tap_start' });
      expect(push.events('tap_start')[0]).to.deep.include({ requestId: tapId, componentId: 'lines' });
      await at.editor.mutate('pipeline.stopTap', { tapId });
      await until(() => push.events('tap_stop').length > 0, { what: 'tap_stop' });
      expect(beside.events('tap_start')).to.deep.equal([]);
    });

    it('at most three of a user and twenty of an environment, also where ten ask at once', async () => {
      const call = (person: TestUser) =>
        person.call('mutation', 'pipeline.startTap', { pipelineId: at.pipelineId, componentKey: 'lines' });
      expect(await tenAtOnce(() => call(at.editor))).to.deep.equal([200, 200, 200, ...Array(7).fill(429)]);
      expect(await tryStart('lines')).to.match(/^TOO_MANY_REQUESTS: You have 3 live taps open; stop one/);
      const [row] = await test.db('taps').limit(1);
      const { id: other } = await test.db('users').where({ email: 'viewer@example.org' }).first('id');
      await test
        .db('taps')
        .insert(Array.from({ length: 15 }, (_, n) => ({ ...row, id: `filler${n}`, user_id: other })));
      expect(await tenAtOnce((n) => call(n % 2 ? at.admin : at.both))).to.deep.equal([
        ...[200, 200],
        ...Array(8).fill(429),
      ]);
      expect(await tryStart('lines', {}, at.root)).to.match(
        /^TOO_MANY_REQUESTS: This environment has 20 open live taps/,
      );
    });

    it('not of components that are not there, nor of a pipeline that nobody runs', async () => {
      expect(await tryStart('nobody')).to.match(/^BAD_REQUEST: .*"nobody"/);
      expect(await tryStart('lin*')).to.match(/^BAD_REQUEST/);
      expect(await tryStart('lines', { pipelineId: at.foreignPipelineId })).to.match(/^NOT_FOUND: Pipeline/);
      expect(await tryStart('lines', { pipelineId: at.foreignPipelineId }, at.both)).to.match(
        /^PRECONDITION_FAILED/,
      );
      await report(test, at.node, at.pipelineId, 'CRASHED');
      expect(await tryStart('lines')).to.match(/^PRECONDITION_FAILED: .*crashed/);
    });
  });

  describe('are watched', () => {
    it('by who started them, blanked and bounded, without a row in the database', async () => {
      const { tapId } = await start();
      const stream = await watch(tapId);
      expect(stream.status).to.equal(200);
      expect(stream.headers['content-type']).to.match(/^text\/event-stream/);
      expect(stream.headers['cache-control']).to.include('no-store');
      await bring(tapId, [
        { password: 'c4n4ry', __proto__: 1, message: 'token=c4n4ry' },
        'x'.repeat(1_000_000),
      ]);
      await until(() => eventsOf(stream).length === 2, { what: 'the events' });
      expect(stream.text()).not.to.include('c4n4ry');
      expect(stream.text().length).to.be.below(100_000);
      expect(eventsOf(stream)[0]).to.deep.equal({ password: '[redacted]', message: 'token=[redacted]' });
      expect(await rows()).to.deep.equal([]);
    });

    it('by nobody else: not signed in, of the team, or super admin', async () => {
      const { tapId } = await start();
      expect((await send(`${test.url}/api/taps/${tapId}`)).status).to.equal(401);
      for (const person of [at.viewer, at.admin, at.root, at.both]) {
        const stream = await watch(tapId, person);
        expect(stream.status, person.email).to.equal(404);
        expect(await refusal(person, 'mutation', 'pipeline.stopTap', { tapId }), person.email).to.match(
          person === at.viewer ? /^FORBIDDEN/ : /^NOT_FOUND: Tap/,
        );
      }
      for (const path of ['nobody', 'x'.repeat(500), '%00', '..%2fevents'])
        expect((await watch(path)).status, path).to.equal(404);
    });

    it('with what is too much for a second left out and counted', async () => {
      const { tapId } = await start();
      const stream = await watch(tapId);
      const batch = Array.from({ length: 100 }, (_, n) => n);
      const since = performance.now();
      for (let n = 0; n < 6; n += 1) expect((await bring(tapId, batch)).status).to.equal(200);
      await bring(tapId, [], { dropped: 7 });
      await until(() => eventsOf(stream).length + droppedOf(stream) === 607, { what: 'all to be told of' });
      const seconds = Math.floor((performance.now() - since) / 1_000);
      expect(eventsOf(stream).length).to.be.within(200, 200 * (2 + seconds));
    });

    it('through another controller than the node’s, in order, and no row is left', async () => {
      const { tapId } = await start();
      const stream = await watch(tapId, at.editor, second);
      expect(stream.status).to.equal(200);
      for (let n = 0; n < 10; n += 1) expect((await bring(tapId, [n])).status).to.equal(200);
      await until(() => eventsOf(stream).length === 10, { what: 'the events' });
      expect(eventsOf(stream)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(await rows()).to.deep.equal([]);
      await elsewhere(at.node, tapId, ['here']);
      await until(() => eventsOf(stream).includes('here'), { what: 'what came the short way' });
      await at.node.tapEvents({
        ...{ requestId: tapId, pipelineId: at.pipelineId, componentId: 'lines', status: 'stopped' },
        reason: 'the engine ended',
      });
      await until(() => endOf(stream).length > 0, { what: 'the end' });
      expect(endOf(stream)).to.deep.equal(['It ended on the node: the engine ended']);
    });

    it('on after a reconnect, at the other controller too; the older stream ends', async () => {
      const { tapId } = await start();
      const first = await watch(tapId);
      const again = await watch(tapId);
      await until(() => first.ended(), { what: 'the first to end' });
      expect(endOf(first)).to.deep.equal([]);
      const other = await watch(tapId, at.editor, second);
      await until(() => again.ended(), { what: 'the second to end' });
      await bring(tapId, ['x']);
      await until(() => eventsOf(other).length > 0, { what: 'the event' });
      other.close();
      await until(async () => (await watchedBy(tapId)) === null, { what: 'nobody to watch' });
      await upkeep();
      const back = await watch(tapId);
      await bring(tapId, ['y']);
      await until(() => eventsOf(back).length > 0, { what: 'the event after a reconnect' });
    });

    it('by a slow one with less, and the controller holds little for him', async function () {
      this.timeout(20_000);
      const { tapId } = await start();
      const reader = await watch(tapId);
      const { request } = await import('node:http');
      reader.close();
      const slow = await new Promise<{ pause(): void; destroy(): void }>((resolve) =>
        request(
          `${test.url}/api/taps/${tapId}`,
          { headers: { cookie: at.editor.cookie }, agent: false },
          (response) => {
            response.pause();
            resolve(response);
          },
        ).end(),
      );
      await until(async () => (await watchedBy(tapId)) !== null, { what: 'somebody to watch' });
      const big = Array.from({ length: 8 }, () => ({ text: Array(4).fill('x'.repeat(15_000)) }));
      for (let n = 0; n < 40; n += 1) expect((await bring(tapId, big)).status).to.equal(200);
      expect(await watchedBy(tapId)).to.be.a('string');
      slow.destroy();
    });

    it('without anything being kept while nobody watches', async () => {
      const { tapId } = await start();
      for (let n = 0; n < 5; n += 1)
        expect((await bring(tapId, ['lost'])).json()).to.deep.equal({ ok: true });
      const stream = await watch(tapId);
      await bring(tapId, ['seen']);
      await until(() => eventsOf(stream).length > 0, { what: 'the event' });
      expect(eventsOf(stream)).to.deep.equal(['seen']);
      expect(await rows()).to.deep.equal([]);
    });
  });

  describe('take from nodes', () => {
    it('only what is theirs: 403 for other nodes, components, pipelines and unknown taps', async () => {
      const { tapId } = await start();
      const token = await enrollmentToken(at.root, at.foreignId);
      const { enrollNode } = await import('../../support/agents/agent-client.ts');
      const stranger = await enrollNode(test.url, token, { hostname: 'stranger' });
      const stopped = { events: undefined, status: 'stopped', reason: 'x' };
      for (const answer of [
        await bring(tapId, ['x'], {}, stranger),
        await bring(tapId, [], stopped, stranger),
        await bring(tapId, ['x'], { componentId: 'out' }),
        await bring(tapId, ['x'], { pipelineId: at.foreignPipelineId }),
        await bring('nobody', ['x']),
      ]) {
        expect(answer.status).to.equal(403);
        expect(answer.json()).to.deep.equal({ error: 'No such tap is active for this node; end it' });
      }
      expect((await bring(tapId, ['x'])).status).to.equal(200);
      await at.editor.mutate('pipeline.stopTap', { tapId });
      await until(async () => (await bring(tapId, ['x'])).status === 403, { what: 'the node to be refused' });
    });

    for (const [reason, more, status] of [
      ['an id with a path in it', { requestId: '../x' }, 400],
      ['no events and no status', { events: undefined }, 400],
      ['101 events', { events: Array(101).fill(1) }, 400],
      ['a negative count', { dropped: -1 }, 400],
      ['a long reason', { events: undefined, status: 'stopped', reason: 'x'.repeat(2_000) }, 400],
      ['more than 8 MiB', { x: 'x'.repeat(9_000_000) }, 413],
    ] as const)
      it(`(${reason}) ${status}`, async () => {
        const answer = await bring('some', [], more);
        expect(answer.status).to.equal(status);
        expect(answer.json().error).to.be.a('string');
      });

    it('nothing without a token, and 120 deliveries a minute', async () => {
      expect((await at.node.tapEvents({}, { authorization: 'Bearer x' })).status).to.equal(401);
      const node = await at.join('busy');
      const statuses = await Promise.all(
        Array.from({ length: 121 }, async () => (await bring('some', [], {}, node)).status),
      );
      expect(statuses.filter((status) => status === 429)).to.have.length(1);
    });

    it('events of whatever shape, without a fault', async () => {
      const { tapId } = await start();
      const stream = await watch(tapId);
      const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`;
      const body = `{"requestId":"${tapId}","pipelineId":"${at.pipelineId}","componentId":"lines","events":[${deep},{"__proto__":{"x":1},"k\\u0000":"\\ud800"}]}`;
      const headers = { 'content-type': 'application/json' };
      expect((await at.node.tapEvents(body, headers)).status).to.equal(200);
      await until(() => eventsOf(stream).length === 2, { what: 'the events' });
      const over = await watch(tapId, at.editor, second);
      await until(() => stream.ended(), { what: 'the first stream to end' });
      expect((await at.node.tapEvents(body, headers)).status).to.equal(200);
      await until(() => eventsOf(over).length === 2, { what: 'the events at the other controller' });
      expect(over.text()).to.include('{"__proto__":{"x":1},"k":"\ufffd"}');
    });
  });

  describe('end', () => {
    const isGone = async (tapId: string) => (await test.db('taps').where({ id: tapId })).length === 0;
    const ENDS: [when: string, reason: string, make: (tapId: string) => Promise<unknown>][] = [
      ['they are stopped', 'It was stopped', (tapId) => at.editor.mutate('pipeline.stopTap', { tapId })],
      [
        'their five minutes are over',
        'Its five minutes are over; start it again to see more',
        (tapId) => age(tapId, 'ends_at', 301),
      ],
      [
        'the node is in maintenance',
        'The node went into maintenance',
        () => at.root.mutate('fleet.setMaintenance', { nodeId: at.node.nodeId, enabled: true }),
      ],
      [
        'the node is not heard of',
        'The node stopped reporting',
        async (tapId) => {
          await test
            .db('taps')
            .where({ id: tapId })
            .update({ created_at: new Date(Date.now() - 200_000) });
          await test.db('node_presence').update({ heard_at: new Date(Date.now() - 200_000) });
        },
      ],
    ];
    for (const [when, reason, make] of ENDS)
      it(`when ${when}, on both controllers’ word`, async () => {
        const { tapId } = await start();
        const stream = await watch(tapId, at.editor, second);
        try {
          await make(tapId);
          await upkeep();
          await until(() => endOf(stream).length > 0 && stream.ended(), { what: 'the end' });
          expect(endOf(stream)).to.deep.equal([reason]);
          expect(await isGone(tapId)).to.equal(true);
        } finally {
          await at.root.mutate('fleet.setMaintenance', { nodeId: at.node.nodeId, enabled: false });
        }
      });

    it('when the pipeline is undeployed', async () => {
      const { deployGraph } = await import('../../support/scenes/sampled.ts');
      const pipelineId = await deployGraph(at.root, at.environmentId, 'short-lived');
      await report(test, at.node, pipelineId);
      const { tapId } = await at.editor.mutate<Started>('pipeline.startTap', {
        pipelineId,
        componentKey: 'lines',
      });
      const stream = await watch(tapId);
      await at.root.mutate('deploy.undeploy', { pipelineId });
      await upkeep();
      await until(() => endOf(stream).length > 0, { what: 'the end' });
      expect(endOf(stream)).to.deep.equal(['The pipeline was undeployed']);
    });

    it('when nobody has come within 15 seconds, or is back 15 seconds after leaving', async () => {
      const never = await start();
      const left = await start();
      const stayed = await start();
      const stream = await watch(left.tapId);
      await watch(stayed.tapId);
      stream.close();
      await until(async () => (await watchedBy(left.tapId)) === null, { what: 'him to have left' });
      for (const { tapId } of [never, left, stayed]) await age(tapId, 'watched_at', 16);
      await upkeep();
      expect(await isGone(never.tapId)).to.equal(true);
      expect(await isGone(left.tapId)).to.equal(true);
      expect(await isGone(stayed.tapId)).to.equal(false);
      expect((await watch(left.tapId)).status).to.equal(404);
      // The controller at which it was watched is gone.
      await age(stayed.tapId, 'watched_at', 45);
      await upkeep();
      expect(await isGone(stayed.tapId)).to.equal(true);
    });

    it('when who watches may no longer', async () => {
      const me = await signIn(test.url, at.both.email);
      const { tapId } = await start('lines', me);
      const stream = await watch(tapId, me);
      const { id } = await test.db('users').where({ email: me.email }).first('id');
      const { services } = test.controller.systemContext('test');
      await services.bus.publish(test.db, { type: 'user', userId: id });
      await services.bus.publish(test.db, { type: 'ui', environmentId: null, topics: ['teams'] });
      await bring(tapId, ['still']);
      await until(() => eventsOf(stream).length > 0, { what: 'the event' });
      await test.db('team_members').where({ user_id: id, team_id: at.teamId }).update({ role: 'VIEWER' });
      try {
        await services.bus.publish(test.db, { type: 'user', userId: id });
        await until(() => stream.ended(), { what: 'the end' });
        expect(endOf(stream)).to.deep.equal(['You may not watch it any longer']);
      } finally {
        await test.db('team_members').where({ user_id: id, team_id: at.teamId }).update({ role: 'EDITOR' });
      }
    });

    it('when a team asks everybody in it for a second factor', async () => {
      const me = await signIn(test.url, at.both.email);
      const { tapId } = await start('lines', me);
      const stream = await watch(tapId, me);
      const { bus } = test.controller.systemContext('test').services;
      const required = (require_two_factor: boolean) =>
        test.db('teams').where({ id: at.teamId }).update({ require_two_factor });
      await required(true);
      try {
        await bus.publish(test.db, { type: 'ui', environmentId: null, topics: ['teams'] });
        await until(() => stream.ended(), { what: 'the end' });
        expect(endOf(stream)).to.deep.equal(['You may not watch it any longer']);
      } finally {
        await required(false);
      }
    });

    it('when who watches signs out', async () => {
      const me = await signIn(test.url, at.both.email);
      const { tapId } = await start('lines', me);
      const stream = await watch(tapId, me);
      const headers = { cookie: me.cookie, 'content-type': 'application/json' };
      expect(
        (await send(`${test.url}/api/auth/sign-out`, { method: 'POST', headers, body: '{}' })).status,
      ).to.equal(200);
      await until(() => stream.ended(), { what: 'the end' });
      expect(endOf(stream)).to.deep.equal(['You may not watch it any longer']);
      expect(await isGone(tapId)).to.equal(true);
    });

    it('with the node’s own words, blanked', async () => {
      const { tapId } = await start();
      const stream = await watch(tapId);
      await bring(tapId, ['last']);
      const stopped = { events: undefined, status: 'stopped', reason: 'failed: password=c4n4ry\0' };
      expect((await bring(tapId, [], stopped)).status).to.equal(200);
      await until(() => stream.ended(), { what: 'the end' });
      expect(eventsOf(stream)).to.deep.equal(['last']);
      expect(endOf(stream)).to.deep.equal(['It ended on the node: failed: password=[redacted]']);
      expect((await bring(tapId, [], stopped)).status).to.equal(403);
    });

    it('where signals were lost: who watches one that is gone is told after a while', async () => {
      const { tapId } = await start();
      const stream = await watch(tapId);
      await test.db('taps').where({ id: tapId }).delete();
      await test.db.raw(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'headgate-bus%' AND datname = current_database()",
      );
      await until(() => stream.ended(), { what: 'the end' });
      expect(endOf(stream)).to.deep.equal(['The tap has ended']);
    });
  });

  it('log no event', async () => {
    expect(test.log() + second.log()).not.to.include('c4n4ry');
  });
});
