/** Groups, as an identity provider keeps them by SCIM. Teams follow in the same transaction. */
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
  listChosenMembers,
  listGroups,
  listMemberIds,
  listUnknown,
  listUserNames,
  lockGroup,
  readGroup,
  removeMembers,
  updateGroup,
} from './groups-store.ts';
import { refused } from './refusals.ts';
import { addWaiting, removeWaiting } from './waiting-members-store.ts';

const DOOR = { role: 'SUPER_ADMIN', provisioning: true, scope: () => ownScope } as const;
const ENTITY = 'ScimGroup';

export const listScimGroups = query({
  ...DOOR,
  name: 'scim.listGroups',
  summary: 'Groups that SCIM keeps',
  input: ListScimGroups,
  output: ScimGroupList,
  run: (ctx, input) => listGroups(ctx.db, input),
});

export const getScimGroup = query({
  ...DOOR,
  name: 'scim.getGroup',
  summary: 'A group that SCIM keeps',
  input: GetScimGroup,
  output: ScimGroup,
  async run(ctx, { id, members }) {
    const group = await readGroup(ctx.db, id, members);
    if (!group) throw notFound('Group');
    return group;
  },
});

/** Rules first, then the group, then people by their ids: whoever changes groups takes locks in this order. */
async function locked(ctx: MutationContext, id: string): Promise<GroupRecord> {
  await lockRulesShared(ctx.db);
  const group = await lockGroup(ctx.db, id);
  if (!group) throw notFound('Group');
  return group;
}

interface Moved {
  joined: string[];
  left: string[];
  /** Named as members and not known: they join when they are created. */
  waiting: string[];
  /** How many are waited for no more. */
  dropped: number;
}

const NOBODY: Moved = { joined: [], left: [], waiting: [], dropped: 0 };

/**
 * Who is not known does not keep the others out, since providers send groups before their users, or people who are not
 * assigned. @throws BAD_REQUEST where more are waited for than one request may name.
 */
async function move(ctx: MutationContext, groupId: string, delta: MemberDelta): Promise<Moved> {
  const join = [...delta.join];
  const leave = delta.only ? await listMemberIds(ctx.db, groupId, join) : [...delta.leave];
  const dropped = await removeWaiting(ctx.db, groupId, {
    only: delta.only,
    values: delta.only ? join : leave,
  });
  if (join.length + leave.length === 0) return { ...NOBODY, dropped };
  // Whoever is deleted at the same moment is so before this, and then unknown, or after it, and then leaves again.
  await lockDirectoryUsers(ctx.db, [...join, ...leave]);
  const waiting = join.length > 0 ? await listUnknown(ctx.db, join) : [];
  if (!(await addWaiting(ctx.db, groupId, waiting)))
    throw refused(
      'invalidValue',
      `members: more than ${SCIM_LIMITS.members} members of this group are no users that SCIM keeps here; provision users first`,
    );
  const unknown = new Set(waiting);
  return {
    left: await removeMembers(ctx.db, groupId, leave),
    joined: await addMembers(
      ctx.db,
      groupId,
      join.filter((id) => !unknown.has(id)),
    ),
    waiting,
    dropped,
  };
}

/** Names that an audit row holds. */
const NAMED = 100;

/** Of members that are waited for, which an audit row names. */
const WAITING_NAMED = 20;

async function movedForAudit(
  ctx: MutationContext,
  { joined, left, waiting }: Moved,
): Promise<Partial<AuditEntry>> {
  const waits =
    waiting.length === 0 ? {} : { membersWaiting: waiting.length, waitsFor: waiting.slice(0, WAITING_NAMED) };
  if (joined.length + left.length === 0) return waiting.length === 0 ? {} : { metadata: waits };
  const names = async (ids: readonly string[]) =>
    ids.length === 0 ? [] : listUserNames(ctx.db, ids.slice(0, NAMED));
  return {
    diff: { members: [await names(left), await names(joined)] },
    metadata: { membersLeft: left.length, membersJoined: joined.length, ...waits },
  };
}

/** Teams follow; their audit rows come after that of the group. */
async function follow(ctx: MutationContext, userIds: Iterable<string>): Promise<void> {
  const changes = await reconcileMemberships(ctx, userIds);
  for (const entry of await membershipEntries(ctx.db, changes)) ctx.audit(entry);
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });
}

export const createScimGroup = mutation({
  ...DOOR,
  name: 'scim.createGroup',
  summary: 'Make a group with its members; their teams follow',
  audit: 'scimGroup.created',
  input: CreateScimGroup,
  output: ScimGroupChanged,
  async run(ctx, { displayName, externalId = null, members }) {
    await lockRulesShared(ctx.db);
    const id = await insertGroup(ctx.db, { displayName, externalId });
    const moved = await move(ctx, id, { only: false, join: new Set(members), leave: new Set() });
    const { diff = {}, metadata = {} } = await movedForAudit(ctx, moved);
    ctx.audit({
      entityType: ENTITY,
      entityId: id,
      diff: { displayName: [null, displayName], externalId: [null, externalId], ...diff },
      metadata: { displayName, ...metadata },
    });
    await follow(ctx, moved.joined);
    return { id };
  },
});

async function change(
  ctx: MutationContext,
  before: GroupRecord,
  to: { displayName: string; externalId: string | null; delta: MemberDelta },
): Promise<{ id: string }> {
  const { id } = before;
  const { displayName, externalId, delta } = to;
  const moved = await move(ctx, id, delta);
  const renamed = displayName !== before.displayName;
  const relinked = externalId !== before.externalId;
  const members = moved.joined.length + moved.left.length + moved.waiting.length + moved.dropped > 0;
  // A provider that says all of a group every hour changes nothing by it.
  if (!renamed && !relinked && !members) {
    ctx.unchanged();
    return { id };
  }
  await updateGroup(ctx.db, id, { displayName, externalId });
  const { diff = {}, metadata = {} } = await movedForAudit(ctx, moved);
  ctx.audit({
    ...(renamed && !relinked && !members ? { action: 'scimGroup.renamed' } : {}),
    ...{ entityType: ENTITY, entityId: id },
    diff: {
      ...(renamed ? { displayName: [before.displayName, displayName] } : {}),
      ...(relinked ? { externalId: [before.externalId, externalId] } : {}),
      ...diff,
    },
    metadata: { displayName, ...metadata },
  });
  await follow(ctx, [...moved.joined, ...moved.left, ...(renamed ? await listMemberIds(ctx.db, id) : [])]);
  return { id };
}

export const replaceScimGroup = mutation({
  ...DOOR,
  name: 'scim.replaceGroup',
  summary: 'Say all of a group anew, with exactly these members; teams of all who joined or left follow',
  audit: 'scimGroup.updated',
  input: ReplaceScimGroup,
  output: ScimGroupChanged,
  async run(ctx, { id, group }) {
    const before = await locked(ctx, id);
    return change(ctx, before, {
      displayName: group.displayName,
      externalId: group.externalId === undefined ? before.externalId : group.externalId,
      delta: { only: true, join: new Set(group.members), leave: new Set() },
    });
  },
});

/** What the changes make of name and external id: the last of several counts. */
function named(before: GroupRecord, changes: readonly GroupChange[]) {
  let { displayName, externalId } = before;
  for (const one of changes) {
    if (one.kind === 'displayName') displayName = one.value;
    if (one.kind === 'externalId') externalId = one.value;
  }
  return { displayName, externalId };
}

/** Whom a filter chooses is looked up among those who are in the group before the request. */
const withChosenMembers = (
  ctx: MutationContext,
  id: string,
  changes: readonly GroupChange[],
): Promise<GroupChange[]> =>
  Promise.all(
    changes.map(async (one) =>
      one.kind === 'membersGone'
        ? { kind: 'members', how: 'remove', ids: await listChosenMembers(ctx.db, id, one.where) }
        : one,
    ),
  );

export const patchScimGroup = mutation({
  ...DOOR,
  name: 'scim.patchGroup',
  summary: 'Add or remove members, or rename a group; teams follow',
  audit: 'scimGroup.updated',
  input: PatchScimGroup,
  output: ScimGroupChanged,
  async run(ctx, { id, changes }) {
    const before = await locked(ctx, id);
    const delta = memberDelta(await withChosenMembers(ctx, id, changes));
    return change(ctx, before, { ...named(before, changes), delta });
  },
});

export const deleteScimGroup = mutation({
  ...DOOR,
  name: 'scim.deleteGroup',
  summary: 'Delete a group; memberships of teams that it alone led to go',
  audit: 'scimGroup.deleted',
  input: ScimGroupId,
  output: ScimGone,
  async run(ctx, { id }) {
    const { displayName } = await locked(ctx, id);
    const members = await listMemberIds(ctx.db, id);
    await lockDirectoryUsers(ctx.db, members);
    await deleteGroup(ctx.db, id);
    const { diff = {} } = await movedForAudit(ctx, { ...NOBODY, left: members });
    ctx.audit({
      entityType: ENTITY,
      entityId: id,
      diff: { displayName: [displayName, null], ...diff },
      metadata: { displayName, membersLeft: members.length },
    });
    await follow(ctx, members);
    return { deleted: true as const };
  },
});
