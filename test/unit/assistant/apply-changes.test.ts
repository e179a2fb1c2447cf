/** What proposed changes make of a graph. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  applyChanges,
  mergePatch,
  summarizeChange,
} from '../../../controller/pipelines/assistant/suggestions/apply-changes.ts';
import { MASK } from '../../../controller/pipelines/definition/mask.ts';
import { normaliseGraph } from '../../../controller/pipelines/index.ts';
import type { SuggestedChange } from '../../../schemas/api/pipelines/conversations.ts';
import { component, edge, soundGraph } from '../../support/fixtures/graphs.ts';

const graph = () => {
  const { nodes, edges } = soundGraph();
  return normaliseGraph(
    [
      ...nodes,
      component('split', 'route', 'TRANSFORM', { route: { big: '.n > 5' } }),
      component('store', 'http', 'SINK', {
        uri: 'https://example.com',
        auth: { user: 'u', password: 'plain' },
      }),
      component('shared', 'blackhole', 'SINK', {}, { sharedComponentId: 's', sharedComponentVersion: 1 }),
    ],
    [...edges, edge('mark', 'split'), edge('split', 'store', 'big')],
  );
};
const drawing = ({ nodes, edges }: ReturnType<typeof applyChanges>) => {
  const keyOf = new Map(nodes.map(({ id, componentKey }) => [id, componentKey]));
  return edges
    .map(
      ({ sourceNodeId, sourcePort, targetNodeId }) =>
        `${keyOf.get(sourceNodeId)}${sourcePort ? `.${sourcePort}` : ''}>${keyOf.get(targetNodeId)}`,
    )
    .sort();
};
const configOf = (changes: SuggestedChange[], key: string) =>
  applyChanges(graph(), changes).nodes.find(({ componentKey }) => componentKey === key)?.config;

describe('proposed changes', () => {
  it('add, connect, rename and remove components', () => {
    const changed = applyChanges(graph(), [
      {
        ...{ type: 'addComponent', componentKey: 'quiet', kind: 'TRANSFORM', componentType: 'filter' },
        ...{ config: { condition: 'true' }, inputs: ['split.big'] },
      },
      { type: 'connect', from: 'quiet', to: 'out' },
      { type: 'disconnect', from: 'mark', to: 'out' },
      { type: 'renameComponent', componentKey: 'split', newKey: 'by_size' },
      { type: 'removeComponent', componentKey: 'store' },
    ]);
    expect(drawing(changed)).to.deep.equal(['by_size.big>quiet', 'lines>mark', 'mark>by_size', 'quiet>out']);
  });

  it('merge options, and keep what a model sees masked', () => {
    const patch = {
      uri: 'https://other.example.com',
      auth: { user: null, password: MASK },
      batch: { max: 1 },
    };
    expect(configOf([{ type: 'setConfig', componentKey: 'store', config: patch }], 'store')).to.deep.equal({
      ...{ uri: 'https://other.example.com', auth: { password: 'plain' }, batch: { max: 1 } },
    });
  });

  it('set the program of each type that has one', () => {
    expect(configOf([{ type: 'setVrl', componentKey: 'mark', program: '.a = 1' }], 'mark')).to.deep.equal({
      source: '.a = 1',
    });
    expect(
      configOf([{ type: 'setVrl', componentKey: 'split', program: '.n > 9', output: 'huge' }], 'split'),
    ).to.deep.equal({ route: { big: '.n > 5', huge: '.n > 9' } });
  });

  for (const [reason, change, message] of [
    ['an unknown component', { type: 'removeComponent', componentKey: 'nobody' }, /no component "nobody"/],
    [
      'a key that is taken',
      { type: 'renameComponent', componentKey: 'mark', newKey: 'out' },
      /"out" already/,
    ],
    ['an edge into a source', { type: 'connect', from: 'mark', to: 'lines' }, /takes no input/],
    ['an edge that is not there', { type: 'disconnect', from: 'lines', to: 'out' }, /does not feed/],
    [
      'type as an option',
      { type: 'setConfig', componentKey: 'mark', config: { type: 'x' } },
      /contains "type"/,
    ],
    [
      'a mask without a value',
      { type: 'setConfig', componentKey: 'mark', config: { key: MASK } },
      /masked value/,
    ],
    [
      'a mask inside of a text',
      { type: 'setConfig', componentKey: 'store', config: { auth: { password: `x${MASK}` } } },
      /masked value/,
    ],
    [
      'a blanked secret in a program',
      { type: 'setVrl', componentKey: 'mark', program: '.p = "[secret]"' },
      /masked value/,
    ],
    [
      'a program where there is none',
      { type: 'setVrl', componentKey: 'out', program: '.a' },
      /no VRL program/,
    ],
    [
      'a route without its output',
      { type: 'setVrl', componentKey: 'split', program: '.a' },
      /name the output/,
    ],
    [
      'a linked component',
      { type: 'setConfig', componentKey: 'shared', config: { a: 1 } },
      /linked to a shared component/,
    ],
  ] as [string, SuggestedChange, RegExp][])
    it(`refuse ${reason}`, () => {
      expect(() => applyChanges(graph(), [change])).to.throw(message);
    });

  it('are summarized by what they do', () => {
    expect(
      summarizeChange({ type: 'setConfig', componentKey: 'store', config: { uri: 'x', batch: null } }),
    ).to.equal('In "store": set uri, remove batch');
  });

  it('merge as RFC 7396 says: a patch holds afterwards, and merging it again changes nothing', () => {
    const json = fc.dictionary(
      fc.constantFrom('a', 'b', 'c'),
      fc.oneof(
        fc.integer(),
        fc.constant(null),
        fc.dictionary(fc.constantFrom('x', 'y'), fc.oneof(fc.string(), fc.constant(null))),
      ),
    );
    fc.assert(
      fc.property(json, json, (before, patch) => {
        const merged = mergePatch(before, patch);
        expect(mergePatch(merged, patch)).to.deep.equal(merged);
        for (const [key, value] of Object.entries(patch))
          if (value === null) expect(merged).to.not.have.property(key);
          else if (typeof value !== 'object') expect(merged[key]).to.equal(value);
      }),
    );
  });
});
