export { grantsOf, type MembershipChange } from './grants.ts';
export { readAmbiguities } from './mapping-rules.ts';
export { membershipEntries } from './membership-audit.ts';
export * as directoryOperations from './operations.ts';
export { countsOf, membershipsForAudit, reconcileMemberships } from './reconcile-memberships.ts';
export {
  clearClaimedGroups,
  type GroupSettings,
  listGroupMembers,
  lockDirectoryUsers,
  readGroupSettings,
  readRules,
  readTeamMappings,
  readTeamPatterns,
  replaceClaimedGroups,
  replaceTeamMappings,
  writeGroupSettings,
} from './store.ts';
export { lockRulesShared } from './teams-store.ts';
