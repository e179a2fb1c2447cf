/** Users, as an identity provider keeps them by SCIM. */
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
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { notFound } from '../../platform/operation/errors.ts';
import { mutation, ownScope, query } from '../../platform/operation/operation.ts';
import { lockUserRow, type User, updateUser } from '../access/index.ts';
import { lockRulesShared, membershipEntries, reconcileMemberships } from '../directory/index.ts';
import { dropLinks } from '../oidc/index.ts';
import { assertAdoptable, findAccount, makeAccount, setActive, takeAccount } from './account.ts';
import { addMembers } from './groups-store.ts';
import { taken } from './refusals.ts';
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
import { takeWaiting } from './waiting-members-store.ts';

const DOOR = { role: 'SUPER_ADMIN', provisioning: true, scope: () => ownScope } as const;
const ENTITY = 'ScimUser';

async function shown(ctx: Context, id: string): Promise<ScimUser> {
  const user = await readUser(ctx.db, id);
  if (!user) throw notFound('User');
  return user;
}

const changed = (ctx: MutationContext) =>
  ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });

/** Field to what it was and is, of those that changed. */
function diffOf(
  before: Partial<UserAttributes & { active: boolean }>,
  after: UserAttributes & { active: boolean },
): Record<string, [unknown, unknown]> {
  const fields = Object.keys(after) as (keyof typeof after)[];
  const told = (value: unknown) => JSON.stringify(value ?? null);
  return Object.fromEntries(
    fields
      .filter((field) => told(before[field]) !== told(after[field]))
      .map((field) => [field, [before[field] ?? null, after[field]]]),
  );
}

/** The account follows where what it shows has changed: what somebody set by hand since then stays. */
async function follow(
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
  ...DOOR,
  name: 'scim.listUsers',
  summary: 'Users that SCIM keeps',
  input: ListScimUsers,
  output: ScimUserList,
  run: (ctx, input) => listUsers(ctx.db, input),
});

export const getScimUser = query({
  ...DOOR,
  name: 'scim.getUser',
  summary: 'A user that SCIM keeps',
  input: ScimUserId,
  output: ScimUser,
  run: (ctx, { id }) => shown(ctx, id),
});

export const createScimUser = mutation({
  ...DOOR,
  name: 'scim.createUser',
  summary: 'Make a user, bring a deleted one back, or adopt one whom a sign-in made',
  audit: 'scimUser.created',
  input: CreateScimUser,
  output: ScimUser,
  async run(ctx, input) {
    // Groups may wait for this user.
    await lockRulesShared(ctx.db);
    const active = input.active ?? true;
    const attributes = attributesOf(input, null);
    const known = await findAccount(ctx, attributes);
    if (known?.record && known.record.deletedAt === null)
      throw taken(`There is a user with the userName ${known.record.attributes.userName} already`);
    if (known && !known.record) assertAdoptable(known.user);
    const id = known?.user.id ?? (await makeAccount(ctx, attributes));
    if (known) await follow(ctx, id, null, attributes);
    await writeUserRecord(ctx.db, id, { attributes, active });
    const user = known?.user ?? (await lockUserRow(ctx.db, id));
    if (user) await setActive(ctx, user, active);
    const { userName, externalId } = attributes;
    const groups = await takeWaiting(ctx.db, { id, externalId, userName });
    for (const group of groups) await addMembers(ctx.db, group, [id]);
    const memberships = groups.length > 0 ? await reconcileMemberships(ctx, [id]) : [];
    ctx.audit({
      entityType: ENTITY,
      entityId: id,
      diff: diffOf({}, { ...attributes, active }),
      metadata: {
        userName: attributes.userName,
        ...(known ? { [known.record ? 'broughtBack' : 'adopted']: true } : {}),
        ...(groups.length > 0 ? { groupsThatWaited: groups.length } : {}),
      },
    });
    for (const entry of await membershipEntries(ctx.db, memberships)) ctx.audit(entry);
    await changed(ctx);
    return shown(ctx, id);
  },
});

/** The account is locked for this transaction. */
async function locked(ctx: MutationContext, id: string): Promise<{ user: User; record: UserRecord }> {
  const user = await takeAccount(ctx, id);
  const record = user && (await findUserRecord(ctx.db, id));
  if (!record || record.deletedAt !== null) throw notFound('User');
  return { user, record };
}

async function change(
  ctx: MutationContext,
  id: string,
  to: (before: UserAttributes) => { attributes: UserAttributes; active: boolean | undefined },
): Promise<ScimUser> {
  const { user, record } = await locked(ctx, id);
  const { attributes, active: said } = to(record.attributes);
  const active = said ?? record.active;
  const diff = diffOf({ ...record.attributes, active: record.active }, { ...attributes, active });
  const locks = said === false && user.lockedAt === null;
  const unlocks = said === true && user.lockedBy === 'scim';
  // A provider that says all of a user every hour changes nothing by it.
  if (Object.keys(diff).length === 0 && !locks && !unlocks) {
    ctx.unchanged();
    return shown(ctx, id);
  }
  await follow(ctx, id, record.attributes, attributes);
  await writeUserRecord(ctx.db, id, { attributes, active });
  // What is not said leaves the lock as somebody may have set it meanwhile.
  if (said !== undefined) await setActive(ctx, user, said);
  const turned = active ? 'scimUser.reactivated' : 'scimUser.deactivated';
  ctx.audit({
    ...(active === record.active ? {} : { action: turned }),
    ...{ entityType: ENTITY, entityId: id },
    diff,
    metadata: { userName: attributes.userName },
  });
  await changed(ctx);
  return shown(ctx, id);
}

export const replaceScimUser = mutation({
  ...DOOR,
  name: 'scim.replaceUser',
  summary: 'Say all of a user anew',
  audit: 'scimUser.updated',
  input: ReplaceScimUser,
  output: ScimUser,
  run: (ctx, { id, user }) =>
    change(ctx, id, (before) => ({ attributes: attributesOf(user, before), active: user.active })),
});

export const patchScimUser = mutation({
  ...DOOR,
  name: 'scim.patchUser',
  summary: 'Change some of a user, for example deactivate it',
  audit: 'scimUser.updated',
  input: PatchScimUser,
  output: ScimUser,
  run: (ctx, { id, changes }) => change(ctx, id, (before) => applyChanges(before, changes)),
});

export const deleteScimUser = mutation({
  ...DOOR,
  name: 'scim.deleteUser',
  summary: 'Lock a user and hide it from SCIM; what it did stays in the audit log',
  audit: 'scimUser.deleted',
  input: ScimUserId,
  output: ScimGone,
  async run(ctx, { id }) {
    await lockRulesShared(ctx.db);
    const { user, record } = await locked(ctx, id);
    await setActive(ctx, user, false);
    await markUserDeleted(ctx.db, id, new Date(ctx.clock.now()));
    await leaveAllGroups(ctx.db, id);
    // Whoever comes back is often somebody else to the provider: the next sign-in links anew, by address or `externalId`.
    const unlinked = await dropLinks(ctx.db, user);
    const changes = await reconcileMemberships(ctx, [id]);
    ctx.audit({
      entityType: ENTITY,
      entityId: id,
      diff: record.active ? { active: [true, false] } : {},
      metadata: { userName: record.attributes.userName, email: user.email, ...unlinked },
    });
    for (const entry of await membershipEntries(ctx.db, changes)) ctx.audit(entry);
    await changed(ctx);
    return { deleted: true as const };
  },
});
