import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { makeWorkplace, PACE_MS, type Workplace } from './agent-process.ts';
import type { InProcessAgent } from './in-process-agent.ts';
import { pipeline, type ScriptedServer, send, startServer } from './scripted-server.ts';

describe('what the controller may answer without a pipeline being stopped', function () {
  this.timeout(30_000);
  let server: ScriptedServer;
  let place: Workplace;
  let agent: InProcessAgent;
  let engine: number | null | undefined;

  const until: Workplace['until'] = (condition, options) => place.until(condition, options);

  before(async () => {
    server = await startServer();
    place = await makeWorkplace();
    server.pipelines = [pipeline('p1')];
    agent = place.run({ SVC_URL: server.url, SVC_TOKEN: 't', SVC_POLL_INTERVAL: '500ms' });
    await until(() => server.report('p1')?.status === 'RUNNING', { what: 'the pipeline runs' });
    engine = server.report('p1')?.pid;
  });
  after(async () => {
    await place.clean();
    await server.close();
  });
  afterEach(() => {
    server.override = {};
  });

  const good = () => ({ pipelines: [pipeline('p1')], pollIntervalMs: 500 });
  const raw =
    (body: string | Buffer, headers = {}) =>
    (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'application/json', ...headers });
      response.end(body);
    };
  const cases: [reason: string, answer: (response: ServerResponse) => void][] = [
    ['truncated JSON', raw(JSON.stringify(good()).slice(0, -20))],
    ['a page of HTML', raw('<html><body>Sign in</body></html>')],
    ['null', raw('null')],
    ['an empty object', raw('{}')],
    ['an array', raw('[]')],
    ['pipelines that are null', raw(JSON.stringify({ ...good(), pipelines: null }))],
    ['an entry that is only an id', raw(JSON.stringify({ ...good(), pipelines: [{ pipelineId: 'p1' }] }))],
    [
      'a version that is text',
      raw(JSON.stringify({ ...good(), pipelines: [{ ...pipeline('p1'), version: '1' }] })),
    ],
    ['one id twice', raw(JSON.stringify({ ...good(), pipelines: [pipeline('p1'), pipeline('p1')] }))],
    [
      'an announced length over the limit',
      (response) => {
        response.writeHead(200, { 'content-length': 100 * 1024 * 1024 });
        response.write('{"pipelines":[]');
      },
    ],
    [
      'a compressed answer that grows over the limit',
      raw(gzipSync(Buffer.alloc(70 * 1024 * 1024, 32)), { 'content-encoding': 'gzip' }),
    ],
    ['304 that was not asked for with the right tag', (response) => response.writeHead(304).end()],
    ['a redirect', (response) => response.writeHead(302, { location: '/elsewhere' }).end()],
    ['a closed connection', (response) => response.destroy()],
    ...[401, 403, 404, 500, 503].map((status): [string, (response: ServerResponse) => void] => [
      `status ${status}`,
      (response) => send(response, status, { error: 'no' }),
    ]),
  ];

  for (const [reason, answer] of cases) {
    it(`keeps the engine running on ${reason}`, async () => {
      const errors = server.heartbeats.at(-1)?.agentHealth?.pollErrorsTotal ?? 0;
      let answered = 0;
      server.override.config = (_, response) => {
        answered += 1;
        answer(response);
      };
      await until(() => answered >= 2, { what: 'two polls have failed', timeoutMs: 8_000 });
      const failed = reason.startsWith('304') ? errors : errors + 1;
      await until(() => (server.heartbeats.at(-1)?.agentHealth?.pollErrorsTotal ?? 0) >= failed, {
        what: 'the failed polls are counted in a heartbeat',
      });
      expect(server.report('p1')).to.include({ status: 'RUNNING', pid: engine });
      expect(place.engines()).to.deep.equal([engine]);
    });
  }

  it('says once a minute how to enroll again when the node token is refused', async () => {
    const { clock } = place;
    let refused = 0;
    server.override.config = (_, response) => {
      refused += 1;
      send(response, 401, { error: 'revoked' });
    };
    const hints = () => agent.output().match(/the controller refuses this node/g)?.length ?? 0;
    // The hint of the case for status 401 may be less than a minute old.
    clock.advance(60_000);
    const first = hints();
    await until(() => hints() > first, { what: 'the hint is logged' });
    const before = hints();
    place.paceMs = 250;
    const hintedAt = clock.monotonic();
    await until(() => clock.monotonic() > hintedAt + 50_000, { what: 'less than a minute has passed' });
    expect(refused).to.be.greaterThan(20);
    expect(hints()).to.equal(before);
    await until(() => hints() === before + 1, { what: 'the hint is logged again' });
    place.paceMs = PACE_MS;
  });

  it('waits as long as Retry-After says, whatever is pushed before and after', async () => {
    const { clock } = place;
    let asked = 0;
    let refusedAt = 0;
    server.override.config = (_, response) => {
      asked += 1;
      if (asked > 1) return send(response, 200, good());
      server.push({ type: 'config_changed', reason: 'while it is asked' });
      refusedAt = clock.monotonic();
      send(response, 429, { error: 'slow down' }, { 'retry-after': '20' });
    };
    await until(() => asked === 1, { what: 'the poll is refused' });
    // The answer is read while the clock stands still.
    const refusals = () => agent.output().split('reason="status 429').length;
    const before = refusals();
    for (let turn = 0; refusals() === before && turn < 1_000; turn += 1)
      await new Promise((done) => setImmediate(done));
    server.push({ type: 'config_changed', reason: 'in vain' });
    await until(() => asked === 2, { what: 'the next poll comes' });
    expect(clock.monotonic() - refusedAt).to.be.within(20_000, 22_500);
    expect(server.report('p1')).to.include({ status: 'RUNNING', pid: engine });
  });

  it('is that nothing has changed, to a poll with the ETag of the last answer', async () => {
    const polls = server.polls.length;
    server.revision += 1;
    await until(() => server.polls.length >= polls + 4, { what: 'four polls' });
    const statuses = server.polls.slice(polls).map(({ status }) => status);
    // The revision is another one, so that one answer is in full.
    expect(statuses.slice(statuses.indexOf(200)).slice(0, 3)).to.deep.equal([200, 304, 304]);
    expect(place.engines()).to.deep.equal([engine]);
  });

  it('counts heartbeats that fail and goes on', async () => {
    server.override.heartbeat = (_, response) => send(response, 500, { error: 'no' });
    const polls = server.polls.length;
    await until(() => server.polls.length > polls + 2, { what: 'polls go on' });
    server.override = {};
    await until(() => (server.heartbeats.at(-1)?.agentHealth?.heartbeatErrorsTotal ?? 0) >= 2, {
      what: 'the failures are reported',
    });
    expect(place.engines()).to.deep.equal([engine]);
  });

  it('runs a config without its optional parts, and counts a heartbeat answered {"ok": true} as delivered', async () => {
    const { logLevel: _, secrets: __, certFiles: ___, ...bare } = pipeline('p2');
    const answer = JSON.stringify({ pipelines: [pipeline('p1'), { ...bare, logLevel: null }] });
    let beats = 0;
    server.override.config = (_, response) => raw(answer)(response);
    server.override.heartbeat = (_, response) => {
      beats += 1;
      raw('{"ok": true}')(response);
    };
    await until(() => place.engines().length === 2, { what: 'the second engine runs' });
    const { pollErrorsTotal, heartbeatErrorsTotal } = server.heartbeats.at(-1)?.agentHealth ?? {};
    const before = beats;
    await until(() => beats >= before + 2, { what: 'heartbeats go on' });
    server.override.heartbeat = undefined;
    await until(() => server.report('p2')?.status === 'RUNNING', { what: 'it is reported' });
    expect(server.heartbeats.at(-1)?.agentHealth).to.include({ pollErrorsTotal, heartbeatErrorsTotal });
    expect(server.report('p1')).to.include({ status: 'RUNNING', pid: engine });
  });

  it('stops pipelines only on a well-formed empty list', async () => {
    server.pipelines = [];
    await until(() => place.engines().length === 0, { what: 'the engine has ended' });
    await until(() => server.report('p1') === undefined, { what: 'the pipeline is forgotten' });
  });
});
