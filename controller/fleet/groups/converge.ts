/** Operations by which git changes node groups. Their label templates can change what nodes are served. */
import type { NodeGroupSpec } from '../../../schemas/manifests/node-group.ts';
import { convergeOperation, pruneOperation } from '../../delivery/ownership/index.ts';
import { publishGroupChange } from './publish-change.ts';
import { GROUP_COLUMNS, groupColumns } from './store.ts';

const GROUPS = { entityType: 'NodeGroup', table: 'node_groups' } as const;

export const convergeNodeGroups = convergeOperation<NodeGroupSpec>({
  ...GROUPS,
  name: 'nodeGroup.converge',
  noun: 'nodeGroup',
  types: GROUP_COLUMNS,
  columns: (_ctx, _environmentId, specs) => specs.map(groupColumns),
  changed: publishGroupChange,
});

export const pruneNodeGroup = pruneOperation({
  ...GROUPS,
  name: 'nodeGroup.prune',
  audit: 'nodeGroup.pruned',
  changed: publishGroupChange,
});
