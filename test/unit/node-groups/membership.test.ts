import { expect } from 'chai';
import fc from 'fast-check';
import {
  effectiveLabels,
  type GroupRule,
  labelsOf,
  missingLabels,
} from '../../../schemas/node-groups/membership.ts';

const group = (name: string, more: Partial<GroupRule> = {}): GroupRule => ({
  id: name,
  name,
  criteria: {},
  labelTemplate: {},
  requiredLabels: [],
  ...more,
});

describe('the labels of a node', () => {
  it('are those of the agent, under those set in the UI', () => {
    expect(effectiveLabels({ role: 'edge', ring: '1' }, { ring: '0', owner: 'ada' }, [])).to.deep.equal({
      role: 'edge',
      ring: '0',
      owner: 'ada',
    });
  });

  it('take a template over what the agent says, and the UI over both', () => {
    const edge = group('edge', { criteria: { role: 'edge' }, labelTemplate: { ring: '1', owner: 'ops' } });
    const { effective, sources, groups } = labelsOf({ role: 'edge', ring: '0' }, { owner: 'ada' }, [edge]);
    expect(effective).to.deep.equal({ role: 'edge', ring: '1', owner: 'ada' });
    expect(sources).to.deep.equal({ role: 'agent', ring: 'group', owner: 'ui' });
    expect(groups).to.deep.equal([edge]);
  });

  it('take nothing from a group whose criteria only another group would fulfil', () => {
    const first = group('a', { criteria: { role: 'edge' }, labelTemplate: { ring: '1' } });
    const second = group('b', { criteria: { ring: '1' }, labelTemplate: { zone: 'x' } });
    expect(labelsOf({ role: 'edge' }, {}, [first, second]).effective).to.deep.equal({
      role: 'edge',
      ring: '1',
    });
  });

  it('take the first group by name where two give one label', () => {
    const groups = [
      group('a', { labelTemplate: { ring: 'first' } }),
      group('b', { labelTemplate: { ring: 'second', zone: 'x' } }),
    ];
    expect(labelsOf({}, {}, groups).effective).to.deep.equal({ ring: 'first', zone: 'x' });
  });

  it('belong to a group without criteria, whatever they are', () => {
    expect(labelsOf({}, {}, [group('all')]).groups).to.have.length(1);
  });

  it('count as missing only where nothing gives them', () => {
    const strict = group('strict', { requiredLabels: ['owner', 'ring'], labelTemplate: { ring: '1' } });
    expect(missingLabels(strict, labelsOf({}, {}, [strict]).effective)).to.deep.equal(['owner']);
  });

  it('are the same by the short way and by the long one, and membership does not depend on the order of groups', () => {
    const labels = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2'), { maxKeys: 3 });
    const groups = fc.uniqueArray(
      fc.record({ name: fc.constantFrom('g', 'h', 'i', 'j'), criteria: labels, labelTemplate: labels }),
      { selector: ({ name }) => name, maxLength: 4 },
    );
    fc.assert(
      fc.property(labels, labels, groups, (agent, ui, drawn) => {
        const rules = drawn.map(({ name, ...rest }) => group(name, rest));
        const long = labelsOf(agent, ui, rules);
        expect(effectiveLabels(agent, ui, rules)).to.deep.equal(long.effective);
        const turned = labelsOf(agent, ui, [...rules].reverse()).groups.map(({ name }) => name);
        expect(turned.sort()).to.deep.equal(long.groups.map(({ name }) => name).sort());
        for (const [key, value] of Object.entries(ui)) expect(long.effective[key]).to.equal(value);
      }),
    );
  });
});
