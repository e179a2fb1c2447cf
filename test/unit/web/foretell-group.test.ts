import { expect } from 'chai';
import type { NodeSummary } from '../../../schemas/api/fleet/fleet.ts';
import type { PipelineSummary } from '../../../schemas/api/pipelines/pipelines.ts';
import { type GroupRule, labelsOf } from '../../../schemas/node-groups/membership.ts';
import { foretellGroup } from '../../../web/src/features/fleet/groups/group-preview.ts';

type Labels = Record<string, string>;

const rule = (name: string, criteria: Labels, labelTemplate: Labels = {}): GroupRule => ({
  ...{ id: name, name, criteria, labelTemplate, requiredLabels: [] },
});

/** As the controller lists it, of which only this is read. */
function node(name: string, agent: Labels, ui: Labels, groups: GroupRule[], more: Partial<NodeSummary> = {}) {
  const { effective } = labelsOf(agent, ui, groups);
  return {
    ...{ name, labels: effective, ownLabels: { ...agent, ...ui }, maintenance: false, revoked: false },
    ...more,
  } as NodeSummary;
}

const pipeline = (name: string, nodeSelector: Labels | null, isDraft = false) =>
  ({ name, nodeSelector, isDraft, deployedVersionNumber: isDraft ? null : 1 }) as PipelineSummary;

const PIPELINES = [
  pipeline('everywhere', null),
  pipeline('outer', { tier: 'outer' }),
  pipeline('inner', { tier: 'inner' }),
  pipeline('a-draft', { tier: 'outer' }, true),
];
const on = (name: string, nodes: number) => ({ pipeline: name, nodes });

describe('what a change of a group foretells', () => {
  const EDGES = rule('edges', { role: 'edge' }, { tier: 'outer' });
  const foretell = (
    before: GroupRule | null,
    after: GroupRule | null,
    nodes: (groups: GroupRule[]) => NodeSummary[],
    others: GroupRule[] = [],
  ) => {
    const groups = [...others, ...(before ? [before] : [])].sort((a, b) => (a.name < b.name ? -1 : 1));
    return foretellGroup(before, after, { nodes: nodes(groups), groups, pipelines: PIPELINES });
  };
  const three = (groups: GroupRule[]) => [
    node('edge-10', { role: 'edge' }, {}, groups),
    node('edge-2', { role: 'edge' }, {}, groups),
    node('hub', { role: 'hub' }, {}, groups),
  ];

  it('tells of a new one who joins and what starts there, and of nobody else', () => {
    expect(foretell(null, EDGES, three)).to.deep.equal({
      ...{ joins: ['edge-2', 'edge-10'], leaves: [], starts: [on('outer', 2)], stops: [], unsure: 0 },
    });
  });

  it('tells of other criteria who comes and goes', () => {
    expect(foretell(EDGES, { ...EDGES, criteria: { role: 'hub' } }, three)).to.deep.equal({
      joins: ['hub'],
      leaves: ['edge-2', 'edge-10'],
      starts: [on('outer', 1)],
      stops: [on('outer', 2)],
      unsure: 0,
    });
  });

  it('tells of other labels what stops and starts on the same nodes', () => {
    const { joins, leaves, starts, stops } = foretell(
      EDGES,
      { ...EDGES, labelTemplate: { tier: 'inner' } },
      three,
    );
    expect({ joins, leaves, starts, stops }).to.deep.equal({
      ...{ joins: [], leaves: [], starts: [on('inner', 2)], stops: [on('outer', 2)] },
    });
  });

  it('tells of a deletion what stops, unless another group gives the label', () => {
    expect(foretell(EDGES, null, three).stops).to.deep.equal([on('outer', 2)]);
    const same = rule('zone', {}, { tier: 'outer' });
    expect(foretell(EDGES, null, three, [same]).stops).to.deep.equal([]);
  });

  it('lets the group that comes first by name count, also after it was given another one', () => {
    const zone = rule('zone', {}, { tier: 'inner' });
    expect(foretell(null, EDGES, three, [zone])).to.deep.include({
      ...{ starts: [on('outer', 2)], stops: [on('inner', 2)] },
    });
    expect(foretell(EDGES, { ...EDGES, name: 'Zz' }, three, [zone])).to.deep.include({
      ...{ starts: [on('inner', 2)], stops: [on('outer', 2)] },
    });
  });

  it('says where it cannot know whether a label of the node’s own gives way', () => {
    const own = (groups: GroupRule[]) => [node('edge', { role: 'edge', tier: 'inner' }, {}, groups)];
    expect(foretell(null, EDGES, own)).to.deep.include({ starts: [], stops: [], unsure: 1 });
    expect(foretell(null, rule('edges', { role: 'edge' }, { tier: 'inner' }), own).unsure).to.equal(0);
  });

  it('knows it where a group shows it now', () => {
    const toInner = { ...EDGES, labelTemplate: { tier: 'inner' } };
    const byAgent = (groups: GroupRule[]) => [node('edge', { role: 'edge', tier: 'none' }, {}, groups)];
    expect(foretell(EDGES, toInner, byAgent)).to.deep.include({ starts: [on('inner', 1)], unsure: 0 });
    const byHand = (groups: GroupRule[]) => [node('edge', { role: 'edge' }, { tier: 'none' }, groups)];
    expect(foretell(EDGES, toInner, byHand)).to.deep.include({ starts: [], stops: [], unsure: 0 });
  });

  it('starts nothing on a node in maintenance, or that was revoked', () => {
    for (const more of [{ maintenance: true }, { revoked: true }]) {
      const { joins, starts } = foretell(null, EDGES, (groups) => [
        node('edge', { role: 'edge' }, {}, groups, more),
      ]);
      expect({ joins, starts }).to.deep.equal({ joins: ['edge'], starts: [] });
    }
  });
});
