export { grantsOf, type MembershipChange } from './grants.ts';
export { membershipsForAudit, reconcileMemberships } from './reconcile.ts';
export {
  type GroupSettings,
  listGroupedPeople,
  readGroupSettings,
  readTeamMappings,
  replaceClaimedGroups,
  replaceTeamMappings,
  writeGroupSettings,
} from './store.ts';
