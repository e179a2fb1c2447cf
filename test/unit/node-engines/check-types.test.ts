/** What is said of a pipeline whose component types nodes lack. */
import { expect } from 'chai';
import { checkTypes, type NodeEngine, type UsedType } from '../../../controller/fleet/engines/index.ts';

const OLD = ['SOURCE kafka', 'TRANSFORM remap', 'SINK logdna', 'SINK http'];
const NEW = ['SOURCE kafka', 'TRANSFORM remap', 'TRANSFORM window', 'SINK mezmo', 'SINK http'];

const node = (name: string, types: readonly string[] | null, more: Partial<NodeEngine> = {}): NodeEngine => ({
  name,
  labels: {},
  version: types === OLD ? '0.40.0' : '0.57.0',
  types: types && new Set(types),
  ...more,
});
const many = (count: number, types: readonly string[] | null, first = 0) =>
  Array.from({ length: count }, (_, index) => node(`edge-${first + index}`, types));
const WINDOW: UsedType = { kind: 'TRANSFORM', type: 'window', componentKey: 'w' };
const check = (
  used: UsedType,
  nodes: readonly NodeEngine[],
  known = true,
  selector: Record<string, string> | null = null,
) => checkTypes([used], selector, nodes, async () => known);

describe('component types on nodes', () => {
  it('are warned of where some nodes lack one, with count, versions and names', async () => {
    const { rejected, warnings } = await check(WINDOW, [...many(28, NEW), ...many(2, OLD, 28)]);
    expect(rejected).to.deep.equal([]);
    expect(warnings.map(({ message, hint }) => `${message}; ${hint}`)).to.deep.equal([
      '2 of 30 nodes lack the transform type "window" of "w" (0.40.0; edge-28, edge-29). The pipeline cannot start there; update Vector on these nodes, or give the pipeline a nodeSelector that leaves them out',
    ]);
  });

  it('are refused where every node lacks one', async () => {
    const { rejected, warnings } = await check(WINDOW, many(30, OLD));
    expect(warnings).to.deep.equal([]);
    expect(rejected[0]?.message).to.equal(
      '30 of 30 nodes lack the transform type "window" of "w" (0.40.0; edge-0, edge-1, edge-2, edge-3, edge-4, 25 more)',
    );
  });

  it('are looked for on the nodes that the selector matches, and on no others', async () => {
    const nodes = [node('a', OLD, { labels: { zone: 'a' } }), node('b', NEW, { labels: { zone: 'b' } })];
    expect((await check(WINDOW, nodes, true, { zone: 'b' })).warnings).to.deep.equal([]);
    expect((await check(WINDOW, nodes, true, { zone: 'b' })).rejected).to.deep.equal([]);
    expect((await check(WINDOW, nodes, true, { zone: 'a' })).rejected[0]?.message).to.equal(
      '1 of 1 node lacks the transform type "window" of "w" (0.40.0; a)',
    );
  });

  it('are not refused where a node has not reported its types', async () => {
    const { rejected, warnings } = await check(WINDOW, [...many(2, OLD), node('new', null)]);
    expect(rejected).to.deep.equal([]);
    expect(warnings[0]?.message).to.match(/^2 of 3 nodes lack .*; 1 more has not reported its types\./);
  });

  it('are left to the nodes where none has reported', async () => {
    const report = await check({ ...WINDOW, type: 'wndow' }, many(3, null), false);
    expect(report).to.deep.equal({ rejected: [], warnings: [], confirmed: new Set() });
  });

  it('are confirmed where all nodes have one', async () => {
    expect((await check(WINDOW, many(3, NEW))).confirmed).to.deep.equal(new Set(['w']));
  });

  it('are refused where no engine is known to have one, though no node is meant', async () => {
    const nodes = many(1, NEW);
    const misspelt = { ...WINDOW, type: 'wndow' };
    const report = await check(misspelt, nodes, false, { zone: 'nowhere' });
    expect(report.rejected[0]).to.deep.include({
      message: 'no known engine has the transform type "wndow" of "w"',
      hint: 'did you mean "window"?',
    });
    expect((await check(misspelt, nodes, true, { zone: 'nowhere' })).rejected).to.deep.equal([]);
  });

  it('say how a type is called that was renamed, in either direction', async () => {
    const sink = (type: string): UsedType => ({ kind: 'SINK', type, componentKey: 'out' });
    expect((await check(sink('logdna'), many(1, NEW))).rejected[0]?.hint).to.equal(
      'it is called "mezmo" in newer engines',
    );
    expect((await check(sink('mezmo'), many(1, OLD))).rejected[0]?.hint).to.equal(
      'it is called "logdna" in the engine of these nodes',
    );
  });
});
