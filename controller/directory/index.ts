export { grantsOf, type MembershipChange } from './grants.ts';
export { membershipEntries } from './membership-audit.ts';
export * as directoryOperations from './operations.ts';
export { countsOf, membershipsForAudit, reconcileMemberships } from './reconcile.ts';
export {
  clearClaimedGroups,
  type GroupSettings,
  listGroupedPeople,
  lockPeople,
  readGroupSettings,
  readTeamMappings,
  replaceClaimedGroups,
  replaceTeamMappings,
  writeGroupSettings,
} from './store.ts';
export { holdRules } from './teams-store.ts';
