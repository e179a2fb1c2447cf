/** metrics.*, pipeline.metrics, fleet.nodeMetrics and dashboard.chartMetrics over what was recorded. */

import { expect } from 'chai';
import type { Static } from 'typebox';
import { packMinutes } from '../../../controller/insight/telemetry/index.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import type { RulePreview } from '../../../schemas/api/insight/alerts.ts';
import type {
  ChartMetrics,
  ComponentLatencyHistory,
  ComponentMetrics,
  LiveRates,
  MetricsMark,
  NodeMetrics,
  NodePipelineRates,
  PipelineMetrics,
  StepValues,
} from '../../../schemas/api/insight/metrics.ts';
import { heartbeat } from '../../support/agents/agent-client.ts';
import { insertAlertEvent } from '../../support/fixtures/alert-events.ts';
import { useController } from '../../support/harness/controller.ts';
import { QUIET } from '../../support/harness/platform.ts';
import { until } from '../../support/harness/until.ts';
import { use } from '../../support/harness/use.ts';
import { recordHistory, silentNode } from '../../support/scenes/recorded-metrics.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';
import { METRICS_STORES, type MetricsStore } from '../../support/servers/metrics-stores.ts';

type Chart = Static<typeof ChartMetrics>;

/** Six hours, and a little more. */
const MINUTES = 380;

const POSTGRES = { find: () => 'there', start: null };
const STORES: readonly {
  name: string;
  find: () => string | null;
  start: (() => Promise<MetricsStore>) | null;
  isPacked?: boolean;
}[] = [
  { ...POSTGRES, name: 'Postgres' },
  { ...POSTGRES, name: 'Postgres, packed', isPacked: true },
  ...METRICS_STORES,
];

for (const { name, find, start, isPacked = false } of STORES)
  describe(`metrics over time, in ${name}`, () => {
    if (find() === null) {
      it('are as they are in Postgres', function () {
        this.skip();
      });
      return;
    }
    const store = start ? use(start, (one) => one.stop()) : null;
    const test = useController(() => ({ metricsStore: store ? store.config : null }));
    const teams = useTwoTeams(test);
    let firstNode: string;
    let secondNode: string;

    before(async function () {
      this.timeout(60_000);
      const { environmentId, pipelineId } = teams.ours;
      firstNode = await silentNode(teams, test.url, environmentId, 'node-1');
      secondNode = await silentNode(teams, test.url, environmentId, 'node-2');
      const flow = { environmentId, pipelineId };
      const { minutes } = test.controller.systemContext('test').services;
      await recordHistory(
        test.db,
        [
          { ...flow, nodeId: firstNode, eventsPerSecond: 30 },
          { ...flow, nodeId: secondNode, eventsPerSecond: 10 },
        ],
        {
          minutes: MINUTES,
          isSilent: (minutesAgo) => minutesAgo > 20 && minutesAgo < 40,
          exitsAt: [100, 50],
          store: minutes,
        },
      );
      await until(() => minutes.sizes().waiting === 0, { what: 'the store to have all' });
      expect(minutes.sizes().dropped).to.equal(0);
      const soon = manualClock(Date.now() + 2 * 3_600_000);
      if (isPacked) expect(await packMinutes({ db: test.db, clock: soon, log: QUIET })).to.be.above(0);
      // A store may show what it has taken a moment later.
      const newest = async () => (await metrics()).series[0]?.mean.eventsIn.slice(-4) ?? [];
      await until(async () => (await newest()).some((value) => value !== null), {
        what: 'the store to tell all',
      });
    });

    const pipelineId = () => ({ pipelineId: teams.ours.pipelineId });
    const metrics = (more: object = {}) =>
      teams.viewer.query<PipelineMetrics>('metrics.getPipelineMetrics', { ...pipelineId(), ...more });
    /** Without the last two minutes: the nodes have also reported to the controller since they enrolled. */
    const known = (values: StepValues = []) => values.slice(0, -2).filter((value) => value !== null);
    const codeOf = async (name: string, input: object) =>
      (await teams.viewer.call('query', name, input)).fault?.data.code ?? 'none';
    /** On the wire a moment is text. */
    const ms = (time: Date) => new Date(time).getTime();

    it('are 60 minutes of a pipeline unless more is asked for, all nodes together', async () => {
      const { series, stepSeconds, from, to } = await metrics();
      expect(stepSeconds).to.equal(60);
      expect(ms(to) - ms(from)).to.equal(3_600_000);
      const [all, ...others] = series;
      expect(others).to.deep.equal([]);
      expect(all?.mean.eventsIn).to.have.length(60);
      for (const value of known(all?.mean.eventsIn)) expect(value).to.be.closeTo(40, 1.5);
      for (const value of known(all?.mean.bytesOut)) expect(value).to.be.closeTo(400, 15);
      expect(known(all?.latencyMs)[0]).to.equal(2);
      expect(known(all?.utilization)[0]).to.equal(0.5);
    });

    it('are those of several pipelines at once, in steps of five minutes', async () => {
      const { db, services } = test.controller.systemContext('test');
      const to = Math.floor((Date.now() - 180_000) / 60_000) * 60_000;
      const window = { from: to - 24 * 300_000, to, stepSeconds: 300, steps: 24 };
      const [ours, theirs] = [teams.ours.pipelineId, teams.theirs.pipelineId];
      const source = { of: 'pipelines', pipelineIds: [ours, theirs, 'not-there'] } as const;
      const series = await services.minutes.readSeries(db, source, { window, extremes: false });
      expect(series.map(({ id }) => id))
        .to.include(ours)
        .and.not.include('not-there');
      const own = series.find(({ id }) => id === ours);
      for (const value of known(own?.mean.eventsIn)) expect(value).to.be.closeTo(40, 1.5);
      // The nodes were silent for twenty minutes.
      expect(own?.mean.eventsIn.filter((value) => value === null)).to.have.length.within(3, 5);
      expect(known(own?.latencyMs)[0]).to.equal(2);
      const none = { of: 'pipelines', pipelineIds: ['not-there'] } as const;
      expect(await services.minutes.readSeries(db, none, { window, extremes: false })).to.deep.equal([]);
    });

    it('have gaps where nothing was reported, and count what moved meanwhile in their hours', async () => {
      const { series } = await metrics();
      const gaps = series[0]?.mean.eventsIn.filter((value) => value === null).length;
      expect(gaps).to.be.within(19, 23);
      const { series: byHours } = await teams.viewer.query<PipelineMetrics>('pipeline.metrics', {
        ...pipelineId(),
        hours: 24 * 30,
      });
      expect(byHours[0]?.totals.eventsIn).to.be.closeTo(MINUTES * 60 * 40, 60 * 40 * 3);
    });

    it('have at most 400 steps, however long the time, with the lowest and highest minute of each', async () => {
      const { series, stepSeconds } = await metrics({ minutes: 10_080 });
      expect(stepSeconds).to.equal(1_800);
      const [all] = series;
      expect(all?.mean.eventsIn).to.have.length(336);
      expect(all?.max?.eventsIn).to.have.length(336);
      const { series: month, stepSeconds: step } = await teams.viewer.query<PipelineMetrics>(
        'pipeline.metrics',
        {
          ...pipelineId(),
          hours: 720,
        },
      );
      expect(step).to.equal(10_800);
      expect(month[0]?.max).to.equal(undefined);
    });

    it('end where it is asked for, and not in the future', async () => {
      const end = new Date(Date.now() - 5 * 3_600_000);
      const { to, series } = await metrics({ end });
      expect(Math.abs(ms(to) - end.getTime())).to.be.at.most(60_000);
      expect(known(series[0]?.mean.eventsIn)).to.have.length(58);
      const future = await metrics({ end: new Date(Date.now() + 3_600_000) });
      expect(ms(future.to)).to.be.at.most(Date.now() + 60_000);
    });

    it('are told by component and by node, with their names', async () => {
      const { series: components } = await metrics({ groupBy: 'component' });
      expect(components.map(({ id, kind }) => [id, kind]).sort()).to.deep.equal([
        ['in', 'source'],
        ['out', 'sink'],
        ['parse', 'transform'],
      ]);
      const { series: nodes } = await metrics({ groupBy: 'node' });
      expect(nodes.map(({ id, name }) => [id, name])).to.deep.equal([
        [firstNode, 'node-1'],
        [secondNode, 'node-2'],
      ]);
      for (const value of known(nodes[1]?.mean.eventsIn)) expect(value).to.be.closeTo(10, 0.5);
    });

    it('mark deploys with their commit, and crashes', async () => {
      const { marks } = await metrics({ minutes: 120 });
      const crashes = marks.filter(({ kind }) => kind === 'crash');
      expect(crashes.map(({ text }) => text)).to.deep.equal([
        'Engines ended 2 times',
        'Engines ended 2 times',
      ]);
      const [deploy] = marks.filter(({ kind }) => kind === 'deploy');
      expect(deploy).to.deep.include({ version: 1, text: 'Version 1 was deployed' });
      expect(deploy?.commit).to.match(/^[0-9a-f]{40}$/);
    });

    it('mark alerts on the charts of their pipeline and of their node', async () => {
      const { environmentId, pipelineId } = teams.ours;
      const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
      const about = { environmentId, pipelineId, nodeId: firstNode };
      const message = 'orders crashed on node-1';
      await insertAlertEvent(test.db, { id: 'seen', ...about, message, openedAt: ago(30) });
      await insertAlertEvent(test.db, { id: 'before', ...about, openedAt: ago(300) });
      await insertAlertEvent(test.db, { id: 'elsewhere', environmentId, openedAt: ago(20) });
      await test
        .db('alert_event_changes')
        .insert({ event_id: 'seen', at: ago(10), kind: 'fired_again', value: 1 });
      const alerts = (marks: readonly MetricsMark[]) =>
        marks
          .filter(({ kind }) => kind === 'alert')
          .map(
            ({ at, text, eventId }) =>
              `${Math.round((Date.now() - ms(at)) / 60_000)} min, ${eventId}: ${text}`,
          );
      const expected = [`30 min, seen: ${message}`, `10 min, seen: ${message}`];
      expect(alerts((await metrics({ minutes: 60 })).marks)).to.deep.equal(expected);
      const host = (nodeId: string) =>
        teams.viewer.query<NodeMetrics>('fleet.nodeMetrics', { nodeId, minutes: 60 });
      expect(alerts((await host(firstNode)).marks)).to.deep.equal(expected);
      expect((await host(secondNode)).marks).to.deep.equal([]);
    });

    it('are those of a host, and what its pipelines moved', async () => {
      const answer = await teams.viewer.query<NodeMetrics>('fleet.nodeMetrics', {
        nodeId: firstNode,
        minutes: 60,
      });
      expect(answer.stepSeconds).to.equal(60);
      expect(known(answer.cpuPercent)[0]).to.be.closeTo(25, 0.1);
      expect(known(answer.memoryUsedBytes)[0]).to.equal(4e9);
      expect(known(answer.netRxRate)[0]).to.be.closeTo(1_000, 1);
      expect(known(answer.diskWrittenRate)).to.deep.equal([]);
      for (const value of known(answer.pipelines.mean.eventsIn)) expect(value).to.be.closeTo(30, 1.5);
      const day = await teams.viewer.query<NodeMetrics>('fleet.nodeMetrics', {
        nodeId: teams.ours.node.nodeId,
      });
      expect(ms(day.to) - ms(day.from)).to.equal(24 * 3_600_000);
    });

    it('are those of an environment, together, by pipeline and by node', async () => {
      const { environmentId } = teams.ours;
      const chart = (more: object = {}) =>
        teams.viewer.query<Chart>('dashboard.chartMetrics', { environmentId, ...more });
      const all = await chart();
      expect([all.series.length, all.series[0]?.id, all.total]).to.deep.equal([1, '', 1]);
      for (const value of known(all.series[0]?.mean.eventsIn)) expect(value).to.be.closeTo(40, 1.5);
      const byPipeline = await chart({ groupBy: 'pipeline', range: '7d' });
      expect(byPipeline.stepSeconds).to.equal(3_600);
      expect(byPipeline.series.map(({ name }) => name)).to.deep.equal(['orders']);
      const byNode = await chart({ groupBy: 'node', range: '6h' });
      expect(byNode.series.slice(0, 2).map(({ name }) => name)).to.deep.equal(['node-1', 'node-2']);
      const oneNode = await chart({ nodeIds: [firstNode] });
      for (const value of known(oneNode.series[0]?.mean.eventsIn)) expect(value).to.be.closeTo(30, 1.5);
      const nothing = await chart({ pipelineIds: [teams.theirs.pipelineId] });
      expect(known(nothing.series[0]?.mean.eventsIn)).to.deep.equal([]);
    });

    it('are of no pipeline, node or environment that nobody knows or that is another team’s', async () => {
      const { pipelineId: foreign, node, environmentId } = teams.theirs;
      expect(await codeOf('metrics.getPipelineMetrics', { pipelineId: foreign })).to.equal('NOT_FOUND');
      expect(await codeOf('pipeline.metrics', { pipelineId: 'nobody' })).to.equal('NOT_FOUND');
      expect(await codeOf('fleet.nodeMetrics', { nodeId: node.nodeId })).to.equal('NOT_FOUND');
      expect(await codeOf('dashboard.chartMetrics', { environmentId })).to.equal('FORBIDDEN');
    });

    it('refuse times that are too long, too short or no numbers', async () => {
      for (const minutes of [0, 10_081, 1.5, -5])
        expect(
          await codeOf('metrics.getPipelineMetrics', { ...pipelineId(), minutes }),
          `${minutes}`,
        ).to.equal('BAD_REQUEST');
      expect(await codeOf('metrics.getComponentMetrics', { ...pipelineId(), minutes: 61 })).to.equal(
        'BAD_REQUEST',
      );
      expect(
        await codeOf('metrics.getComponentLatencyHistory', { ...pipelineId(), minutes: 1_441 }),
      ).to.equal('BAD_REQUEST');
    });

    it('are told of components now, and of their latency', async () => {
      const report = (events: number) => ({
        ...{ ...pipelineId(), version: 1, status: 'RUNNING', pid: 7, uptimeSeconds: 100, eventsIn: events },
        componentMetrics: [
          { componentId: 'lines', componentKind: 'source', receivedEvents: events, sentEvents: events },
        ],
      });
      let events = 0;
      const live = async () => {
        events += 1_000;
        await teams.ours.node.heartbeat(heartbeat({ pipelines: [report(events)] }));
        return teams.viewer.query<Static<typeof ComponentMetrics>>(
          'metrics.getComponentMetrics',
          pipelineId(),
        );
      };
      await until(async () => (await live()).now.some(({ receivedRate }) => receivedRate > 0), {
        what: 'the rate of a component',
      });
      const answer = await live();
      expect(answer.series.map(({ id }) => id)).to.include('parse');
      expect(ms(answer.to) - ms(answer.from)).to.equal(5 * 60_000);
      const history = await teams.viewer.query<Static<typeof ComponentLatencyHistory>>(
        'metrics.getComponentLatencyHistory',
        pipelineId(),
      );
      expect(history.components.map(({ componentId }) => componentId)).to.deep.equal(['parse']);
      expect(known(history.components[0]?.latencyMs)[0]).to.equal(2);
      const { environmentId, node } = teams.ours;
      const rates = await teams.viewer.query<Static<typeof LiveRates>>('metrics.getLiveRates', {
        environmentId,
      });
      expect(rates.pipelines.map((one) => one.pipelineId)).to.deep.equal([teams.ours.pipelineId]);
      expect(rates.total.eventsIn).to.equal(rates.pipelines[0]?.rates.eventsIn);
      const ofNode = await teams.viewer.query<Static<typeof NodePipelineRates>>(
        'metrics.getNodePipelineRates',
        {
          nodeId: node.nodeId,
        },
      );
      expect(ofNode.pipelines.map(({ name, status }) => [name, status])).to.deep.equal([
        ['orders', 'RUNNING'],
      ]);
    });

    describe('replayed for an alert rule', () => {
      const preview = (rule: object) =>
        teams.viewer.query<RulePreview>('alert.previewRule', {
          ...{ environmentId: teams.ours.environmentId, condition: 'gt', durationSeconds: 60 },
          ...rule,
        });
      const minutesAgo = (at: Date | string) => Math.round((Date.now() - new Date(at).getTime()) / 60_000);

      before(async () => {
        await test
          .db('node_presence')
          .insert(
            [firstNode, secondNode].map((id) => ({ node_id: id, heard_at: new Date(Date.now() - 60_000) })),
          )
          .onConflict('node_id')
          .ignore();
      });

      it('tell when nodes were busy', async () => {
        const answer = await preview({ metric: 'cpu_usage', threshold: 20 });
        expect(answer).to.include({ subjects: 2, note: null });
        expect(answer.series).to.be.at.least(2);
        // Before the silence, and after it.
        expect(answer.firings).to.equal(4);
        const [newest] = answer.events;
        expect(newest?.nodeName).to.be.oneOf(['node-1', 'node-2']);
        expect(newest?.peak).to.be.closeTo(25, 0.5);
        expect(minutesAgo(newest?.firedAt ?? '')).to.be.within(17, 21);
        expect((await preview({ metric: 'cpu_usage', threshold: 30 })).firings).to.equal(0);
      });

      it('leave out breaches that are shorter than the duration', async () => {
        const rule = { metric: 'cpu_usage', threshold: 20, durationSeconds: 3_600 };
        expect((await preview(rule)).firings).to.equal(2);
      });

      it('tell when nodes were silent, and for how long', async () => {
        const answer = await preview({ metric: 'node_unreachable', condition: 'eq', threshold: 1 });
        const silences = answer.events.filter(
          ({ nodeId, resolvedAt }) => resolvedAt && (nodeId === firstNode || nodeId === secondNode),
        );
        expect(silences).to.have.length(2);
        for (const { firedAt } of silences) expect(minutesAgo(firedAt)).to.be.within(35, 41);
      });

      it('tell of crashes on each node, and of rates of pipelines', async () => {
        const crashed = await preview({ metric: 'pipeline_crashed', condition: 'eq', threshold: 1 });
        expect(crashed).to.include({ firings: 4, subjects: 2 });
        expect(crashed.events.map(({ pipelineName }) => pipelineName)).to.deep.equal(Array(4).fill('orders'));
        const quiet = await preview({ metric: 'error_rate', condition: 'lt', threshold: 1, ...pipelineId() });
        expect(quiet.subjects).to.equal(1);
        expect((await preview({ metric: 'error_rate', threshold: 1 })).firings).to.equal(0);
      });
    });
  });
