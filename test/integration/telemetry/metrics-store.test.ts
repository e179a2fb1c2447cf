/** A metrics store of one's own with faults: away, slow, full, refusing, with a wrong token; before a real Prometheus. */
import { expect } from 'chai';
import type { Static } from 'typebox';
import type { MetricsStoreConfig } from '../../../controller/config.ts';
import { createPrometheusMinutes, type MinuteStore } from '../../../controller/insight/telemetry/index.ts';
import { newId } from '../../../controller/platform/operation/ids.ts';
import { type ManualClock, manualClock } from '../../../reconcilers/loops/clock.ts';
import type { CostSummary, CostTimeSeries } from '../../../schemas/api/insight/analytics.ts';
import type { PipelineMetrics } from '../../../schemas/api/insight/metrics.ts';
import { heartbeat } from '../../support/agents/agent-client.ts';
import { useController } from '../../support/harness/controller.ts';
import { usePlatform } from '../../support/harness/platform.ts';
import { logInto } from '../../support/harness/recorded-log.ts';
import { until } from '../../support/harness/until.ts';
import { use } from '../../support/harness/use.ts';
import { insertEnvironment, insertNodes } from '../../support/scenes/fleet-parts.ts';
import { lastMinute, recordHistory } from '../../support/scenes/recorded-metrics.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';
import {
  findPrometheus,
  type GateMode,
  StoreGate,
  startPrometheus,
} from '../../support/servers/metrics-stores.ts';

const TOKEN = 'the-token-of-the-gate';

describe('a metrics store', function () {
  this.timeout(60_000);
  if (findPrometheus() === null) {
    it('is written to and asked', function () {
      this.skip();
    });
    return;
  }
  const prometheus = use(startPrometheus, (one) => one.stop());
  const gate = use(
    () => StoreGate.start(prometheus, TOKEN),
    (one) => one.close(),
  );

  describe('that is written to', () => {
    const platform = usePlatform();
    let environmentId: string;
    let clock: ManualClock;
    let logged: string;
    const stores: MinuteStore[] = [];

    before(async () => {
      environmentId = await insertEnvironment(platform);
    });
    beforeEach(() => {
      gate.mode = 'pass';
      clock = manualClock(Date.now());
      logged = '';
    });
    afterEach(async () => {
      gate.mode = 'pass';
      gate.release();
      await Promise.all(stores.splice(0).map((store) => store.stop()));
    });

    function open(
      more: { maxBytes?: number; token?: string; tenant?: MetricsStoreConfig['tenant'] } = {},
    ): MinuteStore {
      const { token, tenant = null, ...limits } = more;
      const store = createPrometheusMinutes({
        ...{
          ...gate.config(token),
          ...limits,
          tenant,
          clock,
          log: logInto('debug', (text) => (logged += text)),
        },
      });
      stores.push(store);
      return store;
    }
    const countOf = (text: string) => logged.split(text).length - 1;

    /** Minutes of a new pipeline on a new node. */
    async function record(store: MinuteStore, minutes = 5): Promise<string> {
      const [node] = await insertNodes(platform, environmentId, 1);
      const pipelineId = newId();
      const flow = { nodeId: node?.nodeId ?? '', environmentId, pipelineId, eventsPerSecond: 10 };
      await recordHistory(platform.db, [flow], { minutes, store });
      return pipelineId;
    }
    const window = () => {
      const to = lastMinute() + 60_000;
      return { from: to - 60 * 60_000, to, stepSeconds: 60, steps: 60 };
    };
    async function minutesOf(store: MinuteStore, pipelineId: string): Promise<number> {
      const options = { window: window(), extremes: false };
      const [one] = await store.readSeries(platform.db, { of: 'pipeline', pipelineId }, options);
      return one?.mean.eventsIn.filter((value) => value !== null).length ?? 0;
    }
    const untilThere = (store: MinuteStore, pipelineId: string, minutes: number) =>
      until(async () => (await minutesOf(store, pipelineId)) >= minutes, {
        what: `${minutes} minutes of the pipeline`,
      });
    /** Lets pauses pass until it holds. */
    const untilAfterPauses = (holds: () => boolean, what: string) =>
      until(
        () => {
          clock.advance(30_000);
          return holds();
        },
        { what },
      );
    const isEmpty = (store: MinuteStore) => () => store.sizes().waiting === 0;

    for (const [what, mode] of [
      ['hangs up', 'away'],
      ['fails', { status: 500 }],
      ['wants to be left alone for a while', { status: 429, retryAfter: 7 }],
      ['is not where it should be', { status: 404 }],
    ] as [string, GateMode][])
      it(`loses nothing where it ${what}, and is told of once`, async () => {
        gate.mode = mode;
        const store = open();
        const ids = [await record(store), await record(store)];
        const asked = gate.requests.length;
        await untilAfterPauses(() => gate.requests.length > asked + 2, 'more than one try');
        expect(store.sizes().waiting).to.be.above(0);
        gate.mode = 'pass';
        await untilAfterPauses(isEmpty(store), 'all to be sent');
        for (const id of ids) await untilThere(store, id, 5);
        expect(store.sizes().dropped).to.equal(0);
        expect(countOf('the metrics store takes no samples')).to.equal(1);
        expect(countOf('the metrics store takes samples again')).to.equal(1);
      });

    describe('with tenants', () => {
      const OF_TENANTS = ['x-scope-orgid', 'accountid'] as const;
      /** What requests of writing, and of asking for every kind of answer, name as the tenant. */
      async function tenantsOf(tenant: MetricsStoreConfig['tenant']): Promise<Record<string, string[]>> {
        const first = gate.requests.length;
        const store = open({ tenant });
        const pipelineId = await record(store);
        await untilThere(store, pipelineId, 5);
        await store.largestSeries(platform.db, { of: 'pipelines', pipelineIds: [pipelineId] }, window(), 10);
        await store.readHost(platform.db, 'any', window());
        await store.readExits(platform.db, pipelineId, window());
        const sent = gate.requests.slice(first).map((path, index) => {
          const headers = gate.headers[first + index] ?? {};
          const named = OF_TENANTS.flatMap((name) => (headers[name] ? [`${name}: ${headers[name]}`] : []));
          return { path: path.split('?')[0] ?? '', tenant: named.join() || 'none' };
        });
        const byPath = Map.groupBy(sent, ({ path }) => path);
        return Object.fromEntries(
          [...byPath].map(([path, all]) => [path, [...new Set(all.map((one) => one.tenant))]]),
        );
      }
      const everywhere = (tenant: string) =>
        Object.fromEntries(['write', 'query_range', 'query'].map((path) => [`/api/v1/${path}`, [tenant]]));

      it('is sent the tenant with writes and with queries alike, and it is not logged', async () => {
        const tenants = await tenantsOf({ name: 'X-Scope-OrgID', value: 'tenant-of-mine' });
        expect(tenants).to.deep.equal(everywhere('x-scope-orgid: tenant-of-mine'));
        gate.mode = 'away';
        const store = open({ tenant: { name: 'AccountID', value: '4242' } });
        await record(store);
        await until(() => countOf('the metrics store takes no samples') === 1, { what: 'a warning' });
        await store.readExits(platform.db, 'any', window()).catch(() => {});
        expect(countOf('the metrics store cannot be asked')).to.equal(1);
        expect(logged).to.not.match(/tenant-of-mine|4242/);
      });

      it('is sent it by the name that the store knows', async () => {
        const tenants = await tenantsOf({ name: 'AccountID', value: '42' });
        expect(tenants).to.deep.equal(everywhere('accountid: 42'));
      });

      it('is sent none where none is set', async () => {
        expect(await tenantsOf(null)).to.deep.equal(everywhere('none'));
      });
    });

    it('holds up nobody while it is slow', async () => {
      gate.mode = 'slow';
      const store = open();
      // Returns, though no request is answered.
      const ids = [await record(store), await record(store)];
      await until(() => gate.held === 1, { what: 'one request at a time' });
      gate.mode = 'pass';
      gate.release();
      await until(isEmpty(store), { what: 'all to be sent' });
      for (const id of ids) await untilThere(store, id, 5);
    });

    it('costs the oldest samples once too many wait, which are counted and told once', async () => {
      gate.mode = 'away';
      const store = open({ maxBytes: 20_000 });
      const ids: string[] = [];
      for (let n = 0; n < 20; n += 1) ids.push(await record(store));
      const { dropped } = store.sizes();
      expect(dropped).to.be.above(0);
      expect(countOf('too many samples wait')).to.equal(1);
      gate.mode = 'pass';
      await untilAfterPauses(isEmpty(store), 'the rest to be sent');
      await untilThere(store, ids.at(-1) ?? '', 5);
      expect(await minutesOf(store, ids[5] ?? '')).to.equal(0);
      expect(store.sizes().dropped).to.equal(dropped);
    });

    it('that refuses samples for good costs those, and no later ones', async () => {
      gate.mode = { status: 400, text: 'out of bounds' };
      const store = open();
      await record(store);
      await until(isEmpty(store), { what: 'the refusal' });
      expect(store.sizes().dropped).to.be.above(0);
      expect(logged).to.include('out of bounds');
      gate.mode = 'pass';
      const id = await record(store);
      await until(isEmpty(store), { what: 'all to be sent' });
      await untilThere(store, id, 5);
    });

    it('that does not know the token is told of, without the token, and samples wait', async () => {
      const store = open({ token: 'hunter2-hunter2' });
      await record(store);
      await until(() => logged.includes('401'), { what: 'the refusal' });
      expect(store.sizes().waiting).to.be.above(0);
      expect(store.sizes().dropped).to.equal(0);
      const failure = await minutesOf(store, newId()).catch((error: Error) => error.message);
      expect(failure).to.match(/^The metrics store does not answer/);
      expect(logged).to.include('HEADGATE_METRICS_READ_URL').and.not.include('hunter2');
    });

    it('is sent what waits when the controller stops', async () => {
      gate.mode = 'away';
      const store = open();
      const id = await record(store);
      await until(() => countOf('takes no samples') === 1, { what: 'a try' });
      gate.mode = 'pass';
      await store.stop();
      expect(store.sizes()).to.deep.equal({ waiting: 0, dropped: 0 });
      await untilThere(store, id, 5);
    });

    it('holds up no stop while it hangs', async () => {
      gate.mode = 'slow';
      const store = open();
      await record(store);
      await until(() => gate.held === 1, { what: 'a request' });
      let hasStopped = false;
      void store.stop().then(() => {
        hasStopped = true;
      });
      await until(
        () => {
          clock.advance(5_000);
          return hasStopped;
        },
        { what: 'the stop' },
      );
    });
  });

  describe('of a controller', () => {
    const test = useController(() => ({ metricsStore: gate.config() }));
    const teams = useTwoTeams(test);
    const { pipelineIdOf, call } = {
      pipelineIdOf: () => teams.ours.pipelineId,
      call: (name: string, input: object) => teams.viewer.call('query', name, input),
    };
    afterEach(() => {
      gate.mode = 'pass';
    });

    it('that does not answer fails the charts by the minute, and nothing else', async () => {
      gate.mode = 'away';
      const pipelineId = pipelineIdOf();
      const answer = await call('metrics.getPipelineMetrics', { pipelineId });
      expect(answer.fault?.data.code).to.equal('SERVICE_UNAVAILABLE');
      expect(answer.fault?.message).to.match(/^The metrics store does not answer; try again/);
      const byHours = await call('pipeline.metrics', { pipelineId, hours: 24 * 60 });
      expect(byHours.fault).to.equal(null);
      expect((await teams.ours.node.heartbeat(heartbeat())).status).to.equal(200);
      expect(test.log()).not.to.include(TOKEN);
    });

    it('leaves the volumes of the last whole hour in Postgres, and of the one before', async () => {
      const { environmentId, pipelineId, node } = teams.ours;
      const { minutes } = test.controller.systemContext('test').services;
      const flow = { nodeId: node.nodeId, environmentId, pipelineId, eventsPerSecond: 10 };
      await recordHistory(test.db, [flow], { minutes: 200, store: minutes });
      gate.mode = 'away';
      const hour = Math.floor(lastMinute() / 3_600_000) * 3_600_000;
      const input = { environmentId, range: '1h' };
      const summary = await teams.viewer.query<Static<typeof CostSummary>>('analytics.costSummary', input);
      expect([summary.from, summary.to].map((at) => new Date(at).getTime())).to.deep.equal([
        hour - 3_600_000,
        hour,
      ]);
      for (const { bytesIn } of [summary, summary.previous])
        expect(bytesIn).to.be.closeTo(10 * 100 * 3_600, 10 * 100 * 60);
      const { stepSeconds, series } = await teams.viewer.query<Static<typeof CostTimeSeries>>(
        'analytics.costTimeSeries',
        input,
      );
      expect(stepSeconds).to.equal(3_600);
      expect(series.map(({ bytesIn }) => bytesIn)).to.deep.equal([[summary.bytesIn]]);
    });

    it('tells of no other environment, whatever ids are asked for', async () => {
      const { minutes } = test.controller.systemContext('test').services;
      const { environmentId, pipelineId, node } = teams.theirs;
      const flow = { nodeId: node.nodeId, environmentId, pipelineId, eventsPerSecond: 10 };
      await recordHistory(test.db, [flow], { minutes: 5, store: minutes });
      await until(() => minutes.sizes().waiting === 0, { what: 'all to be sent' });
      for (const id of [pipelineId, '.*', 'x"} or {__name__=~".+', 'a\\', '('])
        for (const ids of [{ pipelineIds: [id] }, { nodeIds: [id] }]) {
          const answer = await teams.viewer.query<PipelineMetrics>('dashboard.chartMetrics', {
            ...{ environmentId: teams.ours.environmentId, groupBy: 'aggregate', ...ids },
          });
          const values = answer.series.flatMap(({ mean }) => mean.eventsIn.filter((value) => value !== null));
          expect(values, JSON.stringify(ids)).to.deep.equal([]);
        }
    });
  });
});
