/** Users that an identity provider manages by SCIM. */

import { ScimGone } from '../../../schemas/scim/group.ts';
import {
  CreateScimUser,
  ListScimUsers,
  PatchScimUser,
  ReplaceScimUser,
  ScimUser,
  ScimUserId,
  ScimUserList,
  type UserAttributes,
} from '../../../schemas/scim/user.ts';
import { diffOf } from '../../platform/operation/audit-entry.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { notFound } from '../../platform/operation/errors.ts';
import { mutation, ownScope, query } from '../../platform/operation/operation.ts';
import { lockUserRow, type User, updateUser } from '../access/index.ts';
import { lockRulesShared, membershipEntries, reconcileMemberships } from '../directory/index.ts';
import { dropLinks } from '../oidc/index.ts';
import { assertAdoptable, createAccount, findAccount, lockAccount, setActive } from './account.ts';
import { addMembers } from './groups-store.ts';
import { uniquenessConflict } from './scim-errors.ts';
import { addressOf, applyChanges, attributesOf, displayNameOf } from './user-document.ts';
import {
  findUserRecord,
  leaveAllGroups,
  listUsers,
  markUserDeleted,
  readUser,
  type UserRecord,
  writeUserRecord,
} from './users-store.ts';
import { lockWaitingShared, removeFromWaiting } from './waiting-members-store.ts';

const SCIM_OPERATION = { role: 'SUPER_ADMIN', provisioning: true, scope: () => ownScope } as const;
const ENTITY = 'ScimUser';

async function readExisting(ctx: Context, id: string): Promise<ScimUser> {
  const user = await readUser(ctx.db, id);
  if (!user) throw notFound('User');
  return user;
}

const notifyUi = (ctx: MutationContext) =>
  ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });

/** Updates address and name of the account where SCIM has changed them. Manual changes since then stay. */
async function updateAccount(
  ctx: MutationContext,
  id: string,
  before: UserAttributes | null,
  after: UserAttributes,
): Promise<void> {
  const [address, name] = [addressOf(after), displayNameOf(after)];
  const change = {
    ...(before && addressOf(before) === address ? {} : { email: address }),
    ...(before && displayNameOf(before) === name ? {} : { name }),
  };
  if (Object.keys(change).length > 0) await updateUser(ctx.db, id, change);
}

export const listScimUsers = query({
  ...SCIM_OPERATION,
  name: 'scim.listUsers',
  summary: 'Users that SCIM manages',
  input: ListScimUsers,
  output: ScimUserList,
  run: (ctx, input) => listUsers(ctx.db, input),
});

export const getScimUser = query({
  ...SCIM_OPERATION,
  name: 'scim.getUser',
  summary: 'A user that SCIM manages',
  input: ScimUserId,
  output: ScimUser,
  run: (ctx, { id }) => readExisting(ctx, id),
});

export const createScimUser = mutation({
  ...SCIM_OPERATION,
  name: 'scim.createUser',
  summary: 'Create a user, restore a deleted one, or adopt one that a sign-in created',
  audit: 'scimUser.created',
  input: CreateScimUser,
  output: ScimUser,
  async run(ctx, input) {
    // Groups may wait for this user, so the rules are locked first.
    await lockRulesShared(ctx.db);
    await lockWaitingShared(ctx.db);
    const active = input.active ?? true;
    const attributes = attributesOf(input, null);
    const existing = await findAccount(ctx, attributes);
    if (existing?.record && existing.record.deletedAt === null)
      throw uniquenessConflict(
        `A user with the userName ${existing.record.attributes.userName} exists already`,
      );
    if (existing && !existing.record) assertAdoptable(existing.user);
    const id = existing?.user.id ?? (await createAccount(ctx, attributes));
    if (existing) await updateAccount(ctx, id, null, attributes);
    await writeUserRecord(ctx.db, id, { attributes, active });
    const user = existing?.user ?? (await lockUserRow(ctx.db, id));
    if (user) await setActive(ctx, user, active);
    const { userName, externalId } = attributes;
    const groups = await removeFromWaiting(ctx.db, { id, externalId, userName });
    for (const group of groups) await addMembers(ctx.db, group, [id]);
    const memberships = groups.length > 0 ? await reconcileMemberships(ctx, [id]) : [];
    ctx.audit({
      entityType: ENTITY,
      entityId: id,
      diff: diffOf({}, { ...attributes, active }),
      metadata: {
        userName: attributes.userName,
        ...(existing ? { [existing.record ? 'broughtBack' : 'adopted']: true } : {}),
        ...(groups.length > 0 ? { groupsThatWaited: groups.length } : {}),
      },
    });
    for (const entry of await membershipEntries(ctx.db, memberships)) ctx.audit(entry);
    await notifyUi(ctx);
    return readExisting(ctx, id);
  },
});

/** Locks the account for this transaction. @throws NOT_FOUND */
async function lockExisting(ctx: MutationContext, id: string): Promise<{ user: User; record: UserRecord }> {
  const user = await lockAccount(ctx, id);
  const record = user && (await findUserRecord(ctx.db, id));
  if (!record || record.deletedAt !== null) throw notFound('User');
  return { user, record };
}

async function applyUserChange(
  ctx: MutationContext,
  id: string,
  to: (before: UserAttributes) => { attributes: UserAttributes; active: boolean | undefined },
): Promise<ScimUser> {
  const { user, record } = await lockExisting(ctx, id);
  const { attributes, active: requested } = to(record.attributes);
  const active = requested ?? record.active;
  const diff = diffOf({ ...record.attributes, active: record.active }, { ...attributes, active });
  const locks = requested === false && user.lockedAt === null;
  const unlocks = requested === true && user.lockedBy === 'scim';
  // Providers send unchanged users every hour.
  if (Object.keys(diff).length === 0 && !locks && !unlocks) {
    ctx.unchanged();
    return readExisting(ctx, id);
  }
  await updateAccount(ctx, id, record.attributes, attributes);
  await writeUserRecord(ctx.db, id, { attributes, active });
  // Without `active` in the request, the lock stays as it is.
  if (requested !== undefined) await setActive(ctx, user, requested);
  const activeAction = active ? 'scimUser.reactivated' : 'scimUser.deactivated';
  ctx.audit({
    ...(active === record.active ? {} : { action: activeAction }),
    ...{ entityType: ENTITY, entityId: id },
    diff,
    metadata: { userName: attributes.userName },
  });
  await notifyUi(ctx);
  return readExisting(ctx, id);
}

export const replaceScimUser = mutation({
  ...SCIM_OPERATION,
  name: 'scim.replaceUser',
  summary: 'Replace a user',
  audit: 'scimUser.updated',
  input: ReplaceScimUser,
  output: ScimUser,
  run: (ctx, { id, user }) =>
    applyUserChange(ctx, id, (before) => ({ attributes: attributesOf(user, before), active: user.active })),
});

export const patchScimUser = mutation({
  ...SCIM_OPERATION,
  name: 'scim.patchUser',
  summary: 'Change attributes of a user, for example deactivate it',
  audit: 'scimUser.updated',
  input: PatchScimUser,
  output: ScimUser,
  run: (ctx, { id, changes }) => applyUserChange(ctx, id, (before) => applyChanges(before, changes)),
});

export const deleteScimUser = mutation({
  ...SCIM_OPERATION,
  name: 'scim.deleteUser',
  summary: 'Lock a user and hide it from SCIM; its actions stay in the audit log',
  audit: 'scimUser.deleted',
  input: ScimUserId,
  output: ScimGone,
  async run(ctx, { id }) {
    await lockRulesShared(ctx.db);
    const { user, record } = await lockExisting(ctx, id);
    await setActive(ctx, user, false);
    await markUserDeleted(ctx.db, id, new Date(ctx.clock.now()));
    await leaveAllGroups(ctx.db, id);
    // A returning user often has a new subject at the provider, so the next sign-in links again, by address or `externalId`.
    const unlinked = await dropLinks(ctx.db, user);
    const changes = await reconcileMemberships(ctx, [id]);
    ctx.audit({
      entityType: ENTITY,
      entityId: id,
      diff: record.active ? { active: [true, false] } : {},
      metadata: { userName: record.attributes.userName, email: user.email, ...unlinked },
    });
    for (const entry of await membershipEntries(ctx.db, changes)) ctx.audit(entry);
    await notifyUi(ctx);
    return { deleted: true as const };
  },
});
