import { expect } from 'chai';
import fc from 'fast-check';
import { pipelineGate } from '../../../controller/fleet/status/gate/gate.ts';
import { rolloutConditions } from '../../../controller/fleet/status/gate/gate-conditions.ts';
import type { GateInput, GateNode } from '../../../controller/fleet/status/gate/gate-input.ts';
import { nodeGate, sumGates } from '../../../controller/fleet/status/gate/gate-sums.ts';
import type { BindingRow } from '../../../controller/fleet/status/observed-rows.ts';
import { type Condition, GATE_POINTS, type Gate } from '../../../schemas/api/common.ts';

const AT = new Date(Date.UTC(2026, 0, 1));
const node = (more: Partial<GateNode> = {}): GateNode => ({
  nodeName: 'node-1',
  status: 'RUNNING',
  version: 2,
  desired: 2,
  canary: false,
  health: 'HEALTHY',
  lastError: null,
  degraded: null,
  draining: null,
  since: AT,
  refused: null,
  ...more,
});
const appliedCondition = (status: Condition['status'], message: string): Condition => ({
  type: 'Applied',
  status,
  reason: 'Any',
  message,
  file: 'web.yaml',
  line: 1,
  commit: 'c2',
  lastTransition: AT,
});
const manifest = (
  more: Partial<NonNullable<GateInput['manifest']>> = {},
): NonNullable<GateInput['manifest']> => ({
  seenCommit: 'c2',
  appliedCommit: 'c2',
  upToDate: true,
  applied: appliedCondition('True', 'Accepted as version 2'),
  removed: false,
  problem: null,
  ...more,
});
const calm: GateInput = {
  managedBy: 'git',
  isDraft: false,
  manifest: manifest(),
  deployed: { version: 2, commit: 'c2', at: AT },
  rollout: null,
  latestVersion: 2,
  nodes: [node(), node({ nodeName: 'node-2' })],
};
const behind = { version: 1 };
const silent = { health: 'UNREACHABLE' as const };

describe('the gate of a pipeline', () => {
  const rows: [reason: string, input: Partial<GateInput>, states: string, says?: RegExp | undefined][] = [
    ['every node runs the deployed version', {}, 'done done done done'],
    [
      'a commit was seen and not yet applied',
      { manifest: manifest({ upToDate: false }) },
      'done moving done done',
    ],
    [
      'a commit waits for somebody',
      { manifest: manifest({ upToDate: false, applied: appliedCondition('False', 'waits for "a"') }) },
      'done held done done',
      /waits for "a"/,
    ],
    [
      'what git has is held, and was applied before',
      {
        manifest: manifest({
          applied: { ...appliedCondition('False', 'Held by Ada: INC-42'), reason: 'Held' },
        }),
      },
      'done held done done',
      /Held by Ada/,
    ],
    [
      'the manifest is broken and an earlier version runs on',
      { manifest: manifest({ problem: 'no YAML', upToDate: false }) },
      'failed failed done done',
      /version 2 keeps running/,
    ],
    [
      'the manifest is broken and nothing was ever accepted',
      { manifest: manifest({ problem: 'no YAML' }), deployed: null, latestVersion: null, nodes: [] },
      'failed failed unknown unknown',
      /nothing runs/,
    ],
    [
      'its manifest is gone and it is kept',
      {
        manifest: manifest({ removed: true, applied: appliedCondition('False', 'history was rewritten') }),
      },
      'held held done done',
      /history was rewritten/,
    ],
    ['git does not own it', { managedBy: 'ui', manifest: null }, 'unknown done done done'],
    [
      'a version is saved and not deployed',
      { managedBy: 'ui', manifest: null, latestVersion: 3 },
      'unknown held done done',
      /Version 3 is saved but not deployed/,
    ],
    ['it is a draft', { isDraft: true, deployed: null, nodes: [] }, 'done done unknown unknown', /draft/],
    ['no node matches', { nodes: [] }, 'done done unknown unknown', /No node matches/],
    [
      'one node has yet to take it',
      { nodes: [node(), node(behind)] },
      'done done moving moving',
      /on 1 of 2 nodes/,
    ],
    [
      'one node has it and is still starting',
      { nodes: [node(), node({ status: 'STARTING' })] },
      'done done done moving',
      /Runs on 1 of 2/,
    ],
    [
      'a node has never told of it',
      { nodes: [node(), node({ status: 'PENDING', version: null, since: null })] },
      'done done moving moving',
    ],
    [
      'the only node that lacks it is not reachable',
      { nodes: [node(), node({ ...behind, ...silent, nodeName: 'edge-9' })] },
      'done done held held',
      /1 node not reachable \(edge-9\)/,
    ],
    [
      'a reachable node lacks it, whatever the silent ones have',
      { nodes: [node(silent), node(behind)] },
      'done done moving moving',
    ],
    [
      'all ran it when last seen, and one is silent now',
      { nodes: [node(), node(silent)] },
      'done done done held',
      /Last seen running/,
    ],
    [
      'it crashes on a node',
      {
        nodes: [node(), node({ nodeName: 'node-2', status: 'CRASHED', lastError: 'no such file\nmore' })],
      },
      'done done done failed',
      /Crashed on node-2: no such file$/,
    ],
    [
      'the version before crashes on a node that has yet to take the new one',
      { nodes: [node(), node({ ...behind, status: 'CRASHED' })] },
      'done done moving failed',
    ],
    [
      'an engine runs without a part of it',
      { nodes: [node(), node({ nodeName: 'node-2', degraded: 'Source "in": it is deaf' })] },
      'done done done held',
      /Degraded on node-2: Source "in": it is deaf$/,
    ],
    [
      'a node drains the version before',
      {
        nodes: [
          node(),
          node({
            ...behind,
            nodeName: 'node-2',
            status: 'STARTING',
            draining: { version: 1, secondsLeft: 12, undeliveredEvents: 5_000 },
          }),
        ],
      },
      'done done moving moving',
      /draining on node-2 \(5000 events left, at most 12 s\)/,
    ],
    ['it was stopped on a node', { nodes: [node(), node({ status: 'STOPPED' })] }, 'done done done moving'],
  ];
  for (const [reason, input, states, says] of rows) {
    it(`is "${states}" where ${reason}`, () => {
      const gate = pipelineGate({ ...calm, ...input });
      expect(gate.map((segment) => segment.state).join(' ')).to.equal(states);
      if (says)
        expect(gate.map((segment) => segment.reason).join('\n')).to.match(new RegExp(says.source, 'm'));
    });
  }

  it('names version and commit where they have arrived, and an earlier version without its commit', () => {
    const gate = pipelineGate({ ...calm, nodes: [node(behind), node(behind)] });
    expect(gate[1]).to.include({ version: 2, commit: 'c2' });
    expect(gate[2]).to.include({ version: 1, commit: null });
    expect(pipelineGate(calm)[3]).to.include({ version: 2, commit: 'c2' });
    expect(pipelineGate(calm)[3]?.at).to.deep.equal(AT);
  });

  const anyNode: fc.Arbitrary<GateNode> = fc.record({
    nodeName: fc.constantFrom('a', 'b'),
    status: fc.constantFrom('RUNNING', 'RUNNING', 'STARTING', 'STOPPED', 'CRASHED', 'PENDING'),
    version: fc.constantFrom(null, 1, 2, 2, 2, 3),
    desired: fc.constantFrom(null, 2, 2),
    canary: fc.constant(false),
    health: fc.constantFrom('HEALTHY', 'HEALTHY', 'DEGRADED', 'UNREACHABLE', 'UNKNOWN'),
    lastError: fc.constantFrom(null, 'broken'),
    degraded: fc.constantFrom(null, null, null, 'half deaf'),
    draining: fc.constantFrom(null, null, { version: 1, secondsLeft: 20, undeliveredEvents: 7 }),
    since: fc.constantFrom(null, AT),
    refused: fc.constant(null),
  });
  const anyInput: fc.Arbitrary<GateInput> = fc.record({
    managedBy: fc.constantFrom('ui', 'git'),
    isDraft: fc.constantFrom(false, false, true),
    manifest: fc.constantFrom(
      null,
      manifest(),
      manifest({ upToDate: false }),
      manifest({ problem: 'broken' }),
    ),
    deployed: fc.constantFrom(null, calm.deployed, calm.deployed),
    rollout: fc.constant(null),
    latestVersion: fc.constantFrom(null, 1, 2, 3),
    nodes: fc.array(anyNode, { maxLength: 4 }),
  });

  it('always has the four points in order, each with a sentence', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const gate = pipelineGate(input);
        expect(gate.map((segment) => segment.point)).to.deep.equal([...GATE_POINTS]);
        for (const segment of gate) expect(segment.reason).not.to.equal('');
      }),
    );
  });

  it('is calm at its end exactly when every node was heard from and runs the deployed version', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const [, , delivered, running] = pipelineGate(input);
        const all =
          !input.isDraft &&
          input.deployed !== null &&
          input.nodes.length > 0 &&
          input.nodes.every(
            (one) =>
              one.version === input.deployed?.version &&
              one.status === 'RUNNING' &&
              one.degraded === null &&
              (one.health === 'HEALTHY' || one.health === 'DEGRADED'),
          );
        expect(running?.state === 'done').to.equal(all);
        if (all) expect(delivered?.state).to.equal('done');
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('the gate of a node', () => {
  const bound = {
    headCommit: 'c2',
    headAt: AT.toISOString(),
    appliedCommit: 'c2',
    appliedAt: AT,
    lastError: null,
    importErrors: 0,
  };
  const rows: {
    reason: string;
    binding?: Partial<BindingRow> | null;
    pipelines?: GateNode[];
    desired?: (number | null)[];
    health?: GateNode['health'];
    states: string;
  }[] = [
    { reason: 'it runs all that it should', states: 'done done done done' },
    { reason: 'the environment is not bound to git', binding: null, states: 'unknown unknown done done' },
    {
      reason: 'nothing was read yet',
      binding: { headCommit: null, appliedCommit: null },
      states: 'unknown done done done',
    },
    {
      reason: 'a commit was read and not applied',
      binding: { headCommit: 'c3' },
      states: 'done moving done done',
    },
    { reason: 'a manifest is broken', binding: { importErrors: 2 }, states: 'done failed done done' },
    { reason: 'it should run nothing', pipelines: [], desired: [], states: 'done done unknown unknown' },
    { reason: 'all that it still has should go', desired: [null], states: 'done done unknown unknown' },
    { reason: 'it has an earlier version', desired: [3], states: 'done done moving moving' },
    { reason: 'one starts', pipelines: [node({ status: 'STARTING' })], states: 'done done done moving' },
    { reason: 'one crashes', pipelines: [node({ status: 'CRASHED' })], states: 'done done done failed' },
    { reason: 'it is silent', health: 'UNREACHABLE', states: 'done done held held' },
    {
      reason: 'a crash is what it should not have anyway',
      pipelines: [node(), node({ status: 'CRASHED' })],
      desired: [2, null],
      states: 'done done done done',
    },
  ];
  for (const { reason, binding, pipelines, desired, health, states } of rows) {
    it(`is "${states}" where ${reason}`, () => {
      const gate = nodeGate(binding === null ? null : { ...bound, ...binding }, {
        health: health ?? 'HEALTHY',
        pipelines: pipelines ?? [node()],
        desired: desired ?? [2],
      });
      expect(gate.map((segment) => segment.point)).to.deep.equal([...GATE_POINTS]);
      expect(gate.map((segment) => segment.state).join(' ')).to.equal(states);
    });
  }
});

describe('the conditions that only nodes can tell', () => {
  const of = (more: Partial<GateInput>) => {
    const input = { ...calm, ...more };
    return rolloutConditions(pipelineGate(input), input, 'web.yaml', 3).map(
      (one) => `${one.type} ${one.status} ${one.reason}`,
    );
  };
  const rows: [reason: string, input: Partial<GateInput>, expected: string[]][] = [
    ['all run', {}, ['RolledOut True AllNodes', 'Healthy True Running']],
    ['a draft', { isDraft: true }, []],
    ['never deployed', { deployed: null }, []],
    ['no node', { nodes: [] }, ['RolledOut True NoNodes', 'Healthy Unknown NoNodes']],
    [
      'on its way',
      { nodes: [node(), node(behind)] },
      ['RolledOut False InProgress', 'Healthy Unknown InProgress'],
    ],
    [
      'on every node that answers',
      { nodes: [node(), node({ ...behind, ...silent })] },
      ['RolledOut True NodesUnreachable', 'Healthy Unknown InProgress'],
    ],
    [
      'on its way to one that answers, while another is silent',
      { nodes: [node(behind), node({ ...behind, ...silent })] },
      ['RolledOut False InProgress', 'Healthy Unknown InProgress'],
    ],
    [
      'starting on one that answers, while another is silent',
      { nodes: [node({ status: 'STARTING' }), node({ ...behind, ...silent })] },
      ['RolledOut False InProgress', 'Healthy Unknown InProgress'],
    ],
    [
      'without any node that answers',
      { nodes: [node({ ...behind, ...silent })] },
      ['RolledOut True NodesUnreachable', 'Healthy Unknown InProgress'],
    ],
    [
      'running on all when last seen',
      { nodes: [node(), node(silent)] },
      ['RolledOut True AllNodes', 'Healthy Unknown InProgress'],
    ],
    [
      'crashed with the version before where nobody answers any more',
      { nodes: [node(), node({ ...behind, ...silent, status: 'CRASHED' })] },
      ['RolledOut True NodesUnreachable', 'Healthy Unknown InProgress'],
    ],
    [
      'crashed with this version on a node that does not answer any more',
      { nodes: [node(), node({ ...silent, status: 'CRASHED' })] },
      ['RolledOut True NodesUnreachable', 'Healthy False Crashed'],
    ],
    [
      'crashed',
      { nodes: [node(), node({ status: 'CRASHED' })] },
      ['RolledOut True AllNodes', 'Healthy False Crashed'],
    ],
    [
      'arrived and still starting',
      { nodes: [node({ status: 'STARTING' })] },
      ['RolledOut False InProgress', 'Healthy Unknown InProgress'],
    ],
  ];
  for (const [reason, input, expected] of rows)
    it(`are ${expected.join(', ') || 'none'} where it is ${reason}`, () =>
      expect(of(input)).to.deep.equal(expected));

  it('name file, line and the applied commit', () => {
    for (const one of rolloutConditions(pipelineGate(calm), calm, 'web.yaml', 3))
      expect(one).to.include({ file: 'web.yaml', line: 3, commit: 'c2' });
  });
});

describe('the gate of many pipelines', () => {
  const ends = {
    git: { state: 'done' as const, commit: 'c2', version: null, at: AT, reason: 'Read' },
    accepted: { state: 'done' as const, commit: 'c2', version: null, at: AT, reason: '2 manifests' },
  };
  const gateOf = (nodes: GateNode[], more: Partial<GateInput> = {}): Gate =>
    pipelineGate({ ...calm, ...more, nodes });
  const good = gateOf([node()]);
  const draft = gateOf([], { isDraft: true });

  const rows: [reason: string, gates: Gate[], states: string, says: RegExp][] = [
    ['there is none', [], 'unknown unknown', /Nothing is deployed/],
    ['all is well', [good, good], 'done done', /^2 pipelines$/m],
    ['drafts stand beside', [good, draft], 'done done', /^1 pipeline$/m],
    [
      'one crashes',
      [good, gateOf([node({ status: 'CRASHED' })])],
      'done failed',
      /1 of 2 pipelines: Crashed/,
    ],
    ['one is on its way', [good, gateOf([node(behind)])], 'moving moving', /1 of 2/],
    [
      'one waits for a silent node and one crashes',
      [gateOf([node(silent)]), gateOf([node({ status: 'CRASHED' })])],
      'done failed',
      /1 of 2/,
    ],
  ];
  for (const [reason, gates, states, says] of rows) {
    it(`tells the worst first: "${states}" where ${reason}`, () => {
      const sum = sumGates(gates, ends);
      expect(sum.map((segment) => segment.point)).to.deep.equal([...GATE_POINTS]);
      expect(
        sum
          .slice(2)
          .map((segment) => segment.state)
          .join(' '),
      ).to.equal(states);
      expect(
        sum
          .slice(2)
          .map((segment) => segment.reason)
          .join('\n'),
      ).to.match(says);
    });
  }

  it('names the accepted commit only where everything has it', () => {
    expect(sumGates([good], ends)[3]?.commit).to.equal('c2');
    expect(sumGates([good, gateOf([node(behind)])], ends)[3]?.commit).to.equal(null);
    const [git, accepted, delivered, running] = good;
    if (!git || !accepted || !delivered || !running) throw new Error('a strip has four segments');
    const takenBack: Gate = [git, accepted, { ...delivered, state: 'failed' }, running];
    expect(sumGates([good, takenBack], ends)[3]).to.include({ state: 'done', commit: null });
  });
});
