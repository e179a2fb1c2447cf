/** costRecommendation.*: what an analysis finds and stores, what users decide, and what applying does. */
import { expect } from 'chai';
import { analyzeDueEnvironments } from '../../../controller/insight/recommendations/index.ts';
import type { Proposed } from '../../../schemas/api/delivery/git-words.ts';
import type {
  AnalysisResult,
  CostRecommendation,
  CostRecommendationDetail,
  RecommendationList,
  RecommendationSummary,
} from '../../../schemas/api/insight/cost-recommendations.ts';
import { drawPipeline, soundGraph } from '../../support/fixtures/graphs.ts';
import { NO_FIGURES } from '../../support/fixtures/recommendations.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { type Moved, moveHours } from '../../support/scenes/moved-hours.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('recommendations that lower costs', function () {
  this.timeout(60_000);
  const test = useController();
  const teams = useTwoTeams(test);

  const move = (environmentId: string, pipelineId: string, moved: Moved) =>
    moveHours(test.db, { environmentId, pipelineId }, moved);
  const LARGE: Moved = { bytesIn: 1e9, bytesOut: 0.99e9, eventsIn: 1e6 };
  const SMALL: Moved = { bytesIn: 1e6, bytesOut: 1e5, eventsIn: 1e3 };

  const env = () => ({ environmentId: teams.ours.environmentId });
  const analyze = () => teams.admin.mutate<AnalysisResult>('costRecommendation.triggerAnalysis', env());
  const list = async (more: object = {}, person = teams.viewer) =>
    (await person.query<RecommendationList>('costRecommendation.list', { ...env(), ...more }))
      .recommendations;
  const summary = () => teams.viewer.query<RecommendationSummary>('costRecommendation.summary', env());
  const detail = (id: string) =>
    teams.viewer.query<CostRecommendationDetail>('costRecommendation.getById', { ...env(), id });
  const faultOf = async (name: string, input: object, person = teams.editor) =>
    (await person.call('mutation', `costRecommendation.${name}`, input)).fault;
  const onlyOne = async (more: object = {}): Promise<CostRecommendation> => {
    const found = await list(more);
    expect(found).to.have.length(1);
    return found[0] as CostRecommendation;
  };
  async function deployed(name: string): Promise<string> {
    const { id } = await drawPipeline(teams.editor, teams.ours.environmentId, soundGraph(), name);
    await teams.editor.mutate('deploy.agent', { pipelineId: id, changelog: '' });
    return id;
  }

  /** The pipeline that git describes, once the merge was applied. */
  async function orders() {
    const { git } = test.controller.systemContext('test').services;
    const read = async () => (await git.manifestOf(test.db, 'Pipeline', teams.ours.pipelineId))?.spec;
    await until(async () => (await read())?.transforms !== undefined, { what: 'the merge to be applied' });
    return (await read()) as {
      transforms: Record<string, object>;
      sinks: Record<string, { inputs: string[] }>;
    };
  }

  beforeEach(async () => {
    await test.db('cost_recommendations').delete();
    await test.db('pipeline_hours').delete();
    await test.db('sink_hours').delete();
    await teams.editor.mutate('environment.update', { id: teams.ours.environmentId, pricePerGb: null });
  });

  it('are found by an analysis, with their saving in bytes and, with a price, in money', async () => {
    await move(teams.ours.environmentId, teams.ours.pipelineId, LARGE);
    expect(await summary()).to.deep.include({ pending: 0, savedBytesPerMonth: 0, savedCostPerMonth: null });
    expect(await analyze()).to.deep.include({ created: 1, updated: 0, removed: 0 });
    const found = await onlyOne();
    expect(found).to.deep.include({
      ...{ type: 'LOW_REDUCTION', status: 'PENDING', pipelineName: 'orders', managedBy: 'git' },
      ...{ savedCostPerMonth: null, pullRequest: null, resolvedAt: null },
    });
    // 0.99 GB an hour; the window of 168 hours may hold one more or less.
    expect(found.savedBytesPerMonth).to.be.closeTo(0.99e9 * 720 * 0.9, 0.99e9 * 720 * 0.9 * 0.01);
    await teams.editor.mutate('environment.update', { id: teams.ours.environmentId, pricePerGb: 2 });
    const { savedCostPerMonth, explanation } = await onlyOne();
    expect(savedCostPerMonth).to.be.closeTo(((found.savedBytesPerMonth ?? 0) / 1e9) * 2, 1e-6);
    expect(explanation).to.include('at the price of the environment');
    const sums = await summary();
    expect(sums).to.deep.include({ pending: 1, dismissed: 0, applied: 0, pricePerGb: 2 });
    expect(sums.byType[0]).to.deep.equal({ type: 'LOW_REDUCTION', pending: 1, dismissed: 0, applied: 0 });
    expect(sums.savedCostPerMonth).to.be.closeTo(savedCostPerMonth ?? 0, 1e-6);
    expect(Date.now() - new Date(sums.analyzedAt ?? 0).getTime()).to.be.below(60_000);
  });

  it('are updated in place by the next analysis, and gone once they no longer hold', async () => {
    await move(teams.ours.environmentId, teams.ours.pipelineId, LARGE);
    await analyze();
    const { id } = await onlyOne();
    await move(teams.ours.environmentId, teams.ours.pipelineId, { ...LARGE, bytesIn: 2e9, bytesOut: 1.9e9 });
    expect(await analyze()).to.deep.include({ created: 0, updated: 1, removed: 0 });
    const later = await onlyOne();
    expect(later.id).to.equal(id);
    expect(later.figures.bytesOut).to.be.closeTo(1.9e9 * 168, 1.9e9 * 2);
    await move(teams.ours.environmentId, teams.ours.pipelineId, SMALL);
    expect(await analyze()).to.deep.include({ created: 0, updated: 0, removed: 1 });
    expect(await list()).to.deep.equal([]);
  });

  it('stay quiet for 30 days once they were dismissed or applied', async () => {
    for (const [procedure, status] of [
      ['dismiss', 'DISMISSED'],
      ['markApplied', 'APPLIED'],
    ] as const) {
      await test.db('cost_recommendations').delete();
      await move(teams.ours.environmentId, teams.ours.pipelineId, LARGE);
      await analyze();
      const { id } = await onlyOne();
      const after = await teams.editor.mutate<CostRecommendation>(`costRecommendation.${procedure}`, {
        ...env(),
        id,
      });
      expect(after).to.deep.include({ status, resolvedBy: 'editor' });
      const fault = await faultOf('dismiss', { ...env(), id });
      expect(fault?.data.code).to.equal('CONFLICT');
      expect(fault?.message).to.include('before by editor');
      expect(await analyze()).to.deep.include({ created: 0, updated: 0 });
      await test
        .db('cost_recommendations')
        .where({ id })
        .update({ resolved_at: new Date(Date.now() - 30 * DAY_MS - 1_000) });
      expect(await analyze()).to.deep.include({ created: 1 });
      expect((await list()).map((one) => one.status)).to.deep.equal(['PENDING', status]);
      expect((await onlyOne({ status })).id).to.equal(id);
      expect(await list({ status: 'PENDING', limit: 1 })).to.have.length(1);
    }
    const actions: string[] = await test
      .db('audit_log')
      .where({ entity_type: 'CostRecommendation' })
      .pluck('action');
    expect(actions).to.include.members(['costRecommendation.dismissed', 'costRecommendation.applied']);
  });

  it('are of one environment each', async () => {
    const { environmentId, pipelineId } = teams.theirs;
    await move(environmentId, pipelineId, LARGE);
    await analyze();
    expect(await list()).to.deep.equal([]);
    await teams.root.mutate('costRecommendation.triggerAnalysis', { environmentId });
    await analyze();
    const [theirs] = await list({ environmentId }, teams.stranger);
    expect(theirs?.type).to.equal('LOW_REDUCTION');
    for (const name of ['dismiss', 'markApplied', 'apply'])
      expect((await faultOf(name, { ...env(), id: theirs?.id }))?.data.code, name).to.equal('NOT_FOUND');
    expect((await faultOf('dismiss', { environmentId, id: theirs?.id }))?.data.code).to.equal('FORBIDDEN');
  });

  it('are about pipelines that are there and deployed', async () => {
    const id = await deployed('short-lived');
    await move(teams.ours.environmentId, id, LARGE);
    expect(await analyze()).to.deep.include({ created: 1 });
    await teams.editor.mutate('pipeline.delete', { id });
    expect(await list()).to.deep.equal([]);
    expect(await summary()).to.deep.include({ pending: 0, savedBytesPerMonth: 0 });
    expect(await analyze()).to.deep.include({ created: 0, removed: 1 });
    const draft = await deployed('a draft');
    await move(teams.ours.environmentId, draft, LARGE);
    await teams.editor.mutate('deploy.undeploy', { pipelineId: draft });
    expect(await analyze()).to.deep.include({ created: 0 });
  });

  it('leave out a pipeline without events on a node in maintenance', async () => {
    const { pipelineId, environmentId, node } = teams.ours;
    await move(environmentId, pipelineId, {});
    const inMaintenance = (maintenance: boolean) =>
      test.db('nodes').where({ id: node.nodeId }).update({ maintenance });
    await inMaintenance(true);
    expect(await analyze()).to.deep.include({ created: 0 });
    await inMaintenance(false);
    expect(await analyze()).to.deep.include({ created: 1 });
    expect(await onlyOne()).to.deep.include({ type: 'STALE_PIPELINE', savedBytesPerMonth: 0 });
  });

  describe('that are applied', () => {
    it('become a pull request where git describes the pipeline, and are applied once it is merged', async () => {
      await move(teams.ours.environmentId, teams.ours.pipelineId, LARGE);
      await analyze();
      const { id } = await onlyOne();
      expect((await detail(id)).diff)
        .to.include('+    sample_out:')
        .and.include('+        - sample_out');
      const { proposed } = await teams.editor.mutate<Proposed>('costRecommendation.apply', { ...env(), id });
      const pull = await test.db('pull_requests').where({ number: proposed.number }).first();
      expect(pull?.title).to.match(
        /^Put sample before out in the pipeline orders \(saves about \d+ GB a month\)$/,
      );
      expect(pull?.body).to.include('Estimated saving').and.include('Changes /spec/');
      const linked = await onlyOne();
      expect(linked).to.deep.include({ status: 'PENDING' });
      expect(linked.pullRequest).to.deep.equal({ number: proposed.number, url: proposed.url, state: 'open' });
      const again = await faultOf('apply', { ...env(), id });
      expect(again?.data.code).to.equal('CONFLICT');
      expect(again?.message).to.include(`#${proposed.number}`);

      await move(teams.ours.environmentId, teams.ours.pipelineId, SMALL);
      expect(await analyze(), 'while its pull request is open').to.deep.include({ removed: 0 });
      expect((await teams.git.run('fetch', 'origin', proposed.branch)).code).to.equal(0);
      expect((await teams.git.run('merge', '--no-edit', 'FETCH_HEAD')).code).to.equal(0);
      expect((await teams.git.push()).code).to.equal(0);
      // The pass finds the merge, and the leader's schedule that the recommendation was applied by it.
      await until(async () => (await list({ status: 'APPLIED' })).length > 0, {
        what: 'the merge to be recorded',
        timeoutMs: 40_000,
      });
      const applied = await onlyOne({ status: 'APPLIED' });
      expect(applied).to.deep.include({ id });
      expect(applied.pullRequest?.state).to.equal('merged');
      const { transforms, sinks } = await orders();
      expect(transforms).to.deep.equal({ sample_out: { type: 'sample', inputs: ['lines'], rate: 10 } });
      expect(sinks.out?.inputs).to.deep.equal(['sample_out']);
    });

    it('join the pull request that the same person has open for the pipeline, with their text below its own', async () => {
      const { environmentId, pipelineId } = teams.theirs;
      const insert = async (type: string, componentKey: string) => {
        const id = `${type} ${componentKey}`;
        await test.db('cost_recommendations').insert({
          ...{ id, environment_id: environmentId, pipeline_id: pipelineId, type, saved_bytes_per_month: 5e9 },
          figures: JSON.stringify({ ...NO_FIGURES, sink: 'out', fields: ['user_id'] }),
          change: JSON.stringify({
            ...{ action: 'insertTransform', sink: 'out', componentKey, componentType: 'sample' },
            config: { rate: 10 },
          }),
        });
        const { proposed } = await teams.stranger.mutate<Proposed>('costRecommendation.apply', {
          environmentId,
          id,
        });
        return proposed;
      };
      const first = await insert('LOW_REDUCTION', 'one');
      const second = await insert('HIGH_CARDINALITY', 'two');
      expect(second.number).to.equal(first.number);
      const pull = await test.db('pull_requests').where({ number: first.number }).first();
      expect(pull?.body).to.match(/Sends 0 %.*\n\n\*\*Tags of unlimited values/s);
      const { rows } = await test.db.raw<{ rows: { linked: number }[] }>(
        'SELECT count(*)::int AS linked FROM cost_recommendations WHERE pull_request_id = ?',
        [pull?.id],
      );
      expect(rows).to.deep.equal([{ linked: 2 }]);
    });

    it('become a version where the UI owns the pipeline, and what runs stays', async () => {
      const pipelineId = await deployed('drawn');
      await move(teams.ours.environmentId, pipelineId, LARGE);
      await analyze();
      const { id } = await onlyOne();
      const { applied, recommendation } = await teams.editor.mutate<{
        applied: object;
        recommendation: CostRecommendation;
      }>('costRecommendation.apply', { ...env(), id });
      expect(applied).to.deep.include({ action: 'versionCreated', versionNumber: 2, deployed: false });
      expect(recommendation).to.deep.include({ status: 'APPLIED', appliedVersion: 2, resolvedBy: 'editor' });
      const row = await test.db('pipelines').where({ id: pipelineId }).first();
      expect(row?.latest_version_id).to.not.equal(row?.deployed_version_id);
      const version = await test
        .db('pipeline_versions')
        .where({ pipeline_id: pipelineId, version: 2 })
        .first();
      expect(version?.config_yaml).to.include('sample_out:').and.include('rate: 10');
      expect(version?.changelog).to.equal('Recommendation: Sends 99 % of the bytes that come in');
      await teams.editor.mutate('deploy.agent', { pipelineId, changelog: '' });
    });

    it('undeploy a pipeline without events', async () => {
      const pipelineId = await deployed('idle');
      await move(teams.ours.environmentId, pipelineId, {});
      await analyze();
      const [found] = (await list()).filter((one) => one.pipelineId === pipelineId);
      expect((await detail(found?.id ?? '')).diff).to.include('+  deployed: false');
      const { applied } = await teams.editor.mutate<{ applied: object }>('costRecommendation.apply', {
        ...env(),
        id: found?.id,
      });
      expect(applied).to.deep.equal({ action: 'undeployed' });
      expect(await test.db('pipelines').where({ id: pipelineId }).first()).to.deep.include({
        ...{ is_draft: true, deployed_version_id: null },
      });
    });

    it('say what to do where there is no change to make, or the pipeline was changed since', async () => {
      const pipelineId = await deployed('failing');
      await move(teams.ours.environmentId, pipelineId, { ...SMALL, errors: 500 });
      await analyze();
      const failing = await onlyOne();
      expect(failing).to.deep.include({ type: 'HIGH_ERROR_RATE', change: null });
      expect((await detail(failing.id)).diff).to.equal(null);
      const none = await faultOf('apply', { ...env(), id: failing.id });
      expect(none?.data.code).to.equal('PRECONDITION_FAILED');
      expect(none?.message).to.include('mark the recommendation as applied');

      await move(teams.ours.environmentId, pipelineId, LARGE);
      await analyze();
      const { id } = await onlyOne();
      const { nodes, edges } = soundGraph();
      await teams.editor.mutate('pipeline.saveGraph', {
        ...{ pipelineId, edges: edges.slice(0, 1), nodes: nodes.slice(0, 2) },
      });
      const outdated = await faultOf('apply', { ...env(), id });
      expect(outdated?.data.code).to.equal('PRECONDITION_FAILED');
      expect(outdated?.message).to.include('analyze the environment again');
      expect((await detail(id)).diff).to.equal(null);
    });
  });

  describe('on the leader', () => {
    const context = (now: number) => {
      const ctx = test.controller.systemContext('test');
      return { ...ctx, clock: { ...ctx.clock, now: () => now } };
    };

    it('are looked for once a day in every environment', async () => {
      await test.db('environments').update({ costs_analyzed_at: null });
      for (const { environmentId, pipelineId } of [teams.ours, teams.theirs])
        await move(environmentId, pipelineId, LARGE);
      const now = Date.now();
      expect(await analyzeDueEnvironments(context(now))).to.be.at.least(2);
      const found = await test
        .db('cost_recommendations')
        .where({ status: 'PENDING' })
        .pluck('environment_id');
      expect(found).to.have.members([teams.ours.environmentId, teams.theirs.environmentId]);
      expect(await analyzeDueEnvironments(context(now + 23 * HOUR_MS))).to.equal(0);
      expect(await analyzeDueEnvironments(context(now + DAY_MS))).to.be.at.least(2);
    });

    it('are looked for in many pipelines by few statements, and found in the last of them too', async () => {
      const { environmentId } = teams.ours;
      await test.db.raw(
        `INSERT INTO pipelines (id, environment_id, name, is_draft, deployed_at, deployed_version_id, graph_nodes, graph_edges)
         SELECT 'many-' || lpad(n::text, 3, '0'), ?, 'many ' || n, false, now() - interval '10 days', ?, '[]', '[]'
         FROM generate_series(1, 60) n`,
        [environmentId, teams.ours.versionId],
      );
      await move(environmentId, 'many-060', {});
      const { pipelines } = await analyze();
      expect(pipelines).to.be.at.least(60);
      expect((await onlyOne()).pipelineName).to.equal('many 60');
      await test.db('pipelines').whereLike('id', 'many-%').delete();
    });

    it('are not written by one that no longer leads', async () => {
      await test.db('environments').update({ costs_analyzed_at: null });
      await move(teams.ours.environmentId, teams.ours.pipelineId, LARGE);
      const fence = () => Promise.reject(new Error('the lease was lost'));
      expect(await analyzeDueEnvironments({ ...context(Date.now()), fence })).to.equal(0);
      expect(test.log()).to.include('the lease was lost');
      expect(await list()).to.deep.equal([]);
    });
  });
});
