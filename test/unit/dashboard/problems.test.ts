import { expect } from 'chai';
import { DEFAULT_FLEET_SETTINGS } from '../../../controller/fleet/settings/index.ts';
import { type Joined, join } from '../../../controller/fleet/status/join-status.ts';
import type { Observed } from '../../../controller/fleet/status/observed-rows.ts';
import {
  NO_ALERTS,
  type OpenAlert,
  type OpenAlerts,
} from '../../../controller/insight/dashboard/alert-problems.ts';
import { countNodes, countPipelines, stateOf } from '../../../controller/insight/dashboard/counts.ts';
import { type GitErrors, problemsOf } from '../../../controller/insight/dashboard/problems.ts';
import { NOW, nodeRow, pipelineRow, reportRow, secondsAgo } from '../../support/fixtures/status.ts';

const joined = (more: Partial<Observed> = {}): Joined =>
  join(
    {
      ...{ binding: null, nodes: [nodeRow()], pipelines: [pipelineRow()], groups: [] },
      reports: [reportRow({ rateErrors: 0 })],
      ...more,
    },
    { now: NOW, listeningSince: NOW - 86_400_000, settings: DEFAULT_FLEET_SETTINGS },
  );
const WELL: GitErrors = { lastError: null, suspended: false, importErrors: [] };
const told = (status: Joined, git: GitErrors | null = null) =>
  problemsOf(status, git).map(({ key, tone }) => `${key} ${tone}`);
const crash = reportRow({ status: 'CRASHED', lastError: 'exit code 78\nmore' });
const silent = nodeRow({ heardAt: secondsAgo(3_600) });

describe('what is wrong in an environment', () => {
  it('is nothing where everything that should run runs', () => {
    expect(told(joined(), WELL)).to.deep.equal([]);
    expect(told({ nodes: [], pipelines: [] })).to.deep.equal([]);
  });

  it('is a crash, told of once: with its pipeline, and how many nodes it is on', () => {
    const [problem, ...others] = problemsOf(joined({ reports: [crash] }), WELL);
    expect(others).to.deep.equal([]);
    expect(problem).to.include({ kind: 'pipeline', id: 'p1', tone: 'failed', harm: 100 });
    expect(problem?.title).to.equal('web crashed on 1 of 1 node');
    expect(problem?.note).to.include('exit code 78');
  });

  it('is errors, with how fast they come', () => {
    const [problem] = problemsOf(joined({ reports: [reportRow({ rateErrors: 1_234.5 })] }), WELL);
    expect(problem).to.include({ key: 'errors-p1', tone: 'held', title: 'web reports 1.23K/s errors' });
  });

  it('is a silent node, told of once for all its pipelines', () => {
    const status = joined({
      nodes: [silent],
      pipelines: [pipelineRow(), pipelineRow({ id: 'p2', name: 'b' })],
    });
    expect(told(status)).to.deep.equal(['node-n1 failed']);
  });

  it('is a pipeline that is held before the nodes', () => {
    expect(told(joined({ pipelines: [pipelineRow({ latestVersion: 3 })] }))).to.deep.equal(['held-p1 held']);
  });

  it('is what is wrong with git', () => {
    const importErrors = [{ id: 'e1', path: 'a.yaml', line: 4, message: 'no such component' }];
    const problems = problemsOf(joined(), { lastError: 'no such branch', suspended: true, importErrors });
    expect(problems.map(({ key }) => key)).to.deep.equal(['git', 'import-e1', 'suspended']);
    expect(problems[1]).to.deep.include({
      ...{ kind: 'manifest', path: 'a.yaml', line: 4, id: null, title: 'a.yaml:4 was refused' },
    });
  });

  it('is told of by harm: lost data, data at risk, changes that do not arrive', () => {
    const status = joined({
      nodes: [nodeRow(), { ...silent, id: 'n2', name: 'node-2' }],
      pipelines: [
        pipelineRow({ nodeSelector: null }),
        pipelineRow({ id: 'p2', name: 'errors' }),
        pipelineRow({ id: 'p3', name: 'behind', latestVersion: 3 }),
      ],
      reports: [
        crash,
        reportRow({ pipelineId: 'p2', rateErrors: 1 }),
        reportRow({ pipelineId: 'p3', rateErrors: 0 }),
      ],
    });
    const git = {
      ...WELL,
      lastError: 'away',
      importErrors: [{ id: 'e', path: 'a', line: null, message: '' }],
    };
    expect(told(status, git)).to.deep.equal([
      ...[
        'crash-p1 failed',
        'node-n2 failed',
        'git failed',
        'errors-p2 held',
        'import-e failed',
        'held-p3 held',
      ],
    ]);
  });
});

describe('the counts of an environment', () => {
  it('have one word for each pipeline, the worst that happens anywhere', () => {
    const of = (more: Partial<Observed>) => stateOf(joined(more).pipelines[0]!);
    expect(of({})).to.equal('running');
    expect(of({ pipelines: [pipelineRow({ isDraft: true })] })).to.equal('draft');
    expect(of({ reports: [crash] })).to.equal('crashed');
    expect(of({ nodes: [] })).to.equal('idle');
    expect(of({ reports: [reportRow({ status: 'STOPPED' })] })).to.equal('stopped');
    expect(of({ reports: [] })).to.equal('moving');
    expect(of({ reports: [], nodes: [silent] })).to.equal('held');
  });

  it('add up', () => {
    const status = joined({
      nodes: [nodeRow(), { ...silent, id: 'n2' }, nodeRow({ id: 'n3', heardAt: null, maintenance: true })],
      pipelines: [pipelineRow(), pipelineRow({ id: 'p2', isDraft: true })],
    });
    expect(countNodes(status.nodes)).to.deep.equal({
      ...{ total: 3, healthy: 1, degraded: 0, unreachable: 1, unknown: 1, maintenance: 1 },
    });
    const counts = countPipelines(status.pipelines);
    const { total, ...states } = counts;
    expect(total).to.equal(2);
    expect(Object.values(states).reduce((sum, count) => sum + count)).to.equal(2);
    expect(counts).to.include({ draft: 1, held: 1 });
  });

  describe('by alerts', () => {
    const alert = (more: Partial<OpenAlert> = {}): OpenAlert => ({
      ...{ id: 'a1', metric: 'node_unreachable', ruleName: 'Silent nodes', message: 'edge is unreachable' },
      ...{ status: 'firing', acknowledgedBy: null, openedAt: new Date(NOW - 12 * 60_000), others: 0 },
      ...more,
    });
    const withAlerts = (status: Joined, alerts: Partial<OpenAlerts>) =>
      problemsOf(status, null, { alerts: { ...NO_ALERTS, ...alerts }, now: NOW });

    it('is an alert with its rule and since when, in the place of the silent node', () => {
      const status = joined({ nodes: [silent] });
      const [problem, ...others] = withAlerts(status, { listed: [alert()], total: 1, nodeIds: ['n1'] });
      expect(others).to.deep.equal([]);
      expect(problem).to.deep.equal({
        ...{ key: 'alert-a1', kind: 'alert', id: 'a1', path: null, line: null, tone: 'failed', harm: 80 },
        ...{ title: 'edge is unreachable', note: 'Rule Silent nodes, for 12 min' },
      });
      const other = withAlerts(status, { listed: [alert()], total: 1, nodeIds: ['n2'] });
      expect(other.map(({ key }) => key)).to.have.members(['alert-a1', 'node-n1']);
    });

    it('is an alert in the place of the crash, once for all nodes of the pipeline', () => {
      const crashed = alert({ metric: 'pipeline_crashed', message: 'web crashed on n1', others: 2 });
      const found = withAlerts(joined({ reports: [crash] }), {
        listed: [crashed],
        total: 1,
        pipelineIds: ['p1'],
      });
      expect(found.map(({ title }) => title)).to.deep.equal(['web crashed on n1, and on 2 more nodes']);
    });

    it('is less bad once somebody has acknowledged it', () => {
      const [problem] = withAlerts(joined(), {
        listed: [alert({ status: 'acknowledged', acknowledgedBy: 'ada@example.org' })],
        total: 1,
      });
      expect(problem).to.include({ tone: 'held', harm: 50 });
      expect(problem?.note).to.equal('Rule Silent nodes, for 12 min; acknowledged by ada@example.org');
    });
  });
});
