/** Live taps: the compiled agent, the reference engine, and a controller that says what the test wants. */
import { expect } from 'chai';
import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import type { TapEventsRequest } from '../../../schemas/agent/protocol.ts';
import { tapsOf } from '../../support/agents/tap-processes.ts';
import { until } from '../../support/harness/until.ts';
import {
  type AgentProcess,
  ENGINE,
  ensureAgent,
  FAKE_ENGINE,
  makeWorkplace,
  type Workplace,
} from './agent-process.ts';
import { pipeline, type ScriptedServer, send, startServer } from './scripted-server.ts';

const config = (interval: number) => `sources:
  in: { type: demo_logs, format: shuffle, lines: ["\${SVC_SECRET_WORD:-one}"], interval: ${interval} }
sinks:
  out: { type: blackhole, inputs: [in], print_interval_secs: 0 }
`;

describe('live taps on a node', function () {
  this.timeout(40_000);
  let server: ScriptedServer;
  let place: Workplace;

  before(ensureAgent);
  beforeEach(async () => {
    server = await startServer();
    place = await makeWorkplace();
  });
  afterEach(async () => {
    await place.clean();
    await server.close();
  });

  const start = async (engine = ENGINE, configYaml = config(0.05)): Promise<AgentProcess> => {
    server.pipelines = [pipeline('p1', { configYaml, secrets: { SVC_SECRET_WORD: 'hunter2-word' } })];
    const agent = place.run({ SVC_URL: server.url, SVC_TOKEN: 'enroll-me', SVC_ENGINE_BIN: engine });
    await until(() => server.report('p1')?.status === 'RUNNING', { what: 'p1 runs', timeoutMs: 10_000 });
    return agent;
  };
  const startFake = () => start(FAKE_ENGINE, '# fault: none\n');
  const tap = (requestId: string, fields = {}) =>
    server.push({ type: 'tap_start', requestId, pipelineId: 'p1', componentId: 'in', ...fields });
  const taps = () => tapsOf(place.portBase + 1);
  const deliveries = (requestId: string): TapEventsRequest[] =>
    server.tapEvents.filter((delivery) => delivery.requestId === requestId);
  const events = (requestId: string): unknown[] =>
    deliveries(requestId).flatMap((delivery) => ('events' in delivery ? delivery.events : []));
  const dropped = (requestId: string): number =>
    deliveries(requestId).reduce(
      (sum, delivery) => sum + ('dropped' in delivery ? (delivery.dropped ?? 0) : 0),
      0,
    );
  const reason = (requestId: string): string | undefined => {
    const last = deliveries(requestId).at(-1);
    return last && 'status' in last ? last.reason : undefined;
  };
  const flows = (requestId: string, count = 5) =>
    until(() => events(requestId).length >= count, { what: `${requestId} brings events`, timeoutMs: 8_000 });
  const ends = (requestId: string) =>
    until(() => reason(requestId) !== undefined, { what: `${requestId} has ended`, timeoutMs: 8_000 });

  it('brings what comes by, without secrets, until it is told to stop', async () => {
    await start();
    tap('t1');
    await flows('t1');
    expect(deliveries('t1')[0]).to.include({ requestId: 't1', pipelineId: 'p1', componentId: 'in' });
    expect(events('t1')[0]).to.include({ message: '[redacted]', source_type: 'demo_logs' });
    server.push({ type: 'tap_stop', requestId: 't1' });
    await until(() => taps().length === 0, { what: 'the tap process has ended' });
    expect(reason('t1'), 'nothing is told that was asked for').to.equal(undefined);
    expect(JSON.stringify(server.tapEvents)).to.not.contain('hunter2');
  });

  it('taps a sink at its inputs', async () => {
    await start();
    tap('t1', { componentId: 'out', sink: true });
    await flows('t1', 1);
  });

  it('ends without a word where the controller knows of no such tap', async () => {
    await start();
    let refused = 0;
    server.override['tap-events'] = (_, response) => {
      refused += 1;
      send(response, 403, { error: 'no such tap' });
    };
    tap('t1');
    await until(() => refused === 1 && taps().length === 0, { what: 'it has ended', timeoutMs: 8_000 });
    server.override = {};
    tap('t2');
    await flows('t2');
    expect(deliveries('t1')).to.deep.equal([]);
  });

  it('ends with a crash of the engine, with a new version and with the pipeline, and says so', async () => {
    await start();
    tap('crash');
    await flows('crash');
    const killed = server.report('p1')?.pid ?? 0;
    process.kill(killed, 'SIGKILL');
    await ends('crash');
    expect(reason('crash')).to.equal('the engine of the pipeline crashed');
    // The last heartbeat before the crash says RUNNING too.
    const again = () => server.report('p1')?.status === 'RUNNING' && server.report('p1')?.pid !== killed;
    await until(again, { what: 'p1 runs again', timeoutMs: 10_000 });

    tap('change');
    await flows('change');
    server.pipelines = [pipeline('p1', { configYaml: config(0.04), version: 2 })];
    server.push({ type: 'config_changed', reason: 'deployed' });
    await ends('change');
    expect(reason('change')).to.equal('the pipeline was restarted');
    await until(() => server.report('p1')?.version === 2 && server.report('p1')?.status === 'RUNNING', {
      what: 'version 2 runs',
      timeoutMs: 10_000,
    });

    tap('undeploy');
    await flows('undeploy');
    server.pipelines = [];
    server.push({ type: 'config_changed', reason: 'undeployed' });
    await ends('undeploy');
    expect(reason('undeploy')).to.be.oneOf([
      'the pipeline does not run on this node any more',
      'the engine of the pipeline has ended',
    ]);
    expect(taps()).to.deep.equal([]);
  });

  it('sends at most two hundred events a second, in batches, and counts the others', async () => {
    await startFake();
    tap('t1', { componentId: 'flood' });
    const startedAt = Date.now();
    await until(() => events('t1').length >= 600, { what: 'it brings events', timeoutMs: 15_000 });
    const seconds = (Date.now() - startedAt) / 1000;
    expect(events('t1').length / seconds).to.be.below(AGENT_LIMITS.tapEventsPerSecond * 1.5);
    for (const delivery of deliveries('t1'))
      expect('events' in delivery && delivery.events.length).to.be.within(1, AGENT_LIMITS.tapBatchEvents);
    expect(dropped('t1')).to.be.greaterThan(1_000);
  });

  it('tells what is missing after the controller was away', async () => {
    await start();
    tap('t1');
    await flows('t1');
    let refused = 0;
    server.override['tap-events'] = (_, response) => {
      refused += 1;
      send(response, 503, { error: 'not now' });
    };
    await until(() => refused === 2, { what: 'two deliveries fail', timeoutMs: 8_000 });
    const before = events('t1').length;
    server.override = {};
    await flows('t1', before + 1);
    expect(dropped('t1')).to.be.greaterThan(0);
    server.push({ type: 'tap_stop', requestId: 't1' });
    await until(() => taps().length === 0, { what: 'it has ended' });
  });

  it('refuses at once what it cannot tap', async () => {
    await start();
    tap('glob', { componentId: 'i*' });
    tap('nowhere', { pipelineId: 'p9' });
    await ends('glob');
    await ends('nowhere');
    expect(reason('glob')).to.equal('not a component id: patterns are not taken');
    expect(reason('nowhere')).to.equal('the pipeline does not run on this node');
    expect(deliveries('glob')).to.have.length(1);
  });

  it('says what an engine without tap says', async () => {
    await startFake();
    tap('t1', { componentId: 'any' });
    await ends('t1');
    expect(reason('t1')).to.equal("the engine ended it: error: unrecognized subcommand 'tap'");
  });

  it('listens for five minutes at most', async () => {
    await startFake();
    tap('t1', { componentId: 'args' });
    await ends('t1');
    expect(JSON.stringify(events('t1'))).to.contain('--duration-ms 300000 ');
  });

  it('starts a tap once, ignores what is unknown or malformed, and takes ten', async () => {
    await start(ENGINE, config(3600));
    for (let n = 0; n < 10; n += 1) tap(`t${n}`);
    tap('t3');
    tap('one-more');
    for (const fields of [{ requestId: 'a/b' }, { componentId: 5 }, { componentId: '' }, { sink: 'yes' }])
      tap('malformed', fields);
    server.push({ type: 'tap_stop', requestId: 'never-heard-of' } as { type: string });
    server.push({ type: 'tap_stop' });
    await ends('one-more');
    expect(reason('one-more')).to.equal('this node has 10 live taps already: end one of them');
    await until(() => taps().length === 10, { what: 'ten taps run' });
    server.push({ type: 'tap_stop', requestId: 't4' });
    await until(() => taps().length === 9, { what: 'one has ended' });
    tap('in-its-place');
    await until(() => taps().length === 10, { what: 'another one runs' });
    expect(server.tapEvents.map(({ requestId }) => requestId)).to.deep.equal(['one-more']);
  });

  it('leaves no tap when the agent ends', async () => {
    const agent = await start();
    tap('t1');
    await flows('t1');
    agent.child.kill('SIGTERM');
    expect(await agent.ended).to.equal(0);
    expect(taps()).to.deep.equal([]);
  });
});
