import { expect } from 'chai';
import fc from 'fast-check';
import {
  type GateInput,
  type GateNode,
  nodeGate,
  pipelineGate,
  rolloutConditions,
  sumGates,
} from '../../../controller/fleet/status/gate.ts';
import type { BindingRow } from '../../../controller/fleet/status/queries.ts';
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
  gone: false,
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
  const rows: { reason: string; input: Partial<GateInput>; states: string; says?: RegExp }[] = [
    { reason: 'every node runs the deployed version', input: {}, states: 'done done done done' },
    {
      reason: 'a commit was seen and not yet applied',
      input: { manifest: manifest({ upToDate: false }) },
      states: 'done moving done done',
    },
    {
      reason: 'a commit waits for somebody',
      input: { manifest: manifest({ upToDate: false, applied: appliedCondition('False', 'waits for "a"') }) },
      states: 'done held done done',
      says: /waits for "a"/,
    },
    {
      reason: 'what git has is held, and was applied before',
      input: {
        manifest: manifest({
          applied: { ...appliedCondition('False', 'Held by Ada: INC-42'), reason: 'Held' },
        }),
      },
      states: 'done held done done',
      says: /Held by Ada/,
    },
    {
      reason: 'the manifest is broken and an earlier version runs on',
      input: { manifest: manifest({ problem: 'no YAML', upToDate: false }) },
      states: 'failed failed done done',
      says: /version 2 runs on/,
    },
    {
      reason: 'the manifest is broken and nothing was ever accepted',
      input: { manifest: manifest({ problem: 'no YAML' }), deployed: null, latestVersion: null, nodes: [] },
      states: 'failed failed unknown unknown',
      says: /nothing runs/,
    },
    {
      reason: 'its manifest is gone and it is kept',
      input: {
        manifest: manifest({ gone: true, applied: appliedCondition('False', 'history was rewritten') }),
      },
      states: 'held held done done',
      says: /history was rewritten/,
    },
    {
      reason: 'git does not own it',
      input: { managedBy: 'ui', manifest: null },
      states: 'unknown done done done',
    },
    {
      reason: 'a version is saved and not deployed',
      input: { managedBy: 'ui', manifest: null, latestVersion: 3 },
      states: 'unknown held done done',
      says: /Version 3 is saved but not deployed/,
    },
    {
      reason: 'it is a draft',
      input: { isDraft: true, deployed: null, nodes: [] },
      states: 'done done unknown unknown',
      says: /draft/,
    },
    {
      reason: 'no node matches',
      input: { nodes: [] },
      states: 'done done unknown unknown',
      says: /No node matches/,
    },
    {
      reason: 'one node has yet to take it',
      input: { nodes: [node(), node(behind)] },
      states: 'done done moving moving',
      says: /on 1 of 2 nodes/,
    },
    {
      reason: 'one node has it and is still starting',
      input: { nodes: [node(), node({ status: 'STARTING' })] },
      states: 'done done done moving',
      says: /Runs on 1 of 2/,
    },
    {
      reason: 'a node has never told of it',
      input: { nodes: [node(), node({ status: 'PENDING', version: null, since: null })] },
      states: 'done done moving moving',
    },
    {
      reason: 'the only node that lacks it is not reachable',
      input: { nodes: [node(), node({ ...behind, ...silent, nodeName: 'edge-9' })] },
      states: 'done done held held',
      says: /1 node not reachable \(edge-9\)/,
    },
    {
      reason: 'a reachable node lacks it, whatever the silent ones have',
      input: { nodes: [node(silent), node(behind)] },
      states: 'done done moving moving',
    },
    {
      reason: 'all ran it when last seen, and one is silent now',
      input: { nodes: [node(), node(silent)] },
      states: 'done done done held',
      says: /Last seen running/,
    },
    {
      reason: 'it crashes on a node',
      input: {
        nodes: [node(), node({ nodeName: 'node-2', status: 'CRASHED', lastError: 'no such file\nmore' })],
      },
      states: 'done done done failed',
      says: /Crashed on node-2: no such file$/,
    },
    {
      reason: 'the version before crashes on a node that has yet to take the new one',
      input: { nodes: [node(), node({ ...behind, status: 'CRASHED' })] },
      states: 'done done moving failed',
    },
    {
      reason: 'an engine runs without a part of it',
      input: { nodes: [node(), node({ nodeName: 'node-2', degraded: 'Source "in": it is deaf' })] },
      states: 'done done done held',
      says: /Degraded on node-2: Source "in": it is deaf$/,
    },
    {
      reason: 'a node drains the version before',
      input: {
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
      states: 'done done moving moving',
      says: /draining on node-2 \(5000 events left, at most 12 s\)/,
    },
    {
      reason: 'it was stopped on a node',
      input: { nodes: [node(), node({ status: 'STOPPED' })] },
      states: 'done done done moving',
    },
  ];
  for (const { reason, input, states, says } of rows) {
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
  const rows: { reason: string; input: Partial<GateInput>; expected: string[] }[] = [
    { reason: 'all run', input: {}, expected: ['RolledOut True AllNodes', 'Healthy True Running'] },
    { reason: 'a draft', input: { isDraft: true }, expected: [] },
    { reason: 'never deployed', input: { deployed: null }, expected: [] },
    {
      reason: 'no node',
      input: { nodes: [] },
      expected: ['RolledOut True NoNodes', 'Healthy Unknown NoNodes'],
    },
    {
      reason: 'on its way',
      input: { nodes: [node(), node(behind)] },
      expected: ['RolledOut False InProgress', 'Healthy Unknown InProgress'],
    },
    {
      reason: 'on every node that answers',
      input: { nodes: [node(), node({ ...behind, ...silent })] },
      expected: ['RolledOut True NodesUnreachable', 'Healthy Unknown InProgress'],
    },
    {
      reason: 'on its way to one that answers, while another is silent',
      input: { nodes: [node(behind), node({ ...behind, ...silent })] },
      expected: ['RolledOut False InProgress', 'Healthy Unknown InProgress'],
    },
    {
      reason: 'starting on one that answers, while another is silent',
      input: { nodes: [node({ status: 'STARTING' }), node({ ...behind, ...silent })] },
      expected: ['RolledOut False InProgress', 'Healthy Unknown InProgress'],
    },
    {
      reason: 'without any node that answers',
      input: { nodes: [node({ ...behind, ...silent })] },
      expected: ['RolledOut True NodesUnreachable', 'Healthy Unknown InProgress'],
    },
    {
      reason: 'running on all when last seen',
      input: { nodes: [node(), node(silent)] },
      expected: ['RolledOut True AllNodes', 'Healthy Unknown InProgress'],
    },
    {
      reason: 'crashed with the version before where nobody answers any more',
      input: { nodes: [node(), node({ ...behind, ...silent, status: 'CRASHED' })] },
      expected: ['RolledOut True NodesUnreachable', 'Healthy Unknown InProgress'],
    },
    {
      reason: 'crashed with this version on a node that does not answer any more',
      input: { nodes: [node(), node({ ...silent, status: 'CRASHED' })] },
      expected: ['RolledOut True NodesUnreachable', 'Healthy False Crashed'],
    },
    {
      reason: 'crashed',
      input: { nodes: [node(), node({ status: 'CRASHED' })] },
      expected: ['RolledOut True AllNodes', 'Healthy False Crashed'],
    },
    {
      reason: 'arrived and still starting',
      input: { nodes: [node({ status: 'STARTING' })] },
      expected: ['RolledOut False InProgress', 'Healthy Unknown InProgress'],
    },
  ];
  for (const { reason, input, expected } of rows)
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

  const rows: { reason: string; gates: Gate[]; states: string; says: RegExp }[] = [
    { reason: 'there is none', gates: [], states: 'unknown unknown', says: /Nothing is deployed/ },
    { reason: 'all is well', gates: [good, good], states: 'done done', says: /^2 pipelines$/m },
    { reason: 'drafts stand beside', gates: [good, draft], states: 'done done', says: /^1 pipeline$/m },
    {
      reason: 'one crashes',
      gates: [good, gateOf([node({ status: 'CRASHED' })])],
      states: 'done failed',
      says: /1 of 2 pipelines: Crashed/,
    },
    {
      reason: 'one is on its way',
      gates: [good, gateOf([node(behind)])],
      states: 'moving moving',
      says: /1 of 2/,
    },
    {
      reason: 'one waits for a silent node and one crashes',
      gates: [gateOf([node(silent)]), gateOf([node({ status: 'CRASHED' })])],
      states: 'done failed',
      says: /1 of 2/,
    },
  ];
  for (const { reason, gates, states, says } of rows) {
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
