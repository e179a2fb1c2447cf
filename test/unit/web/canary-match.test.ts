import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import {
  canaryProblem,
  rolloutLines,
  splitNodes,
  splitText,
  suggestLabels,
  windowProblem,
} from '../../../web/src/features/pipeline/rollout/canary-match.ts';

const node = (name: string, labels: Record<string, string>) => ({ id: name, name, labels });
const NODES = [
  node('one', { role: 'edge', ring: 'canary', region: 'fra' }),
  node('two', { role: 'edge', ring: 'wide', region: 'fra' }),
  node('three', { role: 'edge', ring: 'wide', region: 'ams' }),
];
const problem = (selector: Record<string, string>, nodes = NODES) =>
  canaryProblem(splitNodes(nodes, selector), selector);

describe('a canary selector', () => {
  it('parts the nodes of a pipeline in two', () => {
    const { canary, rest } = splitNodes(NODES, { region: 'fra', ring: 'canary' });
    expect(canary.map(({ name }) => name)).to.deep.equal(['one']);
    expect(rest.map(({ name }) => name)).to.deep.equal(['two', 'three']);
  });

  it('says how many nodes try it first, a few of them by name, and how many go on as they are', () => {
    const text = (selector: Record<string, string>, nodes = NODES) => splitText(splitNodes(nodes, selector));
    expect(text({ ring: 'canary' })).to.equal(
      '1 node of 3 tries it first: one. 2 nodes go on as they are until then.',
    );
    expect(text({ region: 'fra' })).to.equal(
      '2 nodes of 3 try it first: one, two. 1 node goes on as it is until then.',
    );
    const many = Array.from({ length: 9 }, (_, index) => node(`n${index}`, { ring: 'canary' }));
    expect(text({ ring: 'canary' }, [...many, ...NODES.slice(1)])).to.match(
      /^9 nodes of 11 try it first: n0, n1, n2, n3, n4, n5 and 3 more\./,
    );
  });

  it('is refused where it would leave nothing to try or to compare with', () => {
    expect(problem({ ring: 'canary' })).to.equal('');
    expect(problem({})).to.match(/^Give the labels/);
    expect(problem({ ring: 'nowhere' })).to.match(/^No node/);
    expect(problem({ role: 'edge' })).to.match(/^Every node/);
    expect(problem({ ring: 'canary' }, NODES.slice(0, 1))).to.match(/two nodes at least/);
  });

  it('is suggested from labels that some carry and others do not, the rarest first', () => {
    const found = suggestLabels(NODES).map(({ key, value, count }) => `${key}=${value} ${count}`);
    expect(found).to.deep.equal(['region=ams 1', 'ring=canary 1', 'region=fra 2', 'ring=wide 2']);
  });

  it('is never suggested so that it would be refused', () => {
    const labels = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2'));
    fc.assert(
      fc.property(fc.array(labels, { minLength: 2, maxLength: 6 }), (all) => {
        const nodes = all.map((each, index) => node(String(index), each));
        for (const { key, value } of suggestLabels(nodes))
          expect(problem({ [key]: value }, nodes)).to.equal('');
      }),
    );
  });
});

describe('the window of a canary', () => {
  it('is a whole number of minutes, a week at most', () => {
    for (const good of ['1', '10', '10080']) expect(windowProblem(good)).to.equal('');
    for (const bad of ['', '0', '1.5', '-1', '10081', 'ten']) expect(windowProblem(bad)).to.not.equal('');
  });
});

describe('a canary as a manifest says it', () => {
  it('is what was chosen, whatever the labels hold', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ minLength: 1 }), fc.string(), { minKeys: 1, noNullPrototype: true }),
        fc.constantFrom('broaden' as const, 'hold' as const),
        fc.constantFrom('rollback' as const, 'hold' as const),
        (selector, onPass, onFail) => {
          const read = parse(rolloutLines({ selector, window: '15', onPass, onFail }).join('\n'));
          expect(read).to.deep.equal({
            rollout: {
              strategy: 'canary',
              canarySelector: selector,
              healthCheckWindowMinutes: 15,
              ...(onPass === 'hold' ? { onPass } : {}),
              ...(onFail === 'hold' ? { onFail } : {}),
            },
          });
        },
      ),
    );
  });

  it('has an example where nothing is chosen yet', () => {
    const lines = rolloutLines({ selector: {}, window: '', onPass: 'broaden', onFail: 'rollback' });
    expect(parse(lines.join('\n'))).to.deep.equal({
      rollout: { strategy: 'canary', canarySelector: { ring: 'canary' }, healthCheckWindowMinutes: 10 },
    });
  });
});
