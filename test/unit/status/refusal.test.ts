import { expect } from 'chai';
import { pipelineGate } from '../../../controller/fleet/status/gate/gate.ts';
import { rolloutConditions } from '../../../controller/fleet/status/gate/gate-conditions.ts';
import { join } from '../../../controller/fleet/status/join-status.ts';
import { parseSubject } from '../../../controller/fleet/status/refusal.ts';
import { NOW, nodeRow, pipelineRow, reportRow, secondsAgo } from '../../support/fixtures/status.ts';

describe('what a message of an engine names', () => {
  const cases: [string, string | null, string | null][] = [
    ['Configuration error. error=Sink "out": Missing parameter', 'sink out', null],
    ['Configuration error. error=missing field `path`\n\nin `sinks.out`', 'sink out', 'path'],
    ['unknown field `inclde`, expected one of `include`\nin `sources.lines`', 'source lines', 'inclde'],
    ['Transform "parse": error[E203]: syntax error', 'transform parse', null],
    ['exit status 70', null, null],
  ];
  for (const [message, component, option] of cases)
    it(`finds ${component ?? 'nothing'} in ${JSON.stringify(message)}`, () => {
      expect(parseSubject(message)).to.deep.equal({ component, option });
    });
});

describe('a node that is served the version before', () => {
  const revert = {
    ...{ refusedVersionId: 'v2', refusedVersion: 2, servedVersionId: 'v1', servedVersion: 1 },
    ...{ by: 'CRASH' as const, reason: 'Sink "out": no', fault: null, since: secondsAgo(600).toISOString() },
  };
  const joined = (pipeline: Parameters<typeof pipelineRow>[0], report: Parameters<typeof reportRow>[0]) =>
    join(
      {
        ...{ binding: null, groups: [], nodes: [nodeRow()] },
        pipelines: [pipelineRow(pipeline)],
        reports: [reportRow(report)],
      },
      {
        ...{ now: NOW, listeningSince: NOW - 3_600_000 },
        settings: { pollIntervalMs: 15_000, unhealthyThreshold: 3 } as Parameters<typeof join>[1]['settings'],
      },
    );

  it('is meant to run that one, is degraded, and fails the gate', () => {
    const { nodes, pipelines } = joined({ reverts: { n1: revert } }, { version: 1 });
    expect(nodes[0]).to.include({ health: 'DEGRADED' });
    expect(nodes[0]?.healthReason).to.match(/Runs the previous version/);
    expect(nodes[0]?.pairs[0]).to.include({ version: 1, versionId: 'v1' });
    expect(pipelines[0]?.refused).to.deep.equal({ version: 2, count: 1, reason: 'Sink "out": no' });
    expect(pipelines[0]?.gate[3]?.state).to.equal('failed');
  });

  it('is as any other once another version is deployed', () => {
    const { nodes, pipelines } = joined(
      { reverts: { n1: revert }, deployedVersionId: 'v3', deployedVersion: 3 },
      { version: 3 },
    );
    expect(nodes[0]).to.include({ health: 'HEALTHY' });
    expect(pipelines[0]?.refused).to.equal(null);
    expect(pipelines[0]?.gate[3]?.state).to.equal('done');
  });

  it('keeps a manifest from being rolled out, and says where it is', () => {
    const input: Parameters<typeof pipelineGate>[0] = {
      ...{ managedBy: 'git', isDraft: false, rollout: null, latestVersion: 2 },
      manifest: {
        ...{
          seenCommit: 'c',
          appliedCommit: 'c',
          upToDate: true,
          applied: null,
          removed: false,
          problem: null,
        },
      },
      deployed: { version: 2, commit: 'c', at: null },
      nodes: [
        {
          ...{ nodeName: 'a', status: 'RUNNING', version: 1, desired: 1, canary: false, health: 'DEGRADED' },
          ...{ lastError: null, degraded: null, draining: null, since: null },
          refused: {
            ...{ version: 2, servedVersion: 1, by: 'NODE_CHECK', reason: 'no', fault: null, since: null },
            ...{ component: 'sink out', option: 'path', place: { path: 'web.yaml', line: 12 } },
          },
        },
      ],
    };
    const conditions = rolloutConditions(pipelineGate(input), input, 'web.yaml', 12);
    expect(conditions.map(({ type, status, reason }) => [type, status, reason])).to.deep.equal([
      ['RolledOut', 'False', 'Refused'],
      ['Healthy', 'False', 'Refused'],
    ]);
    expect(conditions[1]?.message).to.equal(
      'Version 2 was refused on 1 of 1 node by their engine (a): sink out, option path: no; version 1 keeps running there (web.yaml:12)',
    );
  });
});
