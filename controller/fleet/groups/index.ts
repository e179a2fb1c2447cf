export {
  effectiveLabels,
  type GroupRule,
  groupsOf,
  labelsOf,
  missingLabels,
  type NodeLabels,
} from '../../../schemas/node-groups/membership.ts';
export { convergeNodeGroups, pruneNodeGroup } from './converge.ts';
export { publishGroupChange } from './publish-change.ts';
export {
  countGroups,
  deleteGroup,
  findGroup,
  type GroupDefinition,
  insertGroup,
  listGroupRules,
  listGroups,
  type StoredGroup,
  updateGroup,
} from './store.ts';
