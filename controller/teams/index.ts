export {
  addMember,
  deleteMembership,
  listMemberIds,
  listTeamsLedBy,
  listTeamsOf,
  listWithoutAdmin,
  lockMembership,
  type Membership,
  setRole,
} from './members-store.ts';
export * as teamOperations from './operations.ts';
export { outOfReach } from './reach.ts';
export { deleteTeam, findTeam, listEnvironmentsOf, lockTeam, lockTeamWhole, type Team } from './store.ts';
