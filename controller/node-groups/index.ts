export { convergeNodeGroups, pruneNodeGroup } from './converge.ts';
export {
  effectiveLabels,
  type GroupRule,
  labelsOf,
  missingLabels,
  type NodeLabels,
} from './membership.ts';
export { listGroupRules, listGroups } from './store.ts';
