import { expect } from 'chai';
import fc from 'fast-check';
import {
  assertGroupDepth,
  assertMovable,
  depthOf,
  freeName,
  type GroupNode,
  treeOf,
} from '../../../controller/pipelines/order/group-tree.ts';
import { MAX_GROUP_LEVELS } from '../../../schemas/api/pipelines/pipeline-order.ts';

const group = (id: string, parentId: string | null = null): GroupNode => ({ id, name: id, parentId });
const allows = (act: () => void): boolean => {
  try {
    act();
    return true;
  } catch {
    return false;
  }
};

describe('the tree of groups', () => {
  it('is not deeper than it may be after any moves that are allowed, and without circles', () => {
    const move = fc.tuple(fc.nat(11), fc.option(fc.nat(11), { nil: null }));
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        const groups = Array.from({ length: 12 }, (_, n) => group(`g${n}`));
        for (const [which, to] of moves) {
          const [id, parentId] = [`g${which}`, to === null ? null : `g${to}`];
          if (allows(() => assertMovable(treeOf(groups), id, parentId))) groups[which] = group(id, parentId);
        }
        const tree = treeOf(groups);
        for (const { id } of groups) expect(depthOf(tree, id)).to.be.within(1, MAX_GROUP_LEVELS);
      }),
    );
  });

  it('allows what is just deep enough', () => {
    const tree = treeOf([group('a'), group('b', 'a'), group('c', 'b'), group('d'), group('e', 'd')]);
    expect(allows(() => assertGroupDepth(tree, 'b'))).to.equal(true);
    expect(allows(() => assertGroupDepth(tree, 'c'))).to.equal(false);
    expect(allows(() => assertMovable(tree, 'd', 'a'))).to.equal(true);
    expect(allows(() => assertMovable(tree, 'd', 'b'))).to.equal(false);
    expect(allows(() => assertMovable(tree, 'e', 'b'))).to.equal(true);
  });

  it('comes to an end where somebody has written a circle into the table', () => {
    const tree = treeOf([group('a', 'b'), group('b', 'a'), group('c')]);
    expect(depthOf(tree, 'a')).to.be.greaterThan(MAX_GROUP_LEVELS);
    expect(allows(() => assertMovable(tree, 'c', 'a'))).to.equal(false);
    expect(allows(() => assertMovable(tree, 'a', null))).to.equal(true);
  });
});

describe('a free name', () => {
  it('is the very name where nobody has it', () => {
    expect(freeName('Edge', new Set(['core']))).to.equal('Edge');
  });

  it('has the first number that is free, whatever the case', () => {
    expect(freeName('Edge', new Set(['edge', 'edge 2', 'edge 4']))).to.equal('Edge 3');
  });

  it('is not longer than a name may be, and cuts no character in two', () => {
    const long = `${'x'.repeat(97)}🦆 `.slice(0, 100).trimEnd();
    const free = freeName(long, new Set([long.toLowerCase()]));
    expect(free.length).to.be.at.most(100);
    expect(free.isWellFormed()).to.equal(true);
    expect(free).to.match(/ 2$/);
  });
});
