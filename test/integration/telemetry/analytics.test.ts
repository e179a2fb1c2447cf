/** analytics.*: volumes, costs, and who sees which. */
import { expect } from 'chai';
import type { Static } from 'typebox';
import { costSummary } from '../../../controller/insight/analytics/operations.ts';
import { packMinutes } from '../../../controller/insight/telemetry/index.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import type {
  CostByEnvironment,
  CostByPipeline,
  CostBySink,
  CostByTeam,
  CostCsv,
  CostSummary,
  CostTimeSeries,
  TopPipelines,
} from '../../../schemas/api/insight/analytics.ts';
import { useController } from '../../support/harness/controller.ts';
import { QUIET } from '../../support/harness/platform.ts';
import { type Flow, recordHistory, silentNode } from '../../support/scenes/recorded-metrics.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';
import type { TestUser } from '../../support/users/person.ts';

const HOURS = 30;

describe('volumes and costs', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  const names = ['=HYPERLINK("http://example.org")', 'two', 'three', 'four', 'five', 'six'];
  let made: string[];

  before(async function () {
    this.timeout(60_000);
    made = [];
    const { environmentId, pipelineId } = teams.ours;
    const nodeId = await silentNode(teams, test.url, environmentId, 'measured');
    for (const [index, name] of names.entries()) {
      const created = { environmentId, name: `made ${index}` };
      const { id } = await teams.editor.mutate<{ id: string }>('pipeline.create', created);
      // No procedure takes a name that begins a formula; what is exported is harmless all the same.
      await test.db('pipelines').where({ id }).update({ name });
      made.push(id);
    }
    const flows: Flow[] = [pipelineId, ...made].map((id, index) => ({
      ...{ environmentId, pipelineId: id, nodeId, eventsPerSecond: 100 - index * 10 },
    }));
    for (const flow of flows) await recordHistory(test.db, [flow], { minutes: HOURS * 60, every: 120 });
    const { environmentId: other, pipelineId: theirPipeline, node: theirNode } = teams.theirs;
    await recordHistory(
      test.db,
      [{ environmentId: other, pipelineId: theirPipeline, nodeId: theirNode.nodeId, eventsPerSecond: 5 }],
      { minutes: HOURS * 60, every: 120 },
    );
  });

  const ask = <T>(name: string, more: object = {}, person: TestUser = teams.viewer) =>
    person.query<T>(`analytics.${name}`, {
      environmentId: teams.ours.environmentId,
      range: '1d',
      ...more,
    });
  /** All seven pipelines: 100 + 90 + … + 40 events a second, of 100 bytes each. */
  const BYTES_PER_DAY = 490 * 100 * 86_400;
  const setPrice = (pricePerGb: number | null) =>
    teams.editor.mutate('environment.update', { id: teams.ours.environmentId, pricePerGb });

  it('sum up an environment: what came in, went out, and was saved', async () => {
    const summary = await ask<Static<typeof CostSummary>>('costSummary');
    // The range begins with a whole hour, so that it is up to an hour longer.
    expect(summary.bytesIn).to.be.within(BYTES_PER_DAY * 0.99, BYTES_PER_DAY * 1.05);
    expect(summary.bytesOut / summary.bytesIn).to.be.closeTo(0.1, 1e-6);
    expect(summary.reductionPercent).to.be.closeTo(90, 1e-6);
    expect(summary).to.deep.include({ pricePerGb: null, cost: null, costSaved: null });
    expect(summary.previous.bytesIn).to.be.within(BYTES_PER_DAY * 0.1, BYTES_PER_DAY * 0.3);
  });

  it('cost what the environment pays for a gigabyte that sinks send', async () => {
    await setPrice(2.5);
    const summary = await ask<Static<typeof CostSummary>>('costSummary');
    expect(summary.pricePerGb).to.equal(2.5);
    expect(summary.cost).to.be.closeTo((summary.bytesOut / 1e9) * 2.5, 1e-9);
    expect(summary.costSaved).to.be.closeTo((summary.bytesSaved / 1e9) * 2.5, 1e-9);
    const { pipelines, total } = await ask<Static<typeof CostByPipeline>>('costByPipeline');
    expect(total).to.equal(7);
    expect(pipelines[0]?.name).to.equal('orders');
    expect(pipelines.reduce((sum, { cost }) => sum + (cost ?? 0), 0)).to.be.closeTo(summary.cost ?? 0, 1e-6);
  });

  it('name the five pipelines with the most bytes', async () => {
    const { pipelines } = await ask<Static<typeof TopPipelines>>('topPipelines');
    expect(pipelines.map(({ name }) => name)).to.deep.equal(['orders', ...names.slice(0, 4)]);
  });

  it('are those of sinks', async () => {
    const { sinks, total } = await ask<Static<typeof CostBySink>>('costBySink');
    expect(total).to.equal(7);
    expect(sinks[0]).to.include({ pipelineName: 'orders', componentId: 'out' });
    expect(sinks[0]?.bytesOut).to.be.within(100 * 10 * 86_400 * 0.99, 100 * 10 * 86_400 * 1.05);
  });

  it('are of one’s own teams and environments, and of all for a super admin', async () => {
    const teamNames = async (person: TestUser) =>
      (await ask<Static<typeof CostByTeam>>('costByTeam', {}, person)).teams.map(({ name }) => name);
    expect(await teamNames(teams.viewer)).to.deep.equal(['ours']);
    expect(await teamNames(teams.root)).to.include.members(['ours', 'theirs']);
    const environments = async (person: TestUser) =>
      (await ask<Static<typeof CostByEnvironment>>('costByEnvironment', {}, person)).environments.map(
        ({ name }) => name,
      );
    expect(await environments(teams.viewer)).to.deep.equal(['ours']);
    expect(await environments(teams.root)).to.include.members(['ours', 'theirs']);
  });

  it('go over time: all together, by pipeline with the rest as one, and by team', async () => {
    const all = await ask<Static<typeof CostTimeSeries>>('costTimeSeries');
    expect(all.stepSeconds).to.equal(3_600);
    expect(all.series).to.have.length(1);
    expect(all.series[0]?.bytesIn).to.have.length.within(24, 25);
    expect(all.series[0]?.bytesIn[5]).to.be.closeTo(490 * 100 * 3_600, 1);
    expect(all.series[0]?.cost?.[5]).to.be.closeTo(((490 * 10 * 3_600) / 1e9) * 2.5, 1e-6);
    const byPipeline = await ask<Static<typeof CostTimeSeries>>('costTimeSeries', { groupBy: 'pipeline' });
    expect(byPipeline.series.map(({ name }) => name)).to.deep.equal(['orders', ...names]);
    const byTeam = await ask<Static<typeof CostTimeSeries>>(
      'costTimeSeries',
      { groupBy: 'team' },
      teams.root,
    );
    expect(byTeam.series.map(({ name }) => name)).to.deep.equal(['ours', 'theirs']);
  });

  it('are read by the minute for an hour, and the others by the hour', async () => {
    for (const range of ['1h', '6h', '7d', '30d'] as const) {
      const { from, to, bytesIn } = await ask<Static<typeof CostSummary>>('costSummary', { range });
      const seconds = Math.min((new Date(to).getTime() - new Date(from).getTime()) / 1_000, HOURS * 3_600);
      expect(bytesIn / (490 * 100), range).to.be.within(seconds - 240, seconds + 1);
    }
  });

  it('are the same of hours whose minutes are packed', async () => {
    const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000 - 3 * 3_600_000;
    const clock = manualClock(hour + 40 * 60_000);
    const ctx = { ...test.controller.systemContext('test'), clock };
    const input = { environmentId: teams.ours.environmentId, range: '1h' as const };
    const before = await costSummary.run(ctx, input);
    expect(await packMinutes({ db: test.db, clock, log: QUIET })).to.be.above(0);
    const after = await costSummary.run(ctx, input);
    for (const { bytesIn } of [after, after.previous])
      expect(bytesIn / (490 * 100)).to.be.within(3_600 - 240, 3_600 + 1);
    expect(after.previous.bytesOut).to.be.closeTo(before.previous.bytesOut, before.previous.bytesOut / 1e3);
    expect(after.bytesIn).to.equal(before.bytesIn);
  });

  it('are a file without formulas', async () => {
    const { filename, csv } = await ask<Static<typeof CostCsv>>('costCsv');
    expect(filename).to.match(/^ours-1d-\d{4}-\d\d-\d\d\.csv$/);
    const lines = csv.trimEnd().split('\r\n');
    expect(lines).to.have.length(8);
    expect(lines[0]).to.equal(
      'from,to,team,environment,pipelineId,pipeline,eventsIn,eventsOut,bytesIn,bytesOut,bytesSaved,reductionPercent,cost,costSaved',
    );
    expect(csv).to.include(`"'=HYPERLINK(""http://example.org"")"`);
  });

  it('keep what a pipeline moved that is deleted, without its name', async () => {
    const before = await ask<Static<typeof CostSummary>>('costSummary');
    await teams.editor.mutate('pipeline.delete', { id: made[1] });
    const after = await ask<Static<typeof CostSummary>>('costSummary');
    expect(after.bytesIn).to.be.closeTo(before.bytesIn, before.bytesIn / 1e3);
    const { pipelines } = await ask<Static<typeof CostByPipeline>>('costByPipeline');
    expect(pipelines.find(({ pipelineId }) => pipelineId === made[1])?.name).to.equal(null);
  });

  it('take a price from 0 to 1,000,000, or none', async () => {
    const codeOf = async (pricePerGb: unknown) => {
      const input = { id: teams.ours.environmentId, pricePerGb };
      return (await teams.editor.call('mutation', 'environment.update', input)).fault?.data.code ?? 'none';
    };
    expect(await codeOf(-1)).to.equal('BAD_REQUEST');
    expect(await codeOf(1_000_001)).to.equal('BAD_REQUEST');
    expect(await codeOf('2')).to.equal('BAD_REQUEST');
    expect(await codeOf(0)).to.equal('none');
    expect(await codeOf(null)).to.equal('none');
  });
});
