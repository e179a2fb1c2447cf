/** anomaly.* and settings.updateAnomalyConfig. */
import { expect } from 'chai';
import { anomalyOperations, createAnomalyPass } from '../../../controller/insight/anomalies/index.ts';
import type { Anomaly, AnomalyConfigView, AnomalyPage } from '../../../schemas/api/insight/anomalies.ts';
import type { SettingsView } from '../../../schemas/api/settings.ts';
import { insertAnomaly } from '../../support/fixtures/anomalies.ts';
import { useController } from '../../support/harness/controller.ts';
import { countStatements } from '../../support/harness/statements.ts';
import { type Side, useTwoTeams } from '../../support/scenes/two-teams.ts';

describe('anomalies', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  const insert = (columns: Record<string, unknown> = {}, side: Side = teams.ours) =>
    insertAnomaly(test.db, side, columns);
  const list = (more: object = {}) =>
    teams.viewer.query<AnomalyPage>('anomaly.list', { environmentId: teams.ours.environmentId, ...more });
  const idsOf = ({ anomalies }: AnomalyPage) => anomalies.map(({ id }) => id);
  const ask = <T>(name: string) => teams.viewer.query<T>(name, { environmentId: teams.ours.environmentId });
  const decide = (name: string, anomalyId: string) =>
    teams.editor.call<Anomaly>('mutation', `anomaly.${name}`, {
      ...{ environmentId: teams.ours.environmentId, anomalyId },
    });

  afterEach(() => test.db('anomalies').delete());

  it('are listed, the newest first, with pipeline, deploy and what was expected', async () => {
    const first = await insert({ commit_sha: 'c0ffee', deployed_at: new Date(0) });
    const second = await insert({ metric: 'errors', direction: 'up', severity: 'critical' });
    await insert({}, teams.theirs);
    const page = await list();
    expect(idsOf(page)).to.deep.equal([second, first]);
    expect(page.nextCursor).to.equal(null);
    expect(page.anomalies[1]).to.deep.include({
      ...{ pipelineId: teams.ours.pipelineId, pipelineName: 'orders', metric: 'eventsIn', direction: 'down' },
      ...{ severity: 'warning', value: 2, expectedLow: 8, expectedHigh: 12, sigma: 3.5, status: 'open' },
      ...{ version: 1, versionId: teams.ours.versionId, commit: 'c0ffee', endedAt: null, decidedBy: null },
    });
  });

  it('are listed of one pipeline, of one status, and page by page', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.unshift(await insert({ status: n === 2 ? 'dismissed' : 'open' }));
    expect(idsOf(await list({ status: 'dismissed' }))).to.deep.equal([ids[2]]);
    expect(idsOf(await list({ pipelineId: teams.ours.pipelineId }))).to.deep.equal(ids);
    expect(idsOf(await list({ pipelineId: teams.theirs.pipelineId }))).to.deep.equal([]);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: AnomalyPage = await list({ limit: 2, ...(cursor ? { cursor } : {}) });
      seen.push(...idsOf(page));
      cursor = page.nextCursor;
    } while (cursor);
    expect(seen).to.deep.equal(ids);
  });

  it('are counted by pipeline with their worst severity: open ones', async () => {
    expect(await ask('anomaly.countByPipeline')).to.deep.equal({});
    await insert({ severity: 'info' });
    await insert({ severity: 'critical' });
    await insert({ severity: 'warning', ended_at: new Date() });
    await insert({ severity: 'critical', status: 'acknowledged' });
    await insert({}, teams.theirs);
    const { pipelineId } = teams.ours;
    expect(await ask('anomaly.countByPipeline')).to.deep.equal({ [pipelineId]: 3 });
    expect(await ask('anomaly.maxSeverityByPipeline')).to.deep.equal({ [pipelineId]: 'critical' });
    await test.db('anomalies').where({ severity: 'critical' }).delete();
    expect(await ask('anomaly.maxSeverityByPipeline')).to.deep.equal({ [pipelineId]: 'warning' });
  });

  it('are acknowledged and dismissed, with a name and a time; the same again changes nothing', async () => {
    const id = await insert();
    const { output } = await decide('acknowledge', id);
    expect(output).to.include({ id, status: 'acknowledged', decidedBy: 'editor' });
    const again = await decide('acknowledge', id);
    expect(again.output?.decidedAt).to.equal(output?.decidedAt);
    expect((await decide('dismiss', id)).output).to.include({ status: 'dismissed' });
    expect((await decide('acknowledge', id)).output).to.include({ status: 'acknowledged' });
    const events = await test.db('audit_log').where({ entity_id: id }).orderBy('created_at');
    expect(events.map(({ action }) => action)).to.deep.equal([
      ...['anomaly.acknowledged', 'anomaly.dismissed', 'anomaly.acknowledged'],
    ]);
    expect(events[1]).to.deep.include({ diff: { status: ['acknowledged', 'dismissed'] } });
    expect(events[1].metadata).to.deep.include({ name: 'orders', metric: 'eventsIn', direction: 'down' });
  });

  it('of another environment are not found, whatever environment is named', async () => {
    const id = await insert({}, teams.theirs);
    for (const name of ['acknowledge', 'dismiss'])
      expect((await decide(name, id)).fault?.data.code).to.equal('NOT_FOUND');
    expect((await decide('dismiss', 'nobody')).fault?.data.code).to.equal('NOT_FOUND');
    expect(await test.db('anomalies').where({ id }).first()).to.include({ status: 'open' });
  });

  it('are decided by editors, and not by viewers', async () => {
    const anomalyId = await insert();
    const input = { environmentId: teams.ours.environmentId, anomalyId };
    for (const name of ['acknowledge', 'dismiss'])
      expect((await teams.viewer.call('mutation', `anomaly.${name}`, input)).fault?.data.code, name).to.equal(
        'FORBIDDEN',
      );
  });

  it('of a deleted pipeline are not seen', async () => {
    await insert();
    const { pipelineId } = teams.ours;
    const mark = (tombstoned_at: Date | null) =>
      test.db('pipelines').where({ id: pipelineId }).update({ tombstoned_at });
    await mark(new Date());
    try {
      expect((await list()).anomalies).to.deep.equal([]);
      expect(await ask('anomaly.countByPipeline')).to.deep.equal({});
    } finally {
      await mark(null);
    }
  });

  it('are refused with a reason where limit or cursor is wrong', async () => {
    const reason = async (more: object) => {
      const input = { environmentId: teams.ours.environmentId, ...more };
      return (await teams.viewer.call('query', 'anomaly.list', input)).fault;
    };
    expect((await reason({ limit: 201 }))?.data.code).to.equal('BAD_REQUEST');
    expect((await reason({ cursor: 'x' }))?.message).to.include(
      'must be a cursor that an earlier answer gave',
    );
    expect((await reason({ status: 'closed' }))?.data.code).to.equal('BAD_REQUEST');
  });

  it('are looked for by a controller with all its services', async () => {
    const result = await createAnomalyPass().run(test.controller.systemContext('anomalies'));
    expect(result).to.deep.equal({ pipelines: 2, found: 0 });
  });

  it('are read in as many statements as before, however many there are', async () => {
    const { teamId, environmentId } = teams.ours;
    const roles = { [teamId]: 'VIEWER' } as const;
    const counts = async () => {
      const { list: all, countByPipeline, maxSeverityByPipeline } = anomalyOperations;
      const found: number[] = [];
      for (const operation of [all, countByPipeline, maxSeverityByPipeline])
        found.push(await countStatements(test, roles, operation, { environmentId }));
      return found;
    };
    await insert();
    const few = await counts();
    for (let n = 0; n < 60; n += 1) await insert();
    expect(await counts()).to.deep.equal(few);
    expect(Math.max(...few)).to.be.at.most(3);
  });

  describe('have settings, which', () => {
    const CONFIG = {
      ...{ baselineWindowDays: 14, sigmaThreshold: 3.5, minStddevFloorPercent: 10 },
      ...{ dedupWindowHours: 12, enabledMetrics: 'latency, eventsIn' },
    };
    const shown = async () => (await (await test.root()).query<SettingsView>('settings.get', {})).anomalies;
    const update = async (more: object = {}) =>
      (await test.root()).call<AnomalyConfigView>('mutation', 'settings.updateAnomalyConfig', {
        ...CONFIG,
        ...more,
      });

    it('are a week, three deviations, five percent, four hours and all metrics unless set', async () => {
      expect(await shown()).to.deep.equal({
        ...{ baselineWindowDays: 7, sigmaThreshold: 3, minStddevFloorPercent: 5, dedupWindowHours: 4 },
        enabledMetrics: 'eventsIn,errors,latency',
      });
    });

    it('are shown as they were set, with an audit row that says what they were', async () => {
      expect((await update()).output).to.deep.equal({ ...CONFIG, enabledMetrics: 'eventsIn,latency' });
      expect(await shown()).to.deep.equal({ ...CONFIG, enabledMetrics: 'eventsIn,latency' });
      const [event] = await test.db('audit_log').where({ action: 'settings.anomalyConfigUpdated' });
      expect(event.diff).to.deep.include({ baselineWindowDays: [7, 14], sigmaThreshold: [3, 3.5] });
      expect((await update({ enabledMetrics: '' })).output?.enabledMetrics).to.equal('');
    });

    it('have bounds, and names that are known', async () => {
      for (const wrong of [
        ...[{ baselineWindowDays: 0 }, { baselineWindowDays: 91 }, { baselineWindowDays: 1.5 }],
        ...[{ sigmaThreshold: 0.9 }, { sigmaThreshold: 10.1 }],
        ...[{ minStddevFloorPercent: -1 }, { minStddevFloorPercent: 101 }],
        ...[{ dedupWindowHours: 0 }, { dedupWindowHours: 169 }, { enabledMetrics: 'x'.repeat(201) }],
      ])
        expect((await update(wrong)).fault?.data.code, JSON.stringify(wrong)).to.equal('BAD_REQUEST');
      const { fault } = await update({ enabledMetrics: 'eventsIn,bytes' });
      expect(fault?.data.code).to.equal('BAD_REQUEST');
      expect(fault?.message).to.equal(
        'enabledMetrics: "bytes" is no metric. Give names from eventsIn, errors, latency, with commas between them',
      );
      for (const edge of [
        { baselineWindowDays: 1, sigmaThreshold: 1, minStddevFloorPercent: 0, dedupWindowHours: 1 },
        { baselineWindowDays: 90, sigmaThreshold: 10, minStddevFloorPercent: 100, dedupWindowHours: 168 },
      ])
        expect((await update(edge)).fault).to.equal(null);
    });
  });
});
