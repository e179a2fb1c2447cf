/** Groups that an identity provider manages by SCIM. Memberships of teams follow in the same transaction. */
import { SCIM_LIMITS } from '../../../schemas/scim/common.ts';
import {
  CreateScimGroup,
  GetScimGroup,
  type GroupChange,
  ListScimGroups,
  PatchScimGroup,
  ReplaceScimGroup,
  ScimGone,
  ScimGroup,
  ScimGroupChanged,
  ScimGroupId,
  ScimGroupList,
} from '../../../schemas/scim/group.ts';
import type { AuditEntry } from '../../platform/operation/audit-entry.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import { notFound } from '../../platform/operation/errors.ts';
import { mutation, ownScope, query } from '../../platform/operation/operation.ts';
import {
  lockDirectoryUsers,
  lockRulesShared,
  membershipEntries,
  reconcileMemberships,
} from '../directory/index.ts';
import { type MemberDelta, memberDelta } from './group-members.ts';
import {
  addMembers,
  deleteGroup,
  type GroupRecord,
  insertGroup,
  listGroups,
  listMatchingMembers,
  listMemberIds,
  listUnknown,
  listUserNames,
  lockGroup,
  readGroup,
  removeMembers,
  resolveNames,
  updateGroup,
} from './groups-store.ts';
import { scimError } from './scim-errors.ts';
import { addWaiting, lockWaiting, removeWaiting } from './waiting-members-store.ts';

const SCIM_OPERATION = { role: 'SUPER_ADMIN', provisioning: true, scope: () => ownScope } as const;
const ENTITY = 'ScimGroup';

export const listScimGroups = query({
  ...SCIM_OPERATION,
  name: 'scim.listGroups',
  summary: 'Groups that SCIM manages',
  input: ListScimGroups,
  output: ScimGroupList,
  run: (ctx, input) => listGroups(ctx.db, input),
});

export const getScimGroup = query({
  ...SCIM_OPERATION,
  name: 'scim.getGroup',
  summary: 'A group that SCIM manages',
  input: GetScimGroup,
  output: ScimGroup,
  async run(ctx, { id, members }) {
    const group = await readGroup(ctx.db, id, members);
    if (!group) throw notFound('Group');
    return group;
  },
});

/**
 * The lock order for changes of groups: the rules, then waiting members where SCIM does not know all who join, then the group,
 * then users by id.
 */
async function lockExisting(
  ctx: MutationContext,
  id: string,
  joining: Iterable<string> = [],
): Promise<{ group: GroupRecord; unknown: string[] }> {
  await lockRulesShared(ctx.db);
  const unknown = await lockUnknown(ctx, joining);
  const group = await lockGroup(ctx.db, id);
  if (!group) throw notFound('Group');
  return { group, unknown };
}

/** The values that are no ids of users. Nobody is created until the transaction ends where there are some. */
async function lockUnknown(ctx: MutationContext, joining: Iterable<string>): Promise<string[]> {
  const values = [...joining];
  const unknown = values.length > 0 ? await listUnknown(ctx.db, values) : [];
  if (unknown.length > 0) await lockWaiting(ctx.db);
  return unknown;
}

interface MemberChanges {
  joined: string[];
  left: string[];
  /** Named as members but unknown: they join when SCIM creates them. */
  waiting: string[];
  /** How many unknown members are no longer expected. */
  dropped: number;
}

const NOBODY: MemberChanges = { joined: [], left: [], waiting: [], dropped: 0 };

/**
 * Unknown members do not prevent the change, because providers send groups before their users, or users who are not assigned.
 * `unknown`, from `lockUnknown`, may name users who were created since the provider has looked.
 * @throws BAD_REQUEST where a group expects more unknown members than one request may name.
 */
async function changeMembers(
  ctx: MutationContext,
  groupId: string,
  delta: MemberDelta,
  unknown: readonly string[],
): Promise<MemberChanges> {
  const names = await resolveNames(ctx.db, unknown);
  const join = [...new Set([...delta.join].map((value) => names.get(value) ?? value))];
  const leave = delta.only ? await listMemberIds(ctx.db, groupId, join) : [...delta.leave];
  const dropped = await removeWaiting(ctx.db, groupId, {
    only: delta.only,
    values: delta.only ? join : leave,
  });
  if (join.length + leave.length === 0) return { ...NOBODY, dropped };
  // A user who is deleted concurrently is unknown if that happens before this lock, and leaves the group if it happens after.
  await lockDirectoryUsers(ctx.db, [...join, ...leave]);
  const waiting = join.length > 0 ? await listUnknown(ctx.db, join) : [];
  if (!(await addWaiting(ctx.db, groupId, waiting)))
    throw scimError(
      'invalidValue',
      `members: more than ${SCIM_LIMITS.members} members of this group are unknown to SCIM here; provision users first`,
    );
  const expected = new Set(waiting);
  return {
    left: await removeMembers(ctx.db, groupId, leave),
    joined: await addMembers(
      ctx.db,
      groupId,
      join.filter((id) => !expected.has(id)),
    ),
    waiting,
    dropped,
  };
}

/** Users that an audit row names. */
const MAX_NAMED = 100;

/** Unknown members that an audit row names. */
const MAX_WAITING_NAMED = 20;

async function membersForAudit(
  ctx: MutationContext,
  { joined, left, waiting }: MemberChanges,
): Promise<Partial<AuditEntry>> {
  const waits =
    waiting.length === 0
      ? {}
      : { membersWaiting: waiting.length, waitsFor: waiting.slice(0, MAX_WAITING_NAMED) };
  if (joined.length + left.length === 0) return waiting.length === 0 ? {} : { metadata: waits };
  const names = async (ids: readonly string[]) =>
    ids.length === 0 ? [] : listUserNames(ctx.db, ids.slice(0, MAX_NAMED));
  return {
    diff: { members: [await names(left), await names(joined)] },
    metadata: { membersLeft: left.length, membersJoined: joined.length, ...waits },
  };
}

/** Reconciles the memberships of teams; their audit rows come after that of the group. */
async function reconcileTeams(ctx: MutationContext, userIds: Iterable<string>): Promise<void> {
  const changes = await reconcileMemberships(ctx, userIds);
  for (const entry of await membershipEntries(ctx.db, changes)) ctx.audit(entry);
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });
}

export const createScimGroup = mutation({
  ...SCIM_OPERATION,
  name: 'scim.createGroup',
  summary: 'Create a group with its members; their teams follow',
  audit: 'scimGroup.created',
  input: CreateScimGroup,
  output: ScimGroupChanged,
  async run(ctx, { displayName, externalId = null, members }) {
    await lockRulesShared(ctx.db);
    const unknown = await lockUnknown(ctx, members);
    const id = await insertGroup(ctx.db, { displayName, externalId });
    const joining = { only: false, join: new Set(members), leave: new Set<string>() };
    const memberChanges = await changeMembers(ctx, id, joining, unknown);
    const { diff = {}, metadata = {} } = await membersForAudit(ctx, memberChanges);
    ctx.audit({
      entityType: ENTITY,
      entityId: id,
      diff: { displayName: [null, displayName], externalId: [null, externalId], ...diff },
      metadata: { displayName, ...metadata },
    });
    await reconcileTeams(ctx, memberChanges.joined);
    return { id };
  },
});

async function applyGroupChange(
  ctx: MutationContext,
  { group: before, unknown }: { group: GroupRecord; unknown: readonly string[] },
  to: { displayName: string; externalId: string | null; delta: MemberDelta },
): Promise<{ id: string }> {
  const { id } = before;
  const { displayName, externalId, delta } = to;
  const memberChanges = await changeMembers(ctx, id, delta, unknown);
  const renamed = displayName !== before.displayName;
  const relinked = externalId !== before.externalId;
  const { joined, left, waiting, dropped } = memberChanges;
  const hasMemberChanges = joined.length + left.length + waiting.length + dropped > 0;
  // Providers send unchanged groups every hour.
  if (!renamed && !relinked && !hasMemberChanges) {
    ctx.unchanged();
    return { id };
  }
  await updateGroup(ctx.db, id, { displayName, externalId });
  const { diff = {}, metadata = {} } = await membersForAudit(ctx, memberChanges);
  ctx.audit({
    ...(renamed && !relinked && !hasMemberChanges ? { action: 'scimGroup.renamed' } : {}),
    ...{ entityType: ENTITY, entityId: id },
    diff: {
      ...(renamed ? { displayName: [before.displayName, displayName] } : {}),
      ...(relinked ? { externalId: [before.externalId, externalId] } : {}),
      ...diff,
    },
    metadata: { displayName, ...metadata },
  });
  await reconcileTeams(ctx, [...joined, ...left, ...(renamed ? await listMemberIds(ctx.db, id) : [])]);
  return { id };
}

export const replaceScimGroup = mutation({
  ...SCIM_OPERATION,
  name: 'scim.replaceGroup',
  summary: 'Replace a group, with exactly these members; teams of all who joined or left follow',
  audit: 'scimGroup.updated',
  input: ReplaceScimGroup,
  output: ScimGroupChanged,
  async run(ctx, { id, group }) {
    const locked = await lockExisting(ctx, id, group.members);
    return applyGroupChange(ctx, locked, {
      displayName: group.displayName,
      externalId: group.externalId === undefined ? locked.group.externalId : group.externalId,
      delta: { only: true, join: new Set(group.members), leave: new Set() },
    });
  },
});

/** Name and external id after the changes; the last change counts. */
function applyNames(before: GroupRecord, changes: readonly GroupChange[]) {
  let { displayName, externalId } = before;
  for (const one of changes) {
    if (one.kind === 'displayName') displayName = one.value;
    if (one.kind === 'externalId') externalId = one.value;
  }
  return { displayName, externalId };
}

/** Resolves a member filter against the members before the request. */
const resolveMemberFilters = (
  ctx: MutationContext,
  id: string,
  changes: readonly GroupChange[],
): Promise<GroupChange[]> =>
  Promise.all(
    changes.map(async (one) =>
      one.kind === 'membersGone'
        ? { kind: 'members', how: 'remove', ids: await listMatchingMembers(ctx.db, id, one.where) }
        : one,
    ),
  );

export const patchScimGroup = mutation({
  ...SCIM_OPERATION,
  name: 'scim.patchGroup',
  summary: 'Add or remove members, or rename a group; teams follow',
  audit: 'scimGroup.updated',
  input: PatchScimGroup,
  output: ScimGroupChanged,
  async run(ctx, { id, changes }) {
    const locked = await lockExisting(ctx, id, memberDelta(changes).join);
    const delta = memberDelta(await resolveMemberFilters(ctx, id, changes));
    return applyGroupChange(ctx, locked, { ...applyNames(locked.group, changes), delta });
  },
});

export const deleteScimGroup = mutation({
  ...SCIM_OPERATION,
  name: 'scim.deleteGroup',
  summary: 'Delete a group; memberships of teams that depend on it alone end',
  audit: 'scimGroup.deleted',
  input: ScimGroupId,
  output: ScimGone,
  async run(ctx, { id }) {
    const { displayName } = (await lockExisting(ctx, id)).group;
    const members = await listMemberIds(ctx.db, id);
    await lockDirectoryUsers(ctx.db, members);
    await deleteGroup(ctx.db, id);
    const { diff = {} } = await membersForAudit(ctx, { ...NOBODY, left: members });
    ctx.audit({
      entityType: ENTITY,
      entityId: id,
      diff: { displayName: [displayName, null], ...diff },
      metadata: { displayName, membersLeft: members.length },
    });
    await reconcileTeams(ctx, members);
    return { deleted: true as const };
  },
});
