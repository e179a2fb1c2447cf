import { NoInput } from '../../../../schemas/api/common.ts';
import {
  CreatedToken,
  CreateToken,
  Done,
  Me,
  TokenId,
  TokenList,
} from '../../../../schemas/api/identity/people.ts';
import { mintToken } from '../../../platform/crypto/tokens.ts';
import { badRequest, notFound, preconditionFailed } from '../../../platform/operation/errors.ts';
import { mutation, ownScope, query } from '../../../platform/operation/operation.ts';
import { readAccessPolicy, TOKEN_DAYS } from '../access-policy.ts';
import { readAccountSummary } from '../sessions/sessions-store.ts';
import { caller, getCallerAccount, lockCallerAccount } from '../users/caller.ts';
import { deletePersonalToken, insertPersonalToken, listPersonalTokens } from './personal-tokens-store.ts';

export const me = query({
  name: 'user.me',
  summary: 'The signed-in user',
  role: 'VIEWER',
  input: NoInput,
  output: Me,
  allowedBefore: ['CHANGE_PASSWORD', 'SET_UP_TWO_FACTOR', 'PROVE_TWO_FACTOR'],
  scope: () => ownScope,
  async run(ctx) {
    const { userId, sessionId, requiredAction: owes } = caller(ctx);
    const user = await getCallerAccount(ctx);
    const { id, name, email, authMethod, isSuperAdmin, passwordChangedAt } = user;
    return {
      ...{ id, name, email, authMethod, isSuperAdmin, passwordChangedAt, owes },
      twoFactorEnabled: user.totpEnabled,
      hasPassword: user.passwordHash !== null,
      ...(await readAccountSummary(ctx.db, { userId, sessionId })),
    };
  },
});

const DAY_MS = 86_400_000;
/** Per user. The list is not paged. */
const MAX_TOKENS = 100;

export const createToken = mutation({
  name: 'user.createToken',
  summary:
    'Create a personal token, the password for git over HTTP or the bearer token of an agent; shown once',
  role: 'VIEWER',
  audit: 'user.tokenCreated',
  input: CreateToken,
  output: CreatedToken,
  scope: () => ownScope,
  async run(ctx, input) {
    const { id: userId } = await lockCallerAccount(ctx);
    if ((await listPersonalTokens(ctx.db, userId)).length >= MAX_TOKENS)
      throw preconditionFailed(`You have ${MAX_TOKENS} tokens; delete unused ones first`);
    const { tokenMaxDays } = await readAccessPolicy(ctx.db);
    const days = input.expiresInDays ?? Math.min(TOKEN_DAYS, tokenMaxDays);
    if (days > tokenMaxDays)
      throw badRequest(`expiresInDays: a personal token lasts at most ${tokenMaxDays} days here`);
    const scopes = input.scopes ?? ['git'];
    const minted = mintToken('hgp');
    const expiresAt = new Date(ctx.clock.now() + days * DAY_MS);
    await insertPersonalToken(ctx.db, {
      id: minted.id,
      userId,
      name: input.name,
      tokenHash: minted.hash,
      expiresAt,
      scopes,
    });
    ctx.audit({
      ...{ entityType: 'PersonalToken', entityId: minted.id },
      metadata: { name: input.name, expiresAt, scopes },
    });
    return { id: minted.id, token: minted.token, expiresAt };
  },
});

export const listTokens = query({
  name: 'user.listTokens',
  summary: 'Personal tokens of the signed-in user, without their values',
  role: 'VIEWER',
  input: NoInput,
  output: TokenList,
  scope: () => ownScope,
  run: (ctx) => listPersonalTokens(ctx.db, caller(ctx).userId),
});

export const deleteToken = mutation({
  name: 'user.deleteToken',
  summary: 'Revoke a personal token',
  role: 'VIEWER',
  audit: 'user.tokenDeleted',
  input: TokenId,
  output: Done,
  scope: () => ownScope,
  async run(ctx, input) {
    if (!(await deletePersonalToken(ctx.db, caller(ctx).userId, input.id))) throw notFound('Token');
    ctx.audit({ entityType: 'PersonalToken', entityId: input.id });
    return { ok: true as const };
  },
});
