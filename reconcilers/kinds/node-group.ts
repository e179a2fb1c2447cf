import { convergeNodeGroups, pruneNodeGroup } from '../../controller/fleet/groups/index.ts';
import type { DesiredManifest } from '../source/index.ts';
import { flatKind } from './flat.ts';

export const nodeGroupKind = flatKind({
  kind: 'NodeGroup',
  table: 'node_groups',
  order: 10,
  describe(manifest) {
    const criteria = Object.entries((manifest as DesiredManifest<'NodeGroup'>).spec.criteria);
    return criteria.length === 0
      ? 'node group of every node'
      : `node group of ${criteria.map(([key, value]) => `${key}=${value}`).join(', ')}`;
  },
  converge: convergeNodeGroups,
  prune: pruneNodeGroup,
});
