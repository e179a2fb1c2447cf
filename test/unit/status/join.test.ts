import { expect } from 'chai';
import { DEFAULT_FLEET_SETTINGS } from '../../../controller/fleet/settings/index.ts';
import type { JoinTime } from '../../../controller/fleet/status/classify-node.ts';
import { type Joined, join } from '../../../controller/fleet/status/join-status.ts';
import type { Observed } from '../../../controller/fleet/status/observed-rows.ts';
import { NOW, nodeRow, pipelineRow, reportRow, secondsAgo } from '../../support/fixtures/status.ts';

const time: JoinTime = {
  now: NOW,
  listeningSince: NOW - 86_400_000,
  settings: DEFAULT_FLEET_SETTINGS,
};
const joined = (more: Partial<Observed> = {}): Joined =>
  join(
    {
      binding: null,
      nodes: [nodeRow()],
      pipelines: [pipelineRow()],
      reports: [reportRow()],
      groups: [],
      ...more,
    },
    time,
  );
const onlyNode = (status: Joined) => status.nodes[0]!;
const onlyPipeline = (status: Joined) => status.pipelines[0]!;

describe('what should run, joined with what runs', () => {
  it('puts a report beside the pipeline on its node', () => {
    const status = joined();
    expect(onlyNode(status)).to.include({ health: 'HEALTHY', desired: 1, running: 1, crashed: 0 });
    expect(onlyPipeline(status).counts).to.deep.equal({
      total: 1,
      pending: 0,
      starting: 0,
      running: 1,
      stopped: 0,
      crashed: 0,
    });
    expect(onlyPipeline(status).onNodes[0]).to.include({
      nodeName: 'node-1',
      status: 'RUNNING',
      version: 2,
      desiredVersion: 2,
    });
    expect(onlyPipeline(status).rates.eventsIn).to.equal(10);
  });

  it('calls a pipeline PENDING that should run and was not reported yet', () => {
    const status = joined({ reports: [] });
    expect(onlyPipeline(status).onNodes[0]).to.include({
      status: 'PENDING',
      version: null,
      desiredVersion: 2,
    });
    expect(onlyPipeline(status).counts).to.include({ total: 1, pending: 1 });
  });

  it('leaves out a node that the selector does not match', () => {
    const status = joined({ pipelines: [pipelineRow({ deployedSelector: { role: 'edge' } })], reports: [] });
    expect(onlyPipeline(status).onNodes).to.deep.equal([]);
    expect(onlyNode(status).desired).to.equal(0);
  });

  it('matches labels of the agent and of the UI alike, those of the UI winning', () => {
    const pipelines = [pipelineRow({ deployedSelector: { role: 'edge' } })];
    const with_ = (agentLabels: Record<string, string>, uiLabels: Record<string, string>) =>
      onlyNode(joined({ nodes: [nodeRow({ agentLabels, uiLabels })], pipelines })).desired;
    expect(with_({ role: 'edge' }, {})).to.equal(1);
    expect(with_({ role: 'core' }, { role: 'edge' })).to.equal(1);
    expect(with_({ role: 'edge' }, { role: 'core' })).to.equal(0);
  });

  it('still shows what runs where it no longer should, without counting it', () => {
    const status = joined({ nodes: [nodeRow({ maintenance: true })] });
    expect(onlyPipeline(status).onNodes[0]).to.include({ status: 'RUNNING', desiredVersion: null });
    expect(onlyPipeline(status).counts.total).to.equal(0);
    expect(onlyPipeline(status).gate[3]?.state).to.equal('unknown');
  });

  it('hides what has stopped where it no longer should run', () => {
    const status = joined({
      nodes: [nodeRow({ maintenance: true })],
      reports: [reportRow({ status: 'STOPPED' })],
    });
    expect(onlyPipeline(status).onNodes).to.deep.equal([]);
  });

  it('makes a node DEGRADED by a crash, and by a version that differs for more than two intervals', () => {
    expect(onlyNode(joined({ reports: [reportRow({ status: 'CRASHED' })] }))).to.include({
      health: 'DEGRADED',
      crashed: 1,
    });
    const old = [reportRow({ version: 1 })];
    expect(onlyNode(joined({ reports: old })).healthReason).to.match(/Not yet on the deployed version: web/);
    const fresh = [pipelineRow({ deployedAt: secondsAgo(10) })];
    expect(onlyNode(joined({ reports: old, pipelines: fresh })).health).to.equal('HEALTHY');
    const slow = [nodeRow({ pollIntervalMs: 60_000 })];
    expect(
      onlyNode(
        joined({ reports: old, nodes: slow, pipelines: [pipelineRow({ deployedAt: secondsAgo(100) })] }),
      ).health,
    ).to.equal('HEALTHY');
  });

  it('takes the larger of the two intervals for how long a node may be silent', () => {
    const silent = { heardAt: secondsAgo(60) };
    expect(onlyNode(joined({ nodes: [nodeRow(silent)] })).health).to.equal('UNREACHABLE');
    expect(onlyNode(joined({ nodes: [nodeRow({ ...silent, pollIntervalMs: 30_000 })] })).health).to.equal(
      'HEALTHY',
    );
  });

  it('counts no rates of a silent node, nor of one where the pipeline does not run', () => {
    const silent = joined({ nodes: [nodeRow({ heardAt: secondsAgo(60) })] });
    expect(onlyPipeline(silent).rates.eventsIn).to.equal(0);
    expect(onlyPipeline(silent).onNodes[0]?.eventsIn).to.equal(1_000);
    expect(onlyPipeline(joined({ reports: [reportRow({ status: 'CRASHED' })] })).rates.eventsIn).to.equal(0);
  });

  it('adds up the rates of all nodes', () => {
    const nodes = [nodeRow(), nodeRow({ id: 'n2', name: 'node-2' })];
    const status = joined({
      nodes,
      reports: [reportRow(), reportRow({ nodeId: 'n2', rateEventsIn: 5, rateErrors: 1 })],
    });
    expect(onlyPipeline(status).rates).to.deep.equal({
      asOf: null,
      eventsIn: 15,
      eventsOut: 18,
      bytesIn: 100,
      bytesOut: 80,
      errors: 1.5,
    });
  });

  it('adds to the stored conditions what the nodes say, for what git owns only', () => {
    expect(onlyPipeline(joined()).conditions).to.deep.equal([]);
    const manifest = {
      path: 'web.yaml',
      line: 1,
      seenCommit: 'c2',
      appliedCommit: 'c2',
      seenHash: 'h',
      appliedHash: 'h',
      prunePending: false,
      conditions: [],
    };
    const owned = onlyPipeline(joined({ pipelines: [pipelineRow({ managedBy: 'git', manifest })] }));
    expect(owned.conditions.map((one) => one.type)).to.deep.equal(['RolledOut', 'Healthy']);
    expect(owned.gate.map((segment) => segment.state)).to.deep.equal(['done', 'done', 'done', 'done']);
    const waiting = { ...manifest, seenHash: 'other', seenCommit: 'c3' };
    const behind = onlyPipeline(
      joined({ pipelines: [pipelineRow({ managedBy: 'git', manifest: waiting })] }),
    );
    expect(behind.gate[1]?.state).to.equal('moving');
    const broken = onlyPipeline(
      joined({ pipelines: [pipelineRow({ managedBy: 'git', manifest, problem: 'no YAML' })] }),
    );
    expect(broken.gate[0]).to.include({ state: 'failed', reason: 'no YAML' });
  });

  it('gives each node a strip of its own', () => {
    const binding = {
      headCommit: 'c2',
      headAt: null,
      appliedCommit: 'c2',
      appliedAt: secondsAgo(5),
      lastError: null,
      importErrors: 0,
    };
    expect(onlyNode(joined({ binding })).gate.map((segment) => segment.state)).to.deep.equal([
      'done',
      'done',
      'done',
      'done',
    ]);
    expect(onlyNode(joined({ reports: [] })).gate.map((segment) => segment.state)).to.deep.equal([
      'unknown',
      'unknown',
      'moving',
      'moving',
    ]);
  });

  it('looks once for the groups of a node, however often they are asked for', () => {
    let looked = 0;
    const criteria = { role: 'edge' };
    const group = { id: 'g', name: 'edge', labelTemplate: {}, requiredLabels: [] };
    const counted = Object.defineProperty({ ...group, criteria }, 'criteria', {
      get: () => {
        looked += 1;
        return criteria;
      },
    });
    const node = onlyNode(joined({ nodes: [nodeRow({ agentLabels: criteria })], groups: [counted] }));
    const before = looked;
    for (let n = 0; n < 10; n += 1) expect(node.groups).to.deep.equal([counted]);
    expect(looked - before).to.equal(1);
  });

  it('is empty where there is nothing', () => {
    expect(joined({ nodes: [], pipelines: [], reports: [] })).to.deep.equal({ nodes: [], pipelines: [] });
  });
});
