import { expect } from 'chai';
import type { PipelineGroup } from '../../../schemas/api/pipelines/pipeline-order.ts';
import {
  groupPaths,
  levelsOf,
  subtreeIds,
  treeOf,
} from '../../../web/src/features/pipelines/groups/group-tree.ts';

const at = new Date(0);
const group = (id: string, parentId: string | null, pipelineCount = 0): PipelineGroup => ({
  id,
  environmentId: 'env',
  name: id.toUpperCase(),
  color: null,
  parentId,
  depth: 1,
  pipelineCount,
  createdAt: at,
  updatedAt: at,
});
const GROUPS = [
  group('b', null, 1),
  group('a', null),
  group('a2', 'a', 2),
  group('a1', 'a', 3),
  group('x', 'a1', 4),
];

describe('groups of pipelines', () => {
  it('become a tree by name, in which each counts what is below it too', () => {
    const [a, b] = treeOf(GROUPS);
    expect(a?.group.id).to.equal('a');
    expect(a?.children.map((branch) => [branch.group.id, branch.total])).to.deep.equal([
      ['a1', 7],
      ['a2', 2],
    ]);
    expect([a?.total, b?.total]).to.deep.equal([9, 1]);
  });

  it('stand at the root where their parent is not in the list', () => {
    expect(treeOf([group('lost', 'gone')]).map((branch) => branch.group.id)).to.deep.equal(['lost']);
  });

  it('are narrowed to with all that is in them', () => {
    expect([...subtreeIds(GROUPS, 'a')].sort()).to.deep.equal(['a', 'a1', 'a2', 'x']);
    expect([...subtreeIds(GROUPS, 'b')]).to.deep.equal(['b']);
  });

  it('are offered by their whole way, with their depth', () => {
    expect(groupPaths(GROUPS).map(({ path, depth }) => [path, depth])).to.deep.equal([
      ['A', 1],
      ['A / A1', 2],
      ['A / A1 / X', 3],
      ['A / A2', 2],
      ['B', 1],
    ]);
  });

  it('take as many levels as lie below them', () => {
    expect(['a', 'a1', 'b'].map((id) => levelsOf(GROUPS, id))).to.deep.equal([3, 2, 1]);
  });
});
