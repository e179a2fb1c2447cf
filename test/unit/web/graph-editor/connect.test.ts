import { expect } from 'chai';
import {
  connectProblem,
  feedersFor,
  portsOf,
  takersFor,
} from '../../../../web/src/features/pipeline-editor/model/connect.ts';
import { component, drawing, edge, line } from './drawing.ts';

const routed = (edges: string[] = []) =>
  drawing(
    [
      component('> in demo_logs'),
      component('= split route', { config: { route: { errors: '.a', rest: '.b' } } }),
      component('= drop remap', { config: { reroute_dropped: true } }),
      component('= any lua'),
      component('< out console'),
    ],
    edges,
  );

describe('what may feed what', () => {
  const refusals: [reason: string, edge: string, says: RegExp][] = [
    ['an output of a sink', 'out>parse', /sink: nothing comes out/],
    ['an input of a source', 'parse>in', /source: it takes no input/],
    ['a component and itself', 'parse>parse', /cannot feed itself/],
    ['the same edge twice', 'in>parse', /feeds “parse” already/],
    ['a component that is gone', 'gone>parse', /no longer there/],
  ];
  for (const [reason, text, says] of refusals) {
    it(`refuses ${reason}`, () => expect(connectProblem(line(), edge(text))).to.match(says));
  }

  it('names every component of a circle that an edge would close', () => {
    const graph = drawing(
      [component('= a remap'), component('= b remap'), component('= c remap')],
      ['a>b', 'b>c'],
    );
    expect(connectProblem(graph, edge('c>a'))).to.include('c → a → b → c');
  });

  it('takes another edge between branches that meet again', () => {
    const graph = drawing(
      [component('> in stdin'), component('= a remap'), component('= b remap'), component('< out console')],
      ['in>a', 'in>b', 'a>out'],
    );
    expect(connectProblem(graph, edge('b>out'))).to.equal(null);
    expect(connectProblem(graph, edge('a>b'))).to.equal(null);
  });

  it('wants one of the named outputs where there is no other', () => {
    expect(connectProblem(routed(), edge('split>out'))).to.include('errors, rest, _unmatched');
    expect(connectProblem(routed(), edge('split.errors>out'))).to.equal(null);
    expect(connectProblem(routed(), edge('split.gone>out'))).to.include('no output “gone”');
  });

  it('takes two outputs of a component into one', () => {
    expect(connectProblem(routed(['split.errors>out']), edge('split.rest>out'))).to.equal(null);
  });

  it('takes any name of outputs that are not known here', () => {
    expect(connectProblem(routed(), edge('any.other>out'))).to.equal(null);
  });
});

describe('the ports of a component', () => {
  const names = (key: string, edges: string[] = []) => {
    const graph = routed(edges);
    const node = graph.nodes.find(({ id }) => id === key);
    return node
      ? portsOf(node, graph.edges).map(({ name, missing }) => `${name ?? 'plain'}${missing ? '!' : ''}`)
      : [];
  };
  const rows: [reason: string, key: string, edges: string[], ports: string[]][] = [
    ['one without a name', 'in', [], ['plain']],
    ['none of a sink', 'out', [], []],
    ['the routes and what matches none', 'split', [], ['errors', 'rest', '_unmatched']],
    ['what a program drops', 'drop', [], ['plain', 'dropped']],
    [
      'one that is connected and not there',
      'split',
      ['split.gone>out'],
      ['errors', 'rest', '_unmatched', 'gone!'],
    ],
    [
      'the plain one that is connected and not there',
      'split',
      ['split>out'],
      ['errors', 'rest', '_unmatched', 'plain!'],
    ],
    ['a connected one of outputs that are not known', 'any', ['any.x>out'], ['plain', 'x']],
  ];
  for (const [reason, key, edges, ports] of rows) {
    it(`are ${reason}`, () => expect(names(key, edges)).to.deep.equal(ports));
  }
});

describe('what is offered to be connected', () => {
  const words = (choices: { word: string }[]) => choices.map(({ word }) => word);

  it('is every output that may feed the component', () => {
    const graph = routed(['in>split']);
    const out = graph.nodes.at(-1);
    expect(words(out ? feedersFor(graph, out) : [])).to.deep.equal([
      'in',
      'split.errors',
      'split.rest',
      'split._unmatched',
      'drop',
      'drop.dropped',
      'any',
    ]);
  });

  it('is no output that the component feeds itself, which would close a circle', () => {
    const graph = drawing([component('= a remap'), component('= b remap')], ['a>b']);
    const [a, b] = graph.nodes;
    expect(words(a ? feedersFor(graph, a) : [])).to.deep.equal([]);
    expect(words(b ? takersFor(graph, b, undefined) : [])).to.deep.equal([]);
  });

  it('is every component that the output may feed, and none before it', () => {
    const graph = routed(['in>split', 'split.errors>drop']);
    const drop = graph.nodes[2];
    expect(words(drop ? takersFor(graph, drop, undefined) : [])).to.deep.equal(['any', 'out']);
  });

  it('is nothing for a source', () => {
    const graph = line();
    const source = graph.nodes[0];
    expect(source ? feedersFor(graph, source) : null).to.deep.equal([]);
  });
});
