/** Samples: asked for by people, given to nodes, answered, and over after a time. */
import { expect } from 'chai';
import { maintainSamples } from '../../../controller/fleet/samples/index.ts';
import type { ConfigResponse, SampleRequest } from '../../../schemas/agent/protocol.ts';
import type { EventSchemas, SampleResultView } from '../../../schemas/api/fleet/samples.ts';
import type { TestNode } from '../../support/agents/agent-client.ts';
import { openStream } from '../../support/clients/http.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { refusal, tenAtOnce } from '../../support/scenes/places.ts';
import { deployGraph, report, useSampled } from '../../support/scenes/sampled.ts';
import type { TestUser } from '../../support/users/person.ts';

describe('samples of events', () => {
  const test = useController();
  const at = useSampled(test);
  let hosts = 0;

  beforeEach(async () => {
    await test.db('sample_requests').delete();
    await test.db('nodes').whereNot({ id: at.node.nodeId }).delete();
    await at.root.mutate('fleet.setMaintenance', { nodeId: at.node.nodeId, enabled: false });
    await report(test, at.node, at.pipelineId);
  });

  const newNode = async () => at.join(`further-${++hosts}`);
  const runningNode = async (more: Record<string, unknown> = {}) => {
    const node = await newNode();
    await report(test, node, at.pipelineId, 'RUNNING', more);
    return node;
  };
  interface Requested {
    requestId: string;
    nodeId: string;
    nodeName: string;
  }
  const ask = (componentKeys = ['lines'], more: object = {}, person: TestUser = at.editor) =>
    person.mutate<Requested>('pipeline.requestSamples', {
      pipelineId: at.pipelineId,
      componentKeys,
      ...more,
    });
  const tryAsk = (componentKeys: unknown, more: object = {}, person: TestUser = at.editor) =>
    refusal(person, 'mutation', 'pipeline.requestSamples', {
      ...{ pipelineId: at.pipelineId, componentKeys, ...more },
    });
  const result = (requestId: string, person: TestUser = at.viewer) =>
    person.query<SampleResultView>('pipeline.sampleResult', { requestId });
  const answerOf = (requestId: string, componentKey = 'lines', more: object = {}) => ({
    ...{ requestId, componentKey, events: [{ n: 1 }], schema: [{ path: '.n', type: 'integer', sample: 1 }] },
    ...more,
  });
  const answer = (results: object[], node: TestNode = at.node) => node.samples({ results });
  const asked = async (node: TestNode = at.node): Promise<SampleRequest[]> =>
    (await node.config()).json<ConfigResponse>().sampleRequests;
  const upkeep = () => maintainSamples(test.controller.systemContext('test'));
  /** As if it had been made so much earlier. */
  const age = (requestId: string, seconds: number) =>
    test
      .db('sample_requests')
      .where({ id: requestId })
      .update({
        created_at: test.db.raw(`created_at - interval '${seconds} seconds'`),
        assigned_at: test.db.raw(`assigned_at - interval '${seconds} seconds'`),
      });

  describe('are asked for', () => {
    it('of a node by its next poll, sinks named apart, and no longer once they have come', async () => {
      const idle = await at.node.config();
      const etag = String(idle.headers.etag);
      expect(idle.json<ConfigResponse>().sampleRequests).to.deep.equal([]);
      const { requestId, nodeId, nodeName } = await ask(['split.big', 'out'], { limit: 3 });
      expect([nodeId, nodeName]).to.deep.equal([at.node.nodeId, 'node-1']);
      let polled = idle;
      await until(
        async () => {
          polled = await at.node.config({ 'if-none-match': etag });
          return polled.status !== 304;
        },
        { what: 'another config' },
      );
      expect(polled.status).to.equal(200);
      const { sampleRequests, pipelines, pendingAction } = polled.json<ConfigResponse>();
      expect(sampleRequests).to.deep.equal([
        {
          ...{ requestId, pipelineId: at.pipelineId, componentKeys: ['split.big', 'out'], limit: 3 },
          sinkKeys: ['out'],
        },
      ]);
      expect(pendingAction).to.equal(null);
      expect(pipelines).to.deep.equal(idle.json<ConfigResponse>().pipelines);
      const again = await at.node.config({ 'if-none-match': String(polled.headers.etag) });
      expect(again.status).to.equal(304);
      await answer([answerOf(requestId, 'split.big'), answerOf(requestId, 'out')]);
      await until(async () => (await asked()).length === 0, { what: 'the request to be over' });
    });

    it('by push as well, of that node alone', async () => {
      const other = await newNode();
      const streams = [await at.node.push(), await other.push()];
      try {
        await until(() => streams.every((stream) => stream.text() !== ''), { what: 'the streams' });
        const { requestId } = await ask();
        const told = () => streams[0]?.events<SampleRequest & { type: string }>('sample_request') ?? [];
        await until(() => told().length > 0, { what: 'the message' });
        expect(told()[0]).to.deep.equal({
          ...{ type: 'sample_request', requestId, pipelineId: at.pipelineId, componentKeys: ['lines'] },
          ...{ limit: 5, sinkKeys: [] },
        });
        expect(streams[1]?.text()).not.to.include('sample_request');
      } finally {
        for (const stream of streams) stream.close();
      }
    });

    it('by the word that there is something to poll for, where the message is too long for a signal', async () => {
      const ports = Array.from({ length: 50 }, (_, n) => `${'ä'.repeat(100)}${n}`);
      const version = () => test.db('pipeline_versions').where({ pipeline_id: at.pipelineId });
      const before = await version().first('config_yaml');
      await version().update({
        config_yaml: before.config_yaml.replace(
          /big: .*/,
          ports.map((port) => `${port}: 'true'`).join('\n      '),
        ),
      });
      const stream = await at.node.push();
      try {
        await until(() => stream.text() !== '', { what: 'the stream' });
        const keys = ports.map((port) => `split.${port}`);
        const { requestId } = await ask(keys);
        await until(() => stream.events('config_changed').length > 0, { what: 'the word' });
        expect(stream.events('sample_request')).to.deep.equal([]);
        expect(await asked()).to.deep.include({
          ...{ requestId, pipelineId: at.pipelineId, componentKeys: keys, limit: 5, sinkKeys: [] },
        });
      } finally {
        stream.close();
        await version().update(before);
      }
    });

    it('of the node that was named, of one with a push channel first', async () => {
      const pushed = await runningNode({ agentHealth: { pushConnected: true } });
      await report(test, at.node, at.pipelineId, 'RUNNING', { agentHealth: { pushConnected: false } });
      expect((await ask()).nodeId).to.equal(pushed.nodeId);
      expect((await ask(['lines'], { nodeId: at.node.nodeId })).nodeId).to.equal(at.node.nodeId);
    });

    it('with an audit row that names what, and of whom', async () => {
      await ask(['lines', 'out']);
      const row = await test
        .db('audit_log')
        .where({ action: 'pipeline.samplesRequested' })
        .orderBy('created_at', 'desc')
        .first();
      expect(row.metadata).to.deep.equal({
        ...{ name: 'orders', componentKeys: ['lines', 'out'], node: 'node-1', limit: 5 },
      });
    });
  });

  describe('are refused', () => {
    for (const { keys, told } of [
      { keys: ['nobody', 'lines'], told: /^BAD_REQUEST: .*"nobody" is not a component/ },
      { keys: ['off'], told: /^BAD_REQUEST: .*"off" is disabled/ },
      { keys: ['split'], told: /^BAD_REQUEST: .*named outputs only: split\.big, split\._unmatched/ },
      { keys: ['split.small'], told: /^BAD_REQUEST: .*no output "small"; it has split\.big/ },
      { keys: ['out.x'], told: /^BAD_REQUEST: .*is a sink/ },
      { keys: ['lines.x'], told: /^BAD_REQUEST: .*no output "x"/ },
      { keys: ['constructor'], told: /^BAD_REQUEST: .*is not a component/ },
      { keys: ['--help'], told: /^BAD_REQUEST: / },
      { keys: ['lin*'], told: /^BAD_REQUEST: / },
      { keys: ['lines', 'lines'], told: /^BAD_REQUEST: / },
      { keys: [], told: /^BAD_REQUEST: / },
      { keys: Array.from({ length: 51 }, (_, n) => `k${n}`), told: /^BAD_REQUEST: / },
      { keys: Array.from({ length: 50 }, (_, n) => `k${n}`), told: /and 45 more$/ },
    ])
      it(`for ${JSON.stringify(keys).slice(0, 40)}`, async () => {
        expect(await tryAsk(keys)).to.match(told);
      });

    it('for limits beyond 1 and 50', async () => {
      for (const limit of [0, 51, 1.5]) expect(await tryAsk(['lines'], { limit })).to.match(/^BAD_REQUEST/);
    });

    it('of a pipeline that is not deployed, and says so', async () => {
      const { id } = await at.root.mutate<{ id: string }>('pipeline.create', {
        ...{ environmentId: at.environmentId, name: 'draft' },
      });
      expect(await tryAsk(['lines'], { pipelineId: id })).to.match(
        /^PRECONDITION_FAILED: "draft" is not deployed/,
      );
      const gone = await deployGraph(at.root, at.environmentId, 'undeployed');
      await at.root.mutate('deploy.undeploy', { pipelineId: gone });
      expect(await tryAsk(['lines'], { pipelineId: gone })).to.match(/is not deployed/);
    });

    for (const { status, told } of [
      { status: 'CRASHED', told: 'node-1 reports that the engine has crashed' },
      { status: 'STARTING', told: 'node-1 is still starting it' },
      { status: 'STOPPED', told: 'node-1 has stopped it' },
    ])
      it(`where it is ${status}`, async () => {
        await report(test, at.node, at.pipelineId, status);
        expect(await tryAsk(['lines'])).to.equal(`PRECONDITION_FAILED: No node can be sampled: ${told}`);
      });

    it('where the node is silent or in maintenance', async () => {
      await at.root.mutate('fleet.setMaintenance', { nodeId: at.node.nodeId, enabled: true });
      expect(await tryAsk(['lines'])).to.match(/^PRECONDITION_FAILED: .*maintenance/);
      await at.root.mutate('fleet.setMaintenance', { nodeId: at.node.nodeId, enabled: false });
      const { services } = test.controller.systemContext('test');
      const listening = services.listeningSince;
      services.listeningSince = () => 0;
      try {
        await test.db('node_presence').update({ heard_at: new Date(Date.now() - 3_600_000) });
        expect(await tryAsk(['lines'])).to.match(/^PRECONDITION_FAILED: .*node-1 has not reported lately/);
      } finally {
        services.listeningSince = listening;
      }
    });

    it('of a node that does not run it, or that is not there', async () => {
      const idle = await newNode();
      await report(test, idle, at.pipelineId, 'STOPPED');
      expect(await tryAsk(['lines'], { nodeId: idle.nodeId })).to.match(/^PRECONDITION_FAILED: /);
      expect(await tryAsk(['lines'], { nodeId: 'nobody' })).to.match(/^NOT_FOUND: Node/);
    });

    it('beyond five open ones of a user, and twenty of an environment, also where ten ask at once', async () => {
      const statuses = await tenAtOnce(() =>
        at.editor.call('mutation', 'pipeline.requestSamples', {
          pipelineId: at.pipelineId,
          componentKeys: ['lines'],
        }),
      );
      expect(statuses).to.deep.equal([...Array(5).fill(200), ...Array(5).fill(429)]);
      const { requested_by_id: userId } = await test.db('sample_requests').first();
      const [row] = await test.db('sample_requests').limit(1);
      await test
        .db('sample_requests')
        .insert(Array.from({ length: 10 }, (_, n) => ({ ...row, id: `filler${n}`, requested_by_id: null })));
      expect(userId).to.be.a('string');
      const more = await tenAtOnce((n) =>
        (n % 2 ? at.admin : at.both).call('mutation', 'pipeline.requestSamples', {
          ...{ pipelineId: at.pipelineId, componentKeys: ['lines'] },
        }),
      );
      expect(more).to.deep.equal([...Array(5).fill(200), ...Array(5).fill(429)]);
      expect(await tryAsk(['lines'])).to.match(/^TOO_MANY_REQUESTS: You have 5 open requests.*wait/);
      expect(await tryAsk(['lines'], {}, at.root)).to.match(
        /^TOO_MANY_REQUESTS: This environment has 20 open requests/,
      );
    });

    it('to another team, whose ids are not there', async () => {
      const { requestId } = await ask();
      expect(await tryAsk(['lines'], { pipelineId: at.foreignPipelineId })).to.match(/^NOT_FOUND: Pipeline/);
      await test.db('team_members').where({ team_id: at.otherTeamId }).select();
      const outsider = await refusal(at.viewer, 'query', 'pipeline.sampleResult', { requestId: 'nobody' });
      expect(outsider).to.match(/^NOT_FOUND: Sample request/);
      await test.db('sample_requests').where({ id: requestId }).update({ environment_id: at.foreignId });
      expect(await refusal(at.viewer, 'query', 'pipeline.sampleResult', { requestId })).to.equal(outsider);
    });
  });

  describe('are answered', () => {
    it('component by component, pending until the last', async () => {
      const { requestId } = await ask(['lines', 'out']);
      const before = await result(requestId);
      expect(before).to.include({ status: 'PENDING', nodeName: 'node-1', limit: 5 });
      expect(before.results).to.deep.equal([]);
      expect(
        (await answer([answerOf(requestId, 'out', { error: 'nothing came by', events: [] })])).json(),
      ).to.deep.equal({
        ok: true,
      });
      expect((await result(requestId)).status).to.equal('PENDING');
      await answer([answerOf(requestId, 'lines', { events: [{ b: 1, a: { z: [1, null], y: 'x' } }] })]);
      const { status, results } = await result(requestId);
      expect(status).to.equal('COMPLETED');
      expect(results.map(({ componentKey, error }) => [componentKey, error])).to.deep.equal([
        ['lines', null],
        ['out', 'nothing came by'],
      ]);
      expect(JSON.stringify(results[0]?.events)).to.equal('[{"b":1,"a":{"z":[1,null],"y":"x"}}]');
    });

    it('once: the first result of a component counts, and what fits nowhere is refused alone', async () => {
      const { requestId } = await ask(['lines', 'out']);
      const stranger = await runningNode();
      const foreign = await answer([answerOf(requestId)], stranger);
      expect(foreign.json()).to.deep.equal({
        ok: true,
        rejected: [{ requestId, reason: 'no such request is open for this node' }],
      });
      const mixed = await answer([
        answerOf(requestId, 'lines', { events: ['first'] }),
        answerOf(requestId, 'lines', { events: ['second'] }),
        answerOf(requestId, 'nobody'),
        answerOf('unknown'),
      ]);
      expect(mixed.status).to.equal(200);
      expect(
        mixed.json<{ rejected: { reason: string }[] }>().rejected.map(({ reason }) => reason),
      ).to.deep.equal([
        'this component already has a result',
        'the request does not ask for this component',
        'no such request is open for this node',
      ]);
      expect((await result(requestId)).results.map(({ events }) => events)).to.deep.equal([['first']]);
      await answer([answerOf(requestId, 'out')]);
      const late = await answer([answerOf(requestId, 'out')]);
      expect(late.json<{ rejected: object[] }>().rejected).to.have.length(1);
    });

    it('once, where ten bring the same at once', async () => {
      const { requestId } = await ask(['lines', 'out']);
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, n) => answer([answerOf(requestId, n % 2 ? 'lines' : 'out')])),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(10).fill(200));
      const taken = answers.filter((one) => !one.json<{ rejected?: object[] }>().rejected);
      expect(taken).to.have.length(2);
      expect((await result(requestId)).status).to.equal('COMPLETED');
    });

    it('and pages are told', async () => {
      const stream = await openStream(`${test.url}/api/events`, { cookie: at.viewer.cookie });
      try {
        await until(() => stream.text() !== '', { what: 'the stream' });
        const { requestId } = await ask();
        await answer([answerOf(requestId)]);
        const told = () => stream.events<{ topics: string[] }>('changed').flatMap(({ topics }) => topics);
        await until(() => told().includes('samples'), { what: 'the topic' });
      } finally {
        stream.close();
      }
    });

    it('where a component brings an error alone, and not where it brings nothing at all', async () => {
      const { requestId } = await ask(['lines', 'out']);
      const alone = await answer([{ requestId, componentKey: 'lines', error: 'no tap here' }]);
      expect(alone.json()).to.deep.equal({ ok: true });
      expect((await result(requestId)).results).to.have.length(1);
      expect((await result(requestId)).results[0]).to.include({
        componentKey: 'lines',
        error: 'no tap here',
      });
      const nothing = await answer([{ requestId, componentKey: 'out' }]);
      expect(nothing.json<{ rejected: { reason: string }[] }>().rejected[0]?.reason).to.include('events');
    });

    it('with fewer events than were brought above the limit', async () => {
      const { requestId } = await ask(['lines'], { limit: 2 });
      await answer([answerOf(requestId, 'lines', { events: [1, 2, 3] })]);
      expect((await result(requestId)).results[0]?.events).to.deep.equal([1, 2]);
    });
  });

  describe('never show, nor store,', () => {
    const CANARY = 'c4n4ry-of-the-test';
    const stored = async () => JSON.stringify(await test.db('sample_results'));

    it('what is behind a hidden key: in events, in texts, in samples of fields and in errors', async () => {
      const { requestId } = await ask(['lines', 'out']);
      await answer([
        answerOf(requestId, 'lines', {
          events: [
            { password: CANARY, message: `{"token":"${CANARY}"}`, line: `ssn=${CANARY}`, user: 'bob' },
            { auth: [{ name: 'Authorization', value: CANARY }] },
          ],
          schema: [
            { path: '.password', type: 'string', sample: CANARY },
            { path: '."my token".inner', type: 'string', sample: CANARY },
            { path: '.line', type: 'string', sample: `ssn=${CANARY}` },
            { path: '.user', type: 'string', sample: 'bob' },
          ],
        }),
        answerOf(requestId, 'out', { events: [], error: `could not: password=${CANARY}` }),
      ]);
      expect(await stored()).not.to.include(CANARY);
      const { results } = await result(requestId);
      expect(results[0]?.events[0]).to.deep.equal({
        ...{ password: '[redacted]', message: '{"token":"[redacted]"}', line: 'ssn=[redacted]', user: 'bob' },
      });
      expect(results[0]?.schema).to.deep.equal([
        { path: '.password', type: 'string' },
        { path: '."my token".inner', type: 'string' },
        { path: '.line', type: 'string', sample: 'ssn=[redacted]' },
        { path: '.user', type: 'string', sample: 'bob' },
      ]);
      expect(results[1]?.error).to.equal('could not: password=[redacted]');
    });

    it('what the environment itself names, and then only that', async () => {
      const change = (redactKeys: string[] | null, person = at.admin) =>
        person.mutate<{ redactKeys: string[]; redactKeysAreDefault: boolean }>('environment.update', {
          ...{ id: at.environmentId, redactKeys },
        });
      try {
        expect(await change(['phone*'])).to.deep.include({
          redactKeys: ['phone*'],
          redactKeysAreDefault: false,
        });
        const { requestId } = await ask();
        await answer([answerOf(requestId, 'lines', { events: [{ Phone_Home: CANARY, password: 'shown' }] })]);
        expect(await stored()).not.to.include(CANARY);
        expect((await result(requestId)).results[0]?.events).to.deep.equal([
          { Phone_Home: '[redacted]', password: 'shown' },
        ]);
      } finally {
        expect((await change(null)).redactKeysAreDefault).to.equal(true);
      }
    });

    it('what is named only after it was stored', async () => {
      const change = (redactKeys: string[] | null) =>
        at.admin.mutate('environment.update', { id: at.environmentId, redactKeys });
      const { requestId } = await ask();
      await answer([
        answerOf(requestId, 'lines', {
          events: [{ phone: CANARY, line: `phone=${CANARY}`, password: CANARY }],
          schema: [{ path: '.phone', type: 'string', sample: CANARY }],
          error: `phone=${CANARY}`,
        }),
      ]);
      const shown = async () => [
        (await result(requestId)).results,
        await at.viewer.query<EventSchemas>('pipeline.eventSchemas', { pipelineId: at.pipelineId }),
      ];
      expect(JSON.stringify(await shown())).to.include(CANARY);
      try {
        await change(['phone']);
        const [results, schemas] = await shown();
        expect(JSON.stringify([results, schemas])).not.to.include(CANARY);
        expect(results?.[0]).to.deep.include({
          events: [{ phone: '[redacted]', line: 'phone=[redacted]', password: '[redacted]' }],
          schema: [{ path: '.phone', type: 'string' }],
          error: 'phone=[redacted]',
        });
      } finally {
        await change(null);
      }
    });

    it('by patterns that an ADMIN sets, within their bounds', async () => {
      const trying = (redactKeys: unknown, person: TestUser) =>
        refusal(person, 'mutation', 'environment.update', { id: at.environmentId, redactKeys });
      expect(await trying([], at.editor)).to.match(/^FORBIDDEN: .*redactKeys/);
      for (const bad of [[''], ['x'.repeat(101)], Array(101).fill('a'), ['a\nb'], 'password', [1]])
        expect(await trying(bad, at.admin)).to.match(/^BAD_REQUEST/);
    });

    it('what a hostile node sends: depth, size, NUL, halves of characters, odd keys and numbers', async () => {
      const { requestId } = await ask(['lines', 'out']);
      const deep = `${'['.repeat(5_000)}1${']'.repeat(5_000)}`;
      const odd =
        '{"__proto__":{"polluted":1},"constructor":2,"a\\u0000b":"c\\u0000d","half":"\\ud800","n":1e999,"":0}';
      const body = `{"results":[{"requestId":"${requestId}","componentKey":"lines","schema":[],"events":[${deep},${odd}]},
        {"requestId":"${requestId}","componentKey":"out","schema":[{"path":".a\\u0000","type":"string","sample":"\\ud800"}],
         "events":["${'x'.repeat(3_000_000)}",${JSON.stringify({ k: Array(200_000).fill({ a: 1 }) })}],"error":"\\u0000"}]}`;
      const sent = await at.node.samples(body, { 'content-type': 'application/json' });
      expect(sent.text).to.equal('{"ok":true}');
      const { results } = await result(requestId);
      const [first, second] = results;
      expect(JSON.stringify(first?.events[0])).to.have.length.below(500);
      expect(JSON.stringify(first?.events[1])).to.equal(
        '{"__proto__":{"polluted":1},"constructor":2,"ab":"cd","half":"\ufffd","n":"Infinity","":0}',
      );
      expect(({} as { polluted?: number }).polluted).to.equal(undefined);
      expect(JSON.stringify(second).length).to.be.below(200_000);
      expect(await at.viewer.query('pipeline.eventSchemas', { pipelineId: at.pipelineId })).to.have.length(2);
    });

    for (const { reason, body, status } of [
      { reason: 'no list', body: '{}', status: 400 },
      { reason: 'broken JSON', body: '{', status: 400 },
      {
        reason: 'an id with a path in it',
        body: '{"results":[{"requestId":"../x","componentKey":"a","events":[],"schema":[]}]}',
        status: 400,
      },
      {
        reason: 'a type that is none',
        body: '{"results":[{"requestId":"x","componentKey":"a","events":[],"schema":[{"path":".a","type":"x"}]}]}',
        status: 400,
      },
      {
        reason: '51 events',
        body: JSON.stringify({
          results: [{ requestId: 'x', componentKey: 'a', schema: [], events: Array(51).fill(1) }],
        }),
        status: 400,
      },
      { reason: 'more than 8 MiB', body: `{"results":[],"x":"${'x'.repeat(9_000_000)}"}`, status: 413 },
    ])
      it(`${reason}: ${status}`, async () => {
        const sent = await at.node.samples(body, { 'content-type': 'application/json' });
        expect(sent.status).to.equal(status);
        expect(sent.json().error).to.be.a('string');
      });
  });

  it('are refused without a token, and beyond sixty deliveries a minute', async () => {
    expect((await at.node.samples({ results: [] }, { authorization: 'Bearer x' })).status).to.equal(401);
    const node = await newNode();
    const statuses = await Promise.all(
      Array.from({ length: 61 }, async () => (await node.samples({ results: [] })).status),
    );
    expect(statuses.filter((status) => status === 429)).to.have.length(1);
    expect(statuses.filter((status) => status === 200)).to.have.length(60);
  });

  describe('come to an end', () => {
    it('after two minutes, with what has come until then', async () => {
      const { requestId } = await ask(['lines', 'out']);
      await answer([answerOf(requestId, 'out')]);
      await age(requestId, 121);
      expect(await result(requestId)).to.include({ status: 'EXPIRED' });
      await upkeep();
      expect((await test.db('sample_requests').where({ id: requestId }).first()).done_at).to.be.instanceOf(
        Date,
      );
      await until(async () => (await asked()).length === 0, { what: 'it to be asked no longer' });
      const late = await answer([answerOf(requestId)]);
      expect(late.json<{ rejected: object[] }>().rejected).to.have.length(1);
      expect((await result(requestId)).results.map(({ componentKey }) => componentKey)).to.deep.equal([
        'out',
      ]);
    });

    it('at another node, where the first does not answer in time; each is asked once, and each may answer', async () => {
      const { requestId } = await ask(['lines', 'out']);
      await age(requestId, 21);
      await upkeep();
      expect((await result(requestId)).nodeId).to.equal(at.node.nodeId);
      const second = await runningNode();
      await upkeep();
      expect((await result(requestId)).nodeId).to.equal(second.nodeId);
      await until(async () => (await asked()).length === 0, { what: 'the first to be asked no longer' });
      await until(async () => (await asked(second)).length > 0, { what: 'the second to be asked' });
      expect((await asked(second)).map((one) => one.requestId)).to.deep.equal([requestId]);
      await age(requestId, 21);
      await upkeep();
      expect((await result(requestId)).nodeId).to.equal(second.nodeId);
      expect((await answer([answerOf(requestId, 'lines')])).json()).to.deep.equal({ ok: true });
      expect((await answer([answerOf(requestId, 'out')], second)).json()).to.deep.equal({ ok: true });
      expect((await result(requestId)).status).to.equal('COMPLETED');
    });

    it('at the first alone, as long as it answers at all', async () => {
      const { requestId } = await ask(['lines', 'out']);
      await runningNode();
      await answer([answerOf(requestId, 'out')]);
      // Not before the answer: the controller looks after requests by itself as well.
      await age(requestId, 21);
      await upkeep();
      expect((await result(requestId)).nodeId).to.equal(at.node.nodeId);
      await test.db('sample_results').update({ received_at: new Date(Date.now() - 21_000) });
      await upkeep();
      expect((await result(requestId)).nodeId).not.to.equal(at.node.nodeId);
    });

    it('for good after a day, and with the node or the pipeline', async () => {
      const first = await ask();
      await age(first.requestId, 86_500);
      await upkeep();
      expect(
        await refusal(at.viewer, 'query', 'pipeline.sampleResult', { requestId: first.requestId }),
      ).to.match(/^NOT_FOUND/);
      const node = await runningNode();
      const { requestId } = await ask(['lines'], { nodeId: node.nodeId });
      await test.db('nodes').where({ id: node.nodeId }).delete();
      expect(await result(requestId)).to.include({ nodeId: null, nodeName: null, status: 'PENDING' });
      await age(requestId, 21);
      await upkeep();
      expect((await result(requestId)).nodeId).to.equal(at.node.nodeId);
    });

    it('for everybody while the pipeline is deleted, though it may come back', async () => {
      const { requestId } = await ask();
      await answer([answerOf(requestId)]);
      expect((await result(requestId)).status).to.equal('COMPLETED');
      await test.db('pipelines').where({ id: at.pipelineId }).update({ tombstoned_at: new Date() });
      try {
        expect(await refusal(at.viewer, 'query', 'pipeline.sampleResult', { requestId })).to.match(
          /^NOT_FOUND/,
        );
      } finally {
        await test.db('pipelines').where({ id: at.pipelineId }).update({ tombstoned_at: null });
      }
    });
  });

  it('tell together what events look like', async () => {
    for (const schema of [
      [
        { path: '.n', type: 'integer', sample: 1 },
        { path: '.same', type: 'string', sample: 'a' },
        { path: '.none', type: 'null' },
      ],
      [
        { path: '.n', type: 'float', sample: 1.5 },
        { path: '.same', type: 'string' },
        { path: '.none', type: 'object' },
        { path: '.mixed', type: 'string', sample: 'x' },
      ],
      [{ path: '.mixed', type: 'array' }],
    ]) {
      const { requestId } = await ask();
      await answer([answerOf(requestId, 'lines', { schema, events: [{}, {}] })]);
    }
    const { requestId } = await ask(['out']);
    await answer([answerOf(requestId, 'out', { events: [], error: 'nothing' })]);
    const schemas = await at.viewer.query<EventSchemas>('pipeline.eventSchemas', {
      pipelineId: at.pipelineId,
    });
    expect(schemas).to.have.length(1);
    expect(schemas[0]).to.deep.include({ componentKey: 'lines', events: 6 });
    expect(schemas[0]?.fields.map(({ path, type }) => `${path} ${type}`)).to.deep.equal([
      ...['.mixed mixed', '.n float', '.none object', '.same string'],
    ]);
    await test.db('sample_requests').update({ created_at: new Date(Date.now() - 86_500_000) });
    expect(await at.viewer.query('pipeline.eventSchemas', { pipelineId: at.pipelineId })).to.deep.equal([]);
  });
});
