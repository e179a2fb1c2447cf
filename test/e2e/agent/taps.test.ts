/** Live taps: an agent, the reference engine or a fake one, and a controller that says what the test wants. */
import { expect } from 'chai';
import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import type { TapEventsRequest } from '../../../schemas/agent/protocol.ts';
import { tapsOf } from '../../support/agents/tap-processes.ts';
import { ENGINE, ensureAgent, FAKE_ENGINE } from './agent-process.ts';
import type { InProcessAgent } from './in-process-agent.ts';
import { makeScene, type Scene } from './scene.ts';
import { pipeline, type ScriptedServer, send } from './scripted-server.ts';

const config = (interval: number) => `sources:
  in: { type: demo_logs, format: shuffle, lines: ["\${SVC_SECRET_WORD:-one}"], interval: ${interval} }
  silent: { type: demo_logs, format: shuffle, lines: ["one"], interval: 3600 }
sinks:
  out: { type: blackhole, inputs: [in, silent], print_interval_secs: 0 }
`;
const CONFIG = config(0.05);

describe('live taps on a node', function () {
  this.timeout(40_000);
  let scene: Scene;
  let server: ScriptedServer;
  let agent: InProcessAgent;
  /** Each case has request ids of its own. */
  let number = 0;
  let started: string[] = [];

  const until: Scene['until'] = (...args) => scene.until(...args);
  const withSecret = (fields = {}) =>
    pipeline('p1', { configYaml: CONFIG, secrets: { SVC_SECRET_WORD: 'hunter2-word' }, ...fields });
  const runs = () => until(() => server.report('p1')?.status === 'RUNNING', { what: 'p1 runs' });
  const open = async (engine: string, paceMs: number, fields = {}) => {
    scene = await makeScene();
    scene.place.paceMs = paceMs;
    ({ server } = scene);
    server.pipelines = [withSecret(fields)];
    agent = scene.run({ SVC_ENGINE_BIN: engine });
    await runs();
  };
  beforeEach(() => {
    number += 1;
    started = [];
    server.override = {};
    server.tapEvents = [];
  });
  const idOf = (name: string) => `${name}-${number}`;
  const tap = (name: string, fields = {}) => {
    started.push(name);
    server.push({ type: 'tap_start', requestId: idOf(name), pipelineId: 'p1', componentId: 'in', ...fields });
  };
  const stop = (name: string) => server.push({ type: 'tap_stop', requestId: idOf(name) });
  const taps = () => tapsOf(scene.place.portBase + 1);
  const deliveries = (name: string): TapEventsRequest[] =>
    server.tapEvents.filter((delivery) => delivery.requestId === idOf(name));
  const events = (name: string): unknown[] =>
    deliveries(name).flatMap((delivery) => ('events' in delivery ? delivery.events : []));
  const dropped = (name: string): number =>
    deliveries(name).reduce(
      (sum, delivery) => sum + ('dropped' in delivery ? (delivery.dropped ?? 0) : 0),
      0,
    );
  const reason = (name: string): string | undefined => {
    const last = deliveries(name).at(-1);
    return last && 'status' in last ? last.reason : undefined;
  };
  const flows = (name: string, count = 5) =>
    until(() => events(name).length >= count, { what: `${name} brings events`, timeoutMs: 8_000 });
  const ends = (name: string) =>
    until(() => reason(name) !== undefined, { what: `${name} has ended`, timeoutMs: 8_000 });

  describe('of the reference engine', () => {
    before(async () => {
      await ensureAgent();
      await open(ENGINE, 10);
    });
    after(() => scene.close());
    afterEach(async () => {
      for (const name of started) stop(name);
      await until(() => taps().length === 0, { what: 'no tap is left' });
    });

    it('brings what comes by, without secrets, until it is told to stop', async () => {
      tap('t1');
      await flows('t1');
      expect(deliveries('t1')[0]).to.include({ requestId: idOf('t1'), pipelineId: 'p1', componentId: 'in' });
      expect(events('t1')[0]).to.include({ message: '[redacted]', source_type: 'demo_logs' });
      stop('t1');
      await until(() => taps().length === 0, { what: 'the tap process has ended' });
      expect(reason('t1'), 'nothing is told that was asked for').to.equal(undefined);
      expect(JSON.stringify(server.tapEvents)).to.not.contain('hunter2');
    });

    it('taps a sink at its inputs', async () => {
      tap('t1', { componentId: 'out', sink: true });
      await flows('t1', 1);
    });

    it('ends without a word where the controller knows of no such tap', async () => {
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

    it('tells what is missing after the controller was away', async () => {
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
      stop('t1');
      await until(() => taps().length === 0, { what: 'it has ended' });
    });

    it('refuses at once what it cannot tap', async () => {
      tap('glob', { componentId: 'i*' });
      tap('nowhere', { pipelineId: 'p9' });
      await ends('glob');
      await ends('nowhere');
      expect(reason('glob')).to.equal('not a component id: patterns are not taken');
      expect(reason('nowhere')).to.equal('the pipeline does not run on this node');
      expect(deliveries('glob')).to.have.length(1);
    });

    it('starts a tap once, ignores what is unknown or malformed, and takes ten', async () => {
      const silent = { componentId: 'silent' };
      for (let n = 0; n < 10; n += 1) tap(`t${n}`, silent);
      tap('t3', silent);
      tap('one-more', silent);
      for (const fields of [{ requestId: 'a/b' }, { componentId: 5 }, { componentId: '' }, { sink: 'yes' }])
        tap('malformed', fields);
      server.push({ type: 'tap_stop', requestId: 'never-heard-of' } as { type: string });
      server.push({ type: 'tap_stop' });
      await ends('one-more');
      expect(reason('one-more')).to.equal('this node has 10 live taps already: end one of them');
      await until(() => taps().length === 10, { what: 'ten taps run' });
      stop('t4');
      await until(() => taps().length === 9, { what: 'one has ended' });
      tap('in-its-place', silent);
      await until(() => taps().length === 10, { what: 'another one runs' });
      expect(server.tapEvents.map(({ requestId }) => requestId)).to.deep.equal([idOf('one-more')]);
    });

    describe('that ends', () => {
      afterEach(async () => {
        await scene.close();
        await open(ENGINE, 10);
      });

      it('ends with a crash of the engine, with a new version and with the pipeline, and says so', async () => {
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
        server.pipelines = [withSecret({ configYaml: config(0.04), version: 2 })];
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
        await until(() => taps().length === 0, { what: 'no tap is left' });
      });

      it('leaves no tap when the agent ends', async () => {
        tap('t1');
        await flows('t1');
        expect(await agent.terminate()).to.equal(0);
        expect(taps()).to.deep.equal([]);
      });
    });
  });

  describe('of an engine that does what its component is called', () => {
    before(() => open(FAKE_ENGINE, 50, { configYaml: '# fault: none\n' }));
    after(() => scene.close());

    it('sends at most two hundred events a second, in batches, and counts the others', async () => {
      tap('t1', { componentId: 'flood' });
      const { clock } = scene.place;
      const startedAt = clock.monotonic();
      await until(() => events('t1').length >= 600, { what: 'it brings events' });
      const seconds = (clock.monotonic() - startedAt) / 1000;
      expect(events('t1').length / seconds).to.be.below(AGENT_LIMITS.tapEventsPerSecond * 1.5);
      for (const delivery of deliveries('t1'))
        expect('events' in delivery && delivery.events.length).to.be.within(1, AGENT_LIMITS.tapBatchEvents);
      expect(dropped('t1')).to.be.greaterThan(1_000);
    });

    it('says what an engine without tap says', async () => {
      tap('t1', { componentId: 'any' });
      await ends('t1');
      expect(reason('t1')).to.equal("the engine ended it: error: unrecognized subcommand 'tap'");
    });

    it('listens for five minutes at most', async () => {
      tap('t1', { componentId: 'args' });
      await ends('t1');
      expect(JSON.stringify(events('t1'))).to.contain('--duration-ms 300000 ');
    });
  });
});
