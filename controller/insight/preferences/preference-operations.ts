/** A change notifies no UI: only the user who made it sees it. */
import { NoInput } from '../../../schemas/api/common.ts';
import { Done } from '../../../schemas/api/identity/people.ts';
import {
  SetUserPreference,
  UserPreference,
  UserPreferenceKey,
  UserPreferences,
} from '../../../schemas/api/insight/preferences.ts';
import type { Context } from '../../platform/operation/context.ts';
import { forbidden, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation, ownScope, query } from '../../platform/operation/operation.ts';
import {
  countOtherPreferences,
  deletePreference,
  readPreferences,
  writePreference,
} from './preference-store.ts';

/** Per user. */
const MAX_KEYS = 200;

function callerId(ctx: Context): string {
  if (ctx.actor.type !== 'user') throw forbidden('Only a signed-in user has preferences');
  return ctx.actor.userId;
}

export const get = query({
  name: 'userPreference.get',
  summary: 'Preferences of the signed-in user, as key and value',
  role: 'VIEWER',
  input: NoInput,
  output: UserPreferences,
  scope: () => ownScope,
  run: (ctx) => readPreferences(ctx.db, callerId(ctx)),
});

export const set = mutation({
  name: 'userPreference.set',
  summary: 'Set a preference of the signed-in user',
  role: 'VIEWER',
  audit: 'userPreference.set',
  input: SetUserPreference,
  output: UserPreference,
  scope: () => ownScope,
  async run(ctx, { key, value }) {
    const userId = callerId(ctx);
    if ((await countOtherPreferences(ctx.db, userId, key)) >= MAX_KEYS)
      throw preconditionFailed(`You have ${MAX_KEYS} preferences; delete one first`);
    await writePreference(ctx.db, userId, key, value);
    ctx.audit({ entityType: 'UserPreference', entityId: userId, metadata: { key } });
    return { key, value };
  },
});

export const remove = mutation({
  name: 'userPreference.delete',
  summary: 'Delete a preference of the signed-in user; it need not exist',
  role: 'VIEWER',
  audit: 'userPreference.deleted',
  input: UserPreferenceKey,
  output: Done,
  scope: () => ownScope,
  async run(ctx, { key }) {
    const userId = callerId(ctx);
    await deletePreference(ctx.db, userId, key);
    ctx.audit({ entityType: 'UserPreference', entityId: userId, metadata: { key } });
    return { ok: true as const };
  },
});
