export { outOfReachReason } from './account-reach.ts';
export {
  addMember,
  deleteMembership,
  listMemberIds,
  listTeamsLedBy,
  listWithoutAdmin,
  lockMembership,
  type Membership,
  readMemberScope,
  setRole,
} from './members-store.ts';
export * as teamOperations from './operations.ts';
export {
  deleteTeam,
  findTeam,
  findTeamsByName,
  listEnvironmentsOf,
  lockTeam,
  lockTeamForDelete,
  type Team,
} from './store.ts';
