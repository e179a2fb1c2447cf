/** One-shot samples: an agent, the reference engine or a fake one, and a controller that says what the test wants. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { SampleResult } from '../../../schemas/agent/protocol.ts';
import { tapsOf } from '../../support/agents/tap-processes.ts';
import { ENGINE, ensureAgent, FAKE_ENGINE, PACE_MS, type Workplace } from './agent-process.ts';
import type { InProcessAgent } from './in-process-agent.ts';
import { makeScene, type Scene } from './scene.ts';
import { pipeline, type ScriptedServer, send } from './scripted-server.ts';

const SECRET = 'hunter-Ω-2&"/x';
const CONFIG = `sources:
  in: { type: demo_logs, format: shuffle, lines: ["one"], interval: 0.02 }
  silent: { type: demo_logs, format: shuffle, lines: ["one"], interval: 3600 }
transforms:
  tidy:
    type: remap
    inputs: [in]
    source: |
      .at = now()
      .nested = {"a b": 1, "list": [true]}
      .token = "Bearer \${SVC_SECRET_TOKEN}"
      .pin = 98765
  split: { type: route, inputs: [tidy], route: { all: "true", none: "false" } }
sinks:
  out: { type: blackhole, inputs: [split.all], print_interval_secs: 0 }
  quiet: { type: blackhole, inputs: [silent, split.none, split._unmatched], print_interval_secs: 0 }
`;

type FullResult = SampleResult & Required<Pick<SampleResult, 'events' | 'schema'>>;

describe('samples of events on a node', function () {
  this.timeout(40_000);
  let scene: Scene;
  let server: ScriptedServer;
  let place: Workplace;
  let agent: InProcessAgent;

  const until: Scene['until'] = (...args) => scene.until(...args);
  const running = (id = 'p1') => scene.reach(id, 'RUNNING');
  const open = async (paceMs: number) => {
    scene = await makeScene();
    ({ server, place } = scene);
    place.paceMs = paceMs;
  };
  /** An agent with the reference engine. */
  const openReal = async () => {
    await open(10);
    server.pipelines = [real()];
    agent = scene.run({ SVC_ENGINE_BIN: ENGINE });
    await running();
  };
  const openFake = async (env: Record<string, string> = {}) => {
    await open(PACE_MS);
    server.pipelines = [pipeline('p1', { configYaml: '# fault: none\n' })];
    agent = scene.run(env);
    await running();
  };
  const real = (id = 'p1') =>
    pipeline(id, {
      configYaml: CONFIG,
      secrets: { SVC_SECRET_TOKEN: SECRET.replaceAll('"', ''), SVC_SECRET_PIN: '98765' },
    });
  let asked = 0;
  const ask = (componentKeys: string[], fields = {}): string => {
    asked += 1;
    const requestId = `request-${asked}`;
    const request = { requestId, pipelineId: 'p1', componentKeys, limit: 3, ...fields };
    server.push({ type: 'sample_request', ...request });
    return requestId;
  };
  const answers = async (requestId: string, count: number, timeoutMs = 10_000): Promise<FullResult[]> => {
    await until(() => server.resultsOf(requestId).length >= count, {
      what: () => `${count} results are there: ${JSON.stringify(server.resultsOf(requestId)).slice(0, 300)}`,
      timeoutMs,
    });
    // Our own agent always brings both.
    return server.resultsOf(requestId) as FullResult[];
  };
  const taps = () => tapsOf(place.portBase + 1, place.portBase + 3);

  describe('of the reference engine', () => {
    before(async () => {
      await ensureAgent();
      await openReal();
    });
    after(() => scene.close());
    beforeEach(() => {
      server.override = {};
      server.samples = [];
      server.sampleRequests = [];
    });

    it('brings as many events of each component as were asked for, with their fields', async () => {
      const results = await answers(ask(['in', 'tidy', 'split.all', 'out'], { sinkKeys: ['out'] }), 4);
      expect(results.map(({ componentKey }) => componentKey)).to.have.members([
        'in',
        'tidy',
        'split.all',
        'out',
      ]);
      for (const { events, error, componentKey } of results) {
        expect(error, componentKey).to.equal(null);
        expect(events, componentKey).to.have.length(3);
      }
      const tidy = results.find(({ componentKey }) => componentKey === 'tidy');
      expect(tidy?.events[0]).to.include({ message: 'one', source_type: 'demo_logs' });
      const types = Object.fromEntries((tidy?.schema ?? []).map(({ path, type }) => [path, type]));
      expect(types).to.include({
        '.at': 'timestamp',
        '.message': 'string',
        '.nested': 'object',
        '.nested."a b"': 'integer',
        '.nested.list': 'array',
        '.nested.list[]': 'boolean',
      });
      await until(() => taps().length === 0, { what: 'no tap is left' });
    });

    it('carries a request out once, though every poll brings it again', async () => {
      server.sampleRequests = [{ requestId: 'again', pipelineId: 'p1', componentKeys: ['in'], limit: 2 }];
      server.revision += 1;
      await answers('again', 1);
      // Each poll shows another answer, so that none is cut short by its ETag.
      for (let round = 0; round < 4; round += 1) {
        const polls = server.polls.length;
        server.revision += 1;
        server.push({ type: 'config_changed', reason: 'look' });
        await until(() => server.polls.length > polls, { what: 'it polls' });
      }
      server.push({ type: 'sample_request', ...server.sampleRequests[0] } as { type: string });
      await answers(ask(['in']), 1);
      expect(server.resultsOf('again')).to.have.length(1);
    });

    it('lets no secret leave, neither as text nor as number', async () => {
      const [result] = await answers(ask(['tidy']), 1);
      expect(result?.events[0]).to.include({ token: 'Bearer [redacted]', pin: '[redacted]' });
      const said = JSON.stringify(server.samples) + agent.output();
      expect(said).to.not.contain('hunter');
      expect(said).to.not.contain('98765');
    });

    it('keeps results while the controller is away, and brings them when it is back', async () => {
      let refused = 0;
      server.override.samples = (_, response) => {
        refused += 1;
        send(response, 503, { error: 'not now' });
      };
      const requestId = ask(['in', 'tidy']);
      await until(() => refused >= 2, { what: 'it has tried twice', timeoutMs: 10_000 });
      server.override = {};
      const results = await answers(requestId, 2);
      expect(results.map(({ events }) => events.length)).to.deep.equal([3, 3]);
    });

    it('brings what the controller takes when it refuses one of them', async () => {
      let refused = 0;
      server.override.samples = (_, response) => {
        refused += 1;
        if (refused === 2) server.override = {};
        send(response, 400, { error: 'one of them is wrong' });
      };
      const requestId = ask(['in*', 'tidy*', 'out*']);
      const results = await answers(requestId, 2);
      expect(results).to.have.length(2);
    });

    it('ignores requests that are malformed or out of bounds', async () => {
      const good = { requestId: 'r', pipelineId: 'p1', componentKeys: ['in'], limit: 1 };
      const bad = [
        { ...good, requestId: '../x' },
        { ...good, pipelineId: 7 },
        { ...good, componentKeys: 'in' },
        { ...good, componentKeys: [] },
        { ...good, componentKeys: Array.from({ length: 51 }, (_, index) => `c${index}`) },
        { ...good, componentKeys: ['x'.repeat(257)] },
        { ...good, limit: 0 },
        { ...good, limit: 51 },
        { ...good, limit: '3' },
        { ...good, sinkKeys: [1] },
        null,
        [],
      ];
      for (const request of bad) server.push({ ...request, type: 'sample_request' });
      server.sampleRequests = bad as unknown as typeof server.sampleRequests;
      server.revision += 1;
      server.push({ type: 'config_changed', reason: 'look' });
      await answers(ask(['in']), 1);
      expect(server.samples.flatMap(({ results }) => results)).to.have.length(1);
      expect(server.report('p1')?.status).to.equal('RUNNING');
    });

    it('says at once what cannot be had', async () => {
      server.pipelines = [real(), real('p2')];
      server.push({ type: 'config_changed', reason: 'deployed' });
      await until(() => server.report('p2')?.status === 'STARTING', { what: 'p2 starts' });
      const [starting] = await answers(ask(['in'], { pipelineId: 'p2' }), 1);
      expect(starting?.error).to.equal('the pipeline is STARTING on this node: try again when it is RUNNING');
      const [unknown] = await answers(ask(['in'], { pipelineId: 'nowhere' }), 1);
      expect(unknown).to.include({ error: 'the pipeline does not run on this node' });
      const keys = ['in*', 'in,tidy', '-n', '--url=http://x', 'a[b]', 'a?', '{in}', 'a\nb'];
      const refused = await answers(ask(keys), keys.length);
      for (const { error, events } of refused) {
        expect(error).to.equal('not a component id: patterns are not taken');
        expect(events).to.deep.equal([]);
      }
    });

    it('ends with the engine that it listens to', async () => {
      const requestId = ask(['silent']);
      await until(() => taps().length === 1, { what: 'it listens' });
      process.kill(server.report('p1')?.pid ?? 0, 'SIGKILL');
      const [result] = await answers(requestId, 1);
      expect(result?.events).to.deep.equal([]);
      expect(result?.error).to.equal('the engine ended while it was listened to');
      expect(taps()).to.deep.equal([]);
    });
  });

  describe('of an engine that does what its component is called', () => {
    before(() => openFake());
    after(() => scene.close());

    it('tells of an engine that is too old to know tap', async () => {
      const [result] = await answers(ask(['any']), 1);
      expect(result?.error).to.equal(
        "the engine of this node does not know tap, or not these options of it: error: unrecognized subcommand 'tap'",
      );
    });

    it('leaves out what is too large, and kills a tap that does not end', async () => {
      const requestId = ask(['huge', 'endless', 'hang', 'leave-child'], { limit: 2 });
      const results = await answers(requestId, 3);
      const of = (key: string) => results.find(({ componentKey }) => componentKey === key);
      const [huge, endless] = [of('huge'), of('endless')];
      expect(of('leave-child')?.error).to.equal('the engine ended while it was listened to');
      expect(huge?.events).to.deep.equal([
        'an event of 70010 characters was left out: 65536 are shown at most',
        { small: 1 },
      ]);
      expect(huge?.schema).to.deep.equal([{ path: '.small', type: 'integer', sample: 1 }]);
      expect(endless?.events[0]).to.match(/^an event of more than \d+ bytes was left out$/);
      expect(endless?.events[1]).to.deep.equal({ small: 1 });
      place.clock.advance(20_000);
      const hung = (await answers(requestId, 4)).find(({ componentKey }) => componentKey === 'hang');
      expect(hung?.error).to.equal('the engine did not answer in time');
    });

    it('says so when no event came by, and does not make the others wait for that', async () => {
      const go = join(place.dir, 'go');
      // A tap is killed 5 s of this clock after its time, and shells start and end in real time.
      place.paceMs = 5;
      const keys = ['', '-2', '-3', '-4'].map((ending) => `until:${go}${ending}`);
      // With the seventh there are two rounds of four.
      const requestId = ask([...['one-1', 'one-2', 'one-3'], ...keys]);
      await answers(requestId, 3);
      await until(() => taps().length === 4, { what: 'four are listened to' });
      expect(server.resultsOf(requestId)).to.have.length(3);
      place.clock.advance(15_000);
      for (const key of keys) writeFileSync(key.replace('until:', ''), '');
      const results = await answers(requestId, 7);
      const empty = results.filter(({ error }) => error !== null);
      expect(empty.map(({ componentKey }) => componentKey)).to.have.members(keys);
      for (const { error } of empty) expect(error).to.equal('no event came by within 15 seconds');
      place.paceMs = PACE_MS;
    });

    it('runs four taps at a time when twenty requests come at once', async () => {
      const go = join(place.dir, 'go-on');
      const ids = Array.from({ length: 20 }, () =>
        ask(
          [1, 2, 3].map((n) => `after:${go}#${n}`),
          { limit: 1 },
        ),
      );
      let most = 0;
      // A list takes a while to read: one tap may end and the next start meanwhile. What two lists hold ran between them.
      const look = () => {
        const before = new Set(taps());
        most = Math.max(most, taps().filter((pid) => before.has(pid)).length);
        return most;
      };
      await until(() => look() >= 4, { what: 'four taps run' });
      writeFileSync(go, '');
      await until(
        () => {
          look();
          return ids.every((id) => server.resultsOf(id).length === 3);
        },
        { what: 'all are answered' },
      );
      expect(most).to.equal(4);
      for (const { events, error } of ids.flatMap((id) => server.resultsOf(id)))
        expect({ events, error }).to.deep.equal({ events: [{ n: 1 }], error: null });
    });
  });

  describe('of an agent of its own', () => {
    before(ensureAgent);
    afterEach(() => scene.close());

    it('gives a tap neither its own environment nor a proxy, and all its arguments', async () => {
      await openFake({ VECTOR_LOG_FORMAT: 'json', NO_PROXY: '127.0.0.1', AWS_SECRET_ACCESS_KEY: 'x' });
      const results = await answers(ask(['env', 'args'], { limit: 1, sinkKeys: ['args'] }), 2);
      const event = (key: string) =>
        results.find(({ componentKey }) => componentKey === key)?.events[0] as Record<string, string>;
      expect(event('env').env?.trim().split(' ')).to.have.members(['PATH', 'PWD']);
      expect(event('args').args).to.equal(
        `tap --inputs-of args --format json --limit 1 --interval 500 --duration-ms 15000 --url http://127.0.0.1:${place.portBase + 1} --quiet --no-reconnect`,
      );
    });

    it('asks an engine before 0.55 at its GraphQL address, and takes its events as they are', async () => {
      await open(50);
      const old = join(place.dir, 'old-vector');
      writeFileSync(
        old,
        `#!/bin/sh
  case $1 in
    --version) echo 'vector 0.54.0 (x86_64-unknown-linux-gnu abc 2026-03-01)' ;;
    tap) printf '{"log":{"url":"%s"}}\\n' "$(echo "$*" | sed 's/.*--url \\([^ ]*\\).*/\\1/')" ;;
    *) exec ${FAKE_ENGINE} "$@" ;;
  esac
  `,
      );
      chmodSync(old, 0o755);
      server.pipelines = [pipeline('p1', { configYaml: '# fault: none\n' })];
      agent = scene.run({ SVC_ENGINE_BIN: old });
      await running();
      await until(() => server.heartbeats.at(-1)?.engineVersion?.startsWith('vector') ?? false, {
        what: 'the version is known',
      });
      const [result] = await answers(ask(['in'], { limit: 1 }), 1);
      expect(result?.events).to.deep.equal([
        { log: { url: `http://127.0.0.1:${place.portBase + 1}/graphql` } },
      ]);
    });

    it('leaves no tap when it ends, and is not deceived by one after it was killed', async () => {
      await open(10);
      server.pipelines = [real()];
      const first = scene.runCompiled({ SVC_ENGINE_BIN: ENGINE });
      await running();
      ask(['silent']);
      await until(() => taps().length === 1, { what: 'it listens' });
      const [tap] = taps();
      first.child.kill('SIGKILL');
      await first.ended;
      server.heartbeats = [];
      const second = scene.run({ SVC_ENGINE_BIN: ENGINE });
      await until(
        () => second.output().includes('msg="stopping engines that an earlier run left behind" count=1'),
        {
          what: 'the engine is found, and nothing else',
        },
      );
      await until(() => !taps().includes(tap ?? 0), { what: 'the old tap has ended with its engine' });
      await running();
      ask(['silent']);
      await until(() => taps().length === 1, { what: 'the second agent listens' });
      expect(await second.terminate()).to.equal(0);
      expect(taps()).to.deep.equal([]);
    });
  });
});
