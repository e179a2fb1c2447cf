/** Which node is asked for events. */
import { expect } from 'chai';
import { chooseNode } from '../../../controller/fleet/samples/choose-node.ts';
import { join } from '../../../controller/fleet/status/join-status.ts';
import type { NodeRow, ReportRow } from '../../../controller/fleet/status/observed-rows.ts';
import { NOW, nodeRow, pipelineRow, reportRow, secondsAgo } from '../../support/fixtures/status.ts';

const SETTINGS = {
  pollIntervalMs: 5_000,
  unhealthyThreshold: 3,
  logsRetentionDays: 3,
  logsMibPerNodeHour: 100,
  logsMibTotal: 10_240,
  metricsRetentionDays: 7,
  pipelineVersionsRetained: 50,
};

interface Has {
  node?: Partial<NodeRow>;
  /** Null for a node that has not reported the pipeline. */
  report?: Partial<ReportRow> | null;
}

function joined(...nodes: Has[]) {
  const all = nodes.map(({ node, report }, index) => {
    const id = `n${index + 1}`;
    return {
      node: nodeRow({ id, name: `node-${index + 1}`, ...node }),
      report: report === null ? [] : [reportRow({ nodeId: id, ...report })],
    };
  });
  return join(
    {
      binding: null,
      nodes: all.map(({ node }) => node),
      pipelines: [pipelineRow()],
      reports: all.flatMap(({ report }) => report),
      groups: [],
    },
    { now: NOW, listeningSince: 0, settings: SETTINGS },
  );
}
const chosen = (choice: ReturnType<typeof chooseNode>) =>
  'node' in choice ? choice.node.nodeId : 'reason' in choice ? choice.reason : 'unknown';

describe('the node that is asked', () => {
  it('has the deployed version, then a push channel, then was heard of last', () => {
    const old: Has = { node: { agentHealth: { pushConnected: true } }, report: { version: 1 } };
    const slow: Has = { node: { heardAt: secondsAgo(9) } };
    const pushed: Has = { node: { heardAt: secondsAgo(9), agentHealth: { pushConnected: true } } };
    expect(chosen(chooseNode(joined(old, slow)))).to.equal('n2');
    expect(chosen(chooseNode(joined(old, slow, pushed, {})))).to.equal('n3');
    expect(chosen(chooseNode(joined(slow, {})))).to.equal('n2');
    expect(chosen(chooseNode(joined(old)))).to.equal('n1');
  });

  it('is the one that was named, and never one that was asked before', () => {
    expect(chosen(chooseNode(joined({}, {}), { nodeId: 'n2' }))).to.equal('n2');
    expect(chosen(chooseNode(joined({}, {}), { excluded: ['n1'] }))).to.equal('n2');
    expect(chosen(chooseNode(joined({}), { excluded: ['n1'] }))).to.match(/^No node runs it/);
    expect(chosen(chooseNode(joined({}), { nodeId: 'n9' }))).to.equal('unknown');
  });

  for (const { reason, has, told } of [
    {
      reason: 'silent',
      has: { node: { heardAt: secondsAgo(60) } },
      told: 'node-1 has not reported lately',
    },
    { reason: 'in maintenance', has: { node: { maintenance: true } }, told: 'node-1 is in maintenance' },
    { reason: 'revoked', has: { node: { revoked: true } }, told: 'node-1 has not reported lately' },
    {
      reason: 'crashed',
      has: { report: { status: 'CRASHED' } },
      told: 'node-1 reports that the engine has crashed',
    },
    { reason: 'starting', has: { report: { status: 'STARTING' } }, told: 'node-1 is still starting it' },
    { reason: 'waiting', has: { report: null }, told: 'node-1 is still starting it' },
  ] satisfies { reason: string; has: Has; told: string }[])
    it(`is not one that is ${reason}`, () => {
      expect(chosen(chooseNode(joined(has, {})))).to.equal('n2');
      expect(chosen(chooseNode(joined(has)))).to.equal(`No node can be sampled: ${told}`);
    });

  it('has a push channel where it can be told in no other way', () => {
    const cut: Has = { node: { agentHealth: { pushConnected: false } } };
    expect(chosen(chooseNode(joined(cut, { node: { heardAt: secondsAgo(9) } }), { byPush: true }))).to.equal(
      'n2',
    );
    expect(chosen(chooseNode(joined(cut)))).to.equal('n1');
    expect(chosen(chooseNode(joined(cut), { byPush: true }))).to.match(/node-1 has no push channel/);
  });

  it('is named by three reasons where there are many', () => {
    const crashed: Has = { report: { status: 'CRASHED' } };
    expect(chosen(chooseNode(joined(crashed, crashed, crashed, crashed, crashed)))).to.match(
      /node-3 .*, and 2 more$/,
    );
    expect(chosen(chooseNode(joined()))).to.match(/^No node runs it/);
  });
});
