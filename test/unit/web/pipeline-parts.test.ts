/** Pure parts of the pages that change pipelines. */
import { expect } from 'chai';
import type { DependencyGraph } from '../../../schemas/api/pipelines/pipeline-order.ts';
import { behind, pipelinesOf, type Use } from '../../../web/src/features/library/shared-component-usage.ts';
import { around, connected } from '../../../web/src/features/pipeline/dependencies/dependency-graph.ts';
import { copyOfTemplate } from '../../../web/src/features/pipelines/template-copy.ts';
import { eventProblem } from '../../../web/src/features/playground/event-problem.ts';
import { labelsOf, rowsOf } from '../../../web/src/ui/form/label-rows.ts';

const graph = (ids: string, ...pairs: string[]): DependencyGraph => ({
  nodes: [...ids].map((id) => ({ id, name: id, isDraft: false, managedBy: 'ui', gate: [] })),
  edges: pairs.map((pair) => ({
    id: pair,
    source: 'ui',
    upstreamId: pair.charAt(0),
    downstreamId: pair.charAt(1),
  })),
});
const idsOf = ({ nodes }: DependencyGraph) => nodes.map(({ id }) => id).join('');

describe('what is drawn of the dependencies', () => {
  it('is all that hangs together with a pipeline, in either direction, even round in a circle', () => {
    const whole = graph('abcdef', 'ab', 'cb', 'ca', 'de');
    expect(idsOf(around(whole, 'b'))).to.equal('abc');
    expect(around(whole, 'b').edges).to.have.length(3);
    expect(idsOf(around(whole, 'f'))).to.equal('f');
    expect(idsOf(around(graph('ab', 'ab', 'ba'), 'a'))).to.equal('ab');
  });

  it('leaves out those that depend on nothing, when it is the whole environment', () => {
    expect(idsOf(connected(graph('abcf', 'ab', 'cb')))).to.equal('abc');
  });
});

describe('labels as they are typed', () => {
  it('lose rows without a key and blanks at the ends, and the later of two counts', () => {
    const rows = [
      [' role ', ' edge '],
      ['', 'x'],
      ['role', 'core'],
      ['zone', ''],
    ] as const;
    expect(labelsOf(rows)).to.deep.equal({ role: 'core', zone: '' });
  });

  it('are shown by key, and none where there are none', () => {
    expect(rowsOf({ b: '2', a: '1' })).to.deep.equal([
      ['a', '1'],
      ['b', '2'],
    ]);
    expect(rowsOf(null)).to.deep.equal([]);
  });
});

describe('uses of a shared component', () => {
  const use = (pipelineId: string, version: number): Use => ({
    pipelineId,
    pipelineName: pipelineId.toUpperCase(),
    nodeId: `${pipelineId}${version}`,
    componentKey: 'k',
    version,
  });

  it('are told by pipeline, each once', () => {
    const list = pipelinesOf([use('b', 1), use('a', 1), use('b', 2)]);
    expect(list.map(({ name, uses }) => [name, uses.length])).to.deep.equal([
      ['A', 1],
      ['B', 2],
    ]);
  });

  it('are behind until they have accepted the newest version', () => {
    expect(
      behind({ version: 2, usedBy: [use('a', 1), use('b', 2)] }).map((each) => each.pipelineId),
    ).to.deep.equal(['a']);
  });
});

describe('a pipeline that begins with a template', () => {
  it('gets components without ids, joined by their keys', () => {
    const node = (id: string, componentKey: string) => ({
      id,
      componentKey,
      componentType: 'x',
      kind: 'SOURCE' as const,
      config: {},
      positionX: 0,
      positionY: 0,
      disabled: false,
    });
    const copy = copyOfTemplate({
      nodes: [node('1', 'in'), node('2', 'out')],
      edges: [{ id: 'e', sourceNodeId: '1', targetNodeId: '2', sourcePort: 'dropped' }],
    });
    expect(copy.nodes.every((each) => !('id' in each))).to.equal(true);
    expect(copy.edges).to.deep.equal([{ sourceNodeId: 'in', targetNodeId: 'out', sourcePort: 'dropped' }]);
  });
});

describe('the event of the playground', () => {
  it('is one JSON object of at most 64 KiB', () => {
    expect(eventProblem('{ "a": 1 }')).to.equal(null);
    for (const text of ['', '  ', '[]', '"x"', 'null', '{', `{"a":"${'é'.repeat(33_000)}"}`]) {
      expect(eventProblem(text), text.slice(0, 10)).not.to.equal(null);
    }
  });

  it('tells where a mistake stands', () => {
    const problem = eventProblem('{\n  "a": 1,\n  b: 2\n}');
    expect(problem?.line).to.equal(3);
    expect(problem?.column).to.be.within(3, 4);
    expect(problem?.message).to.include('double quotes');
  });
});
