/** Which version a node gets while a rollout is active, and what is said of it. */
import { expect } from 'chai';
import fc from 'fast-check';
import { DEFAULT_FLEET_SETTINGS } from '../../../controller/fleet/settings/index.ts';
import { desiredPipelines } from '../../../controller/fleet/status/desired-pipelines.ts';
import { join } from '../../../controller/fleet/status/join-status.ts';
import {
  type Deployable,
  isCanary,
  type Target,
  versionForNode,
} from '../../../controller/fleet/status/version-for-node.ts';
import type { LabelMap } from '../../../schemas/api/common.ts';
import {
  NOW,
  nodeRow,
  pipelineRow,
  reportRow,
  rolloutRow,
  secondsAgo,
} from '../../support/fixtures/status.ts';

const rolling: Deployable = {
  isDraft: false,
  deployedVersionId: 'old',
  deployedSelector: { role: 'edge' },
  rollout: { versionId: 'new', nodeSelector: { role: 'edge', disk: 'fast' }, canarySelector: { ring: '0' } },
};
const target = (labels: LabelMap, maintenance = false): Target => ({ labels, maintenance });

describe('which version a node gets during a rollout', () => {
  const rows: [
    reason: string,
    labels: LabelMap,
    version: string | null,
    more?: Partial<Deployable> | undefined,
  ][] = [
    ['a canary node', { role: 'edge', disk: 'fast', ring: '0' }, 'new'],
    ['a node of another ring', { role: 'edge', disk: 'fast', ring: '1' }, 'old'],
    ['a node without a ring', { role: 'edge' }, 'old'],
    ['a canary node that the selector of the new version leaves out', { role: 'edge', ring: '0' }, null],
    ['a node that neither version selects', { role: 'core', ring: '1' }, null],
    [
      'a node beside the canary where nothing was deployed before',
      { role: 'edge' },
      null,
      { deployedVersionId: null },
    ],
    [
      'a canary node where nothing was deployed before',
      { role: 'edge', disk: 'fast', ring: '0' },
      'new',
      { deployedVersionId: null },
    ],
    ['a canary node of a draft', { role: 'edge', disk: 'fast', ring: '0' }, null, { isDraft: true }],
  ];
  for (const [reason, labels, version, more] of rows)
    it(`gives ${version ?? 'nothing'} to ${reason}`, () =>
      expect(versionForNode({ ...rolling, ...more }, target(labels))).to.equal(version));

  it('gives nothing to a canary node in maintenance', () =>
    expect(versionForNode(rolling, target({ role: 'edge', disk: 'fast', ring: '0' }, true))).to.equal(null));

  const labels: fc.Arbitrary<LabelMap> = fc.dictionary(
    fc.constantFrom('role', 'ring', 'disk'),
    fc.constantFrom('0', '1', 'edge'),
    { maxKeys: 3 },
  );
  const selector = fc.option(labels);
  const deployable: fc.Arbitrary<Deployable> = fc.record({
    isDraft: fc.nat(4).map((n) => n === 0),
    deployedVersionId: fc.constantFrom(null, 'old', 'old'),
    deployedSelector: selector,
    rollout: fc.option(
      fc.record({ versionId: fc.constant('new'), nodeSelector: selector, canarySelector: labels }),
    ),
  });

  it('is the same for one node and for many at once', () => {
    fc.assert(
      fc.property(
        fc.array(deployable, { maxLength: 8 }),
        fc.array(fc.record({ labels, maintenance: fc.nat(4).map((n) => n === 0) }), { maxLength: 8 }),
        (pipelines, nodes) => {
          const fast = desiredPipelines(pipelines, nodes).map((places, node) =>
            places.map((place) => {
              const pipeline = pipelines[place]!;
              const canary = isCanary(pipeline, nodes[node]?.labels ?? {});
              return [place, canary ? pipeline.rollout?.versionId : pipeline.deployedVersionId];
            }),
          );
          const slow = nodes.map((node) =>
            pipelines.flatMap((pipeline, place) => {
              const version = versionForNode(pipeline, node);
              return version === null ? [] : [[place, version]];
            }),
          );
          expect(fast).to.deep.equal(slow);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('gives each node one of both versions, and the new one to canary nodes alone', () => {
    fc.assert(
      fc.property(deployable, labels, (pipeline, own) => {
        const version = versionForNode(pipeline, target(own));
        if (version === 'new') expect(isCanary(pipeline, own)).to.equal(true);
        if (version === 'old') expect(isCanary(pipeline, own)).to.equal(false);
      }),
    );
  });
});

describe('what is said of a pipeline during a rollout', () => {
  const time = { now: NOW, listeningSince: NOW - 86_400_000, settings: DEFAULT_FLEET_SETTINGS };
  const nodes = ['0', '1', '1'].map((ring, n) =>
    nodeRow({ id: `n${n}`, name: `node-${n}`, uiLabels: { ring } }),
  );
  const said = (versions: readonly number[], rollout = rolloutRow(), more = {}) =>
    join(
      {
        ...{ binding: null, nodes, groups: [] },
        pipelines: [pipelineRow({ latestVersion: 3, rollout, ...more })],
        reports: versions.map((version, n) => reportRow({ nodeId: `n${n}`, version })),
      },
      time,
    );

  it('wants the new version on the canary node and the old one on the others, and calls neither late', () => {
    const { nodes, pipelines } = said([3, 2, 2]);
    expect(pipelines[0]?.onNodes.map(({ desiredVersion }) => desiredVersion)).to.deep.equal([3, 2, 2]);
    expect(nodes.map(({ health }) => health)).to.deep.equal(['HEALTHY', 'HEALTHY', 'HEALTHY']);
    expect(nodes.map(({ gate }) => gate[2]?.state)).to.deep.equal(['done', 'done', 'done']);
  });

  it('calls a canary node late that stays on the old version, and another that has the new one', () => {
    const { nodes } = said([2, 3, 2]);
    expect(nodes.map(({ health }) => health)).to.deep.equal(['DEGRADED', 'DEGRADED', 'HEALTHY']);
  });

  it('says on how many nodes the canary is, and until when the window runs', () => {
    const [, accepted, delivered] = said([3, 2, 2]).pipelines[0]!.gate;
    expect(accepted).to.include({ state: 'done', version: 3 });
    expect(delivered).to.include({
      state: 'moving',
      reason: 'Canary: version 3 is on 1 of 3 nodes',
    });
    const checked = rolloutRow({ status: 'HEALTH_CHECK', healthStartedAt: secondsAgo(60) });
    const running = said([3, 2, 2], checked).pipelines[0]!.gate[3];
    expect(running).to.include({
      state: 'moving',
      reason: 'Canary: version 3 runs on 1 of 3 nodes, window until 2026-01-01 00:09 UTC',
    });
  });

  it('waits for a node that matches where none does', () => {
    const gate = said([2, 2, 2], rolloutRow({ canarySelector: { ring: '7' } })).pipelines[0]!.gate;
    expect(gate[2]).to.include({
      state: 'moving',
      reason: 'Canary: version 3 waits for a node that matches ring=7',
    });
  });

  const manifest = {
    ...{ path: 'web.yaml', line: 1, seenCommit: 'c3', appliedCommit: 'c3', seenHash: 'h', appliedHash: 'h' },
    prunePending: false,
    conditions: [],
  };
  const conditionsOf = (rollout: ReturnType<typeof rolloutRow>) =>
    said([3, 2, 2], rollout, { managedBy: 'git', manifest }).pipelines[0]!.conditions;

  it('is neither rolled out nor not while the canary runs, and not where it is held', () => {
    expect(conditionsOf(rolloutRow())[0]).to.include({
      type: 'RolledOut',
      status: 'Unknown',
      reason: 'Canary',
    });
    const [rolledOut] = conditionsOf(rolloutRow({ heldReason: 'too few events' }));
    expect(rolledOut).to.include({ status: 'False', reason: 'CanaryHeld' });
    expect(rolledOut?.message).to.contain('too few events');
  });

  it('tells of a version that was rolled back, for as long as its spec is held', () => {
    const held = {
      ...{ type: 'Applied', status: 'False', reason: 'Held', message: 'Held', file: 'web.yaml', line: 1 },
      ...{ commit: 'c3', lastTransition: new Date(NOW) },
    };
    const more = {
      managedBy: 'git',
      manifest: { ...manifest, conditions: [held] },
      rollout: null,
      deployedCommit: 'c2',
    };
    const { gate, conditions } = said([2, 2, 2], rolloutRow(), more).pipelines[0]!;
    expect(gate[2]).to.include({
      state: 'failed',
      reason: 'Version 3 was rolled back; version 2 is on 3 of 3 nodes',
    });
    expect(gate[3]?.state).to.equal('done');
    expect(
      gate.slice(2).map(({ commit }) => commit),
      'not that of what was taken back',
    ).to.deep.equal(['c2', 'c2']);
    expect(conditions.find(({ type }) => type === 'RolledOut')).to.include({
      status: 'False',
      reason: 'RolledBack',
    });
  });

  it('fails where the canary crashed', () => {
    const status = join(
      {
        ...{ binding: null, nodes, groups: [] },
        pipelines: [pipelineRow({ rollout: rolloutRow() })],
        reports: [reportRow({ nodeId: 'n0', version: 3, status: 'CRASHED', lastError: 'no port' })],
      },
      time,
    );
    expect(status.pipelines[0]?.gate[3]).to.include({
      state: 'failed',
      reason: 'Crashed on node-0: no port',
    });
  });

  it('tells of a first version that only canary nodes have', () => {
    const nothing = { deployedVersionId: null, deployedVersion: null, deployedAt: null };
    const { pipelines, nodes } = said([3], rolloutRow(), nothing);
    expect(pipelines[0]?.counts).to.include({ total: 1, running: 1 });
    expect(pipelines[0]?.gate[2]?.state).to.equal('moving');
    expect(nodes.map(({ desired }) => desired)).to.deep.equal([1, 0, 0]);
  });
});
