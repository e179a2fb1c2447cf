/** Marks of the charts of an environment, gathered by step; and the time that these charts may show. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { ChartMetrics, EnvironmentMark } from '../../../schemas/api/insight/metrics.ts';
import { useController } from '../../support/harness/controller.ts';
import { lastMinute } from '../../support/scenes/recorded-metrics.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';

const COMMIT = 'c'.repeat(40);
const MINUTE_MS = 60_000;

describe('marks of the charts of an environment', function () {
  this.timeout(60_000);
  const test = useController();
  const teams = useTwoTeams(test);
  const names = Array.from({ length: 200 }, (_, place) => `p-${`${place}`.padStart(3, '0')}`);
  /** The end of the charts that are asked for: nothing else happens before it. */
  const end = lastMinute() - 10 * 60 * MINUTE_MS;
  const at = (minutesAgo: number, seconds = 0) => new Date(end - minutesAgo * MINUTE_MS + seconds * 1_000);

  before(async () => {
    await test.db('pipelines').insert(
      names.map((name) => ({
        ...{ id: name, environment_id: teams.ours.environmentId, name },
        ...{ managed_by: 'ui', is_draft: true },
      })),
    );
    await test.db.raw(
      `INSERT INTO pipeline_versions (id, pipeline_id, version, config_yaml, log_level, graph_nodes, graph_edges, global_config, source)
       SELECT id, id, 7, '', 'info', '[]', '[]', '{}', 'ui' FROM pipelines WHERE name LIKE 'p-%'`,
    );
  });
  afterEach(async () => {
    await test.db('pipeline_deploys').where('pipeline_id', 'like', 'p-%').delete();
    await test.db('rollouts').delete();
    await test.db('pipelines').where('name', 'like', 'p-%').update({ tombstoned_at: null });
  });

  const chart = (more: object = {}) =>
    teams.viewer.query<ChartMetrics>('dashboard.chartMetrics', {
      ...{ environmentId: teams.ours.environmentId, end: new Date(end), ...more },
    });
  const deploy = (pipeline: string, when: Date, version = 1, commit: string | null = COMMIT) => ({
    ...{ pipeline_id: pipeline, deployed_at: when, version, commit_sha: commit },
  });
  const rollout = (pipeline: string, more: object) => ({
    ...{ id: pipeline, pipeline_id: pipeline, environment_id: teams.ours.environmentId },
    ...{ canary_version_id: pipeline, canary_selector: '{}', window_minutes: 5, status: 'BROADENED' },
    ...{ source: 'ui', created_by: 'the tests', ...more },
  });
  const known = ({ at: when, ...mark }: EnvironmentMark) => ({
    ...mark,
    minutesAgo: Math.ceil((end - new Date(when).getTime()) / MINUTE_MS),
  });
  const NAMED = names.slice(0, 3).map((name) => ({ id: name, name, version: 1 }));

  it('are one for 200 deployments of a minute: how many, their commit, and the first by name', async () => {
    await test
      .db('pipeline_deploys')
      .insert(names.toReversed().map((name, place) => deploy(name, at(20, place / 4))));
    expect((await chart()).marks.map(known)).to.deep.equal([
      {
        ...{ kind: 'deploy', text: '200 deployments', count: 200, version: null, commit: COMMIT },
        pipelineCount: 200,
        ...{ eventId: null, pipelines: NAMED, minutesAgo: 20 },
      },
    ]);
  });

  it('name the pipeline and version where it is one, and no commit where there are several or none', async () => {
    await test
      .db('pipeline_deploys')
      .insert([
        deploy('p-000', at(30), 4),
        ...[deploy('p-001', at(20, 1)), deploy('p-002', at(20, 2), 1, 'd'.repeat(40))],
        ...[deploy('p-001', at(10, 1)), deploy('p-002', at(10, 2), 1, null)],
        ...[deploy('p-003', at(5, 1), 8), deploy('p-003', at(5, 2), 9)],
      ]);
    const { marks } = await chart();
    expect(marks.map(({ text, count, version, commit }) => [text, count, version, commit])).to.deep.equal([
      ['Version 4 of p-000 was deployed', 1, 4, COMMIT],
      ['2 deployments', 2, null, null],
      ['2 deployments', 2, null, null],
      ['2 deployments of p-003', 2, null, COMMIT],
    ]);
    expect(marks.at(-1)?.pipelines).to.deep.equal([{ id: 'p-003', name: 'p-003', version: 9 }]);
    expect(marks[0]?.pipelines).to.deep.equal([{ id: 'p-000', name: 'p-000', version: 4 }]);
  });

  it('are the steps of rollouts, apart from each other and from deployments', async () => {
    await test
      .db('rollouts')
      .insert([
        rollout('p-000', { created_at: at(40), health_started_at: at(30), ended_at: at(10) }),
        rollout('p-001', { created_at: at(40, 9), health_started_at: at(30, 9), status: 'HEALTH_CHECK' }),
        rollout('p-002', { created_at: at(90), ended_at: at(10, 9), status: 'ROLLED_BACK' }),
        rollout('p-003', { created_at: at(90), ended_at: at(70) }),
      ]);
    await test.db('pipeline_deploys').insert(deploy('p-000', at(10, 5), 7));
    const { marks } = await chart();
    expect(marks.map(({ kind, text, count }) => `${kind} ${count}: ${text}`)).to.deep.equal([
      'rollout 2: 2 rollouts began on their canary nodes',
      'rollout 2: 2 rollouts are watched',
      'rollout 1: The rollout of version 7 of p-000 went to all nodes',
      'deploy 1: Version 7 of p-000 was deployed',
      'rollout 1: The rollout of version 7 of p-002 was rolled back',
    ]);
  });

  it('are of the pipelines that are asked for, and of none that is deleted or elsewhere', async () => {
    const deploys = ['p-000', 'p-001', 'p-002', teams.theirs.pipelineId].map((id) => deploy(id, at(5)));
    await test.db('pipeline_deploys').insert(deploys);
    await test.db('pipelines').where({ id: 'p-002' }).update({ tombstoned_at: new Date() });
    const namesIn = async (more: object) =>
      (await chart(more)).marks.flatMap(({ pipelines }) => pipelines.map(({ name }) => name));
    expect(await namesIn({})).to.deep.equal(['p-000', 'p-001']);
    expect(await namesIn({ pipelineIds: ['p-001', teams.theirs.pipelineId] })).to.deep.equal(['p-001']);
    for (const groupBy of ['pipeline', 'node'])
      expect(await namesIn({ groupBy }), groupBy).to.deep.equal(['p-000', 'p-001']);
  });

  it('stand for each deployment once, in its step, the newest 50 steps', async () => {
    const event = fc.record({
      pipeline: fc.constantFrom(...names.slice(0, 9)),
      seconds: fc.integer({ min: -40_000, max: 7 * 86_400 }),
      version: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { maxLength: 150 }),
        fc.constantFrom(60, 360, 700, 1_440, 4_000, 10_080),
        async (events, minutes) => {
          await test.db('pipeline_deploys').where('pipeline_id', 'like', 'p-%').delete();
          const deploys = events.map((one) => deploy(one.pipeline, at(0, -one.seconds), one.version));
          if (deploys.length > 0) await test.db('pipeline_deploys').insert(deploys);
          const { from, to, stepSeconds, marks } = await chart({ minutes });
          const [first, last] = [new Date(from).getTime(), new Date(to).getTime()];
          const stepOf = (when: Date) =>
            Math.floor((new Date(when).getTime() - first) / (stepSeconds * 1_000));
          const within = deploys.filter(
            ({ deployed_at: when }) => when.getTime() >= first && when.getTime() < last,
          );
          const newest = (all: typeof within, name: string) =>
            all
              .filter(({ pipeline_id: id }) => id === name)
              .sort((a, b) => +a.deployed_at - +b.deployed_at || a.version - b.version)
              .at(-1)?.version;
          const model = [...Map.groupBy(within, (one) => stepOf(one.deployed_at))]
            .sort(([a], [b]) => a - b)
            .slice(-50)
            .map(([step, all]) => {
              const deployed = [...new Set(all.map(({ pipeline_id: name }) => name))].sort();
              const first = deployed.slice(0, 3).map((name) => `${name} v${newest(all, name)}`);
              const when = Math.min(...all.map((one) => one.deployed_at.getTime()));
              return [step, all.length, when, deployed.length, first.join()];
            });
          expect(
            marks.map(({ at: when, count, pipelineCount, pipelines }) => {
              const first = pipelines.map(({ name, version }) => `${name} v${version}`);
              return [stepOf(when), count, new Date(when).getTime(), pipelineCount, first.join()];
            }),
          ).to.deep.equal(model);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('are of a time that is dragged over, by the minute up to a day and by the hour beyond, in 400 steps', async () => {
    for (const [minutes, stepSeconds] of [
      [5, 60],
      [90, 60],
      [1_440, 300],
      [1_441, 3_600],
      [10_080, 3_600],
      [43_200, 10_800],
    ] as const) {
      const { from, to, stepSeconds: step, series } = await chart({ minutes });
      expect(step, `${minutes}`).to.equal(stepSeconds);
      const length = (new Date(to).getTime() - new Date(from).getTime()) / (step * 1_000);
      expect(length, `${minutes}`).to.be.at.most(400);
      expect(series[0]?.mean.eventsIn, `${minutes}`).to.have.length(length);
      expect(new Date(to).getTime() - end).to.be.within(0, step * 1_000);
    }
    const { to } = await chart({ end: new Date(Date.now() + 86_400_000) });
    expect(new Date(to).getTime()).to.be.at.most(Date.now() + MINUTE_MS);
    for (const minutes of [0, -1, 1.5, 43_201]) {
      const input = { environmentId: teams.ours.environmentId, minutes };
      const { fault } = await teams.viewer.call('query', 'dashboard.chartMetrics', input);
      expect(fault?.data.code, `${minutes}`).to.equal('BAD_REQUEST');
    }
  });
});
