/** The caller's own second factor: an authenticator and backup codes. */
import { NoInput } from '../../../../schemas/api/common.ts';
import { BackupCodes, Done, TotpCode, TotpSetup } from '../../../../schemas/api/identity/people.ts';
import { sealingContext } from '../../../platform/crypto/sealed-columns.ts';
import type { MutationContext } from '../../../platform/operation/context.ts';
import { badRequest, preconditionFailed } from '../../../platform/operation/errors.ts';
import { mutation, ownScope } from '../../../platform/operation/operation.ts';
import { assertConfirmed, confirmIdentity } from '../sessions/confirmation.ts';
import { endSessions } from '../sessions/sessions.ts';
import { recordSecondFactor } from '../sessions/sessions-store.ts';
import { caller, getCallerAccount, lockCallerAccount } from '../users/caller.ts';
import type { User } from '../users/users-store.ts';
import { hashBackupCode, matchTotpStep, newBackupCodes, newTotpSecret, totpUri } from './codes.ts';
import { consumeCode, openSecret } from './proof.ts';
import {
  replaceBackupCodes,
  setPending,
  teamsRequiringTwoFactor,
  turnOffTwoFactor,
  turnOn,
} from './store.ts';

const WRONG_CODE =
  'The code is wrong or was already used. Enter the next one, and check that the clock of your phone is right';

function assertTwoFactorOn(user: User): void {
  if (!user.totpEnabled) throw preconditionFailed('Two-factor sign-in is off');
}

/** Ends the caller's other sessions, and updates the pages of teams, which display the second factor. */
async function endOtherSessions(ctx: MutationContext): Promise<void> {
  const { userId, sessionId } = caller(ctx);
  await endSessions(ctx, [userId], sessionId);
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });
}

const hashesOf = (codes: readonly string[]): Buffer[] =>
  codes.map(hashBackupCode).filter((hash) => hash !== null);

export const setupTotp = mutation({
  name: 'user.setupTotp',
  summary: 'Start two-factor set-up: a secret for the authenticator, and backup codes; shown once',
  role: 'VIEWER',
  audit: 'user.twoFactorBegun',
  input: NoInput,
  output: TotpSetup,
  allowedBefore: ['SET_UP_TWO_FACTOR'],
  scope: () => ownScope,
  async run(ctx) {
    const user = await lockCallerAccount(ctx);
    if (user.totpEnabled) throw preconditionFailed('Two-factor sign-in is on; turn it off first');
    if (user.passwordHash === null && (await teamsRequiringTwoFactor(ctx.db, user.id)).length === 0)
      throw preconditionFailed(
        'You have no password here, so your identity provider asks for the second factor: set it up there. Headgate asks for one only where a team of yours requires it',
      );
    await assertConfirmed(ctx);
    const secret = newTotpSecret();
    const backupCodes = newBackupCodes();
    await setPending(ctx.db, user.id, {
      sealedSecret: ctx.services.keyring.seal(secret, sealingContext('users', user.id, 'sealed_totp_secret')),
      codeHashes: hashesOf(backupCodes),
    });
    ctx.audit({ entityType: 'User', entityId: user.id, metadata: { name: user.name } });
    return { uri: totpUri(user.email, secret), secret, backupCodes };
  },
});

export const verifyAndEnableTotp = mutation({
  name: 'user.verifyAndEnableTotp',
  summary: 'Turn two-factor sign-in on, with a first code of the authenticator; other sessions end',
  role: 'VIEWER',
  audit: 'user.twoFactorEnabled',
  input: TotpCode,
  output: Done,
  allowedBefore: ['SET_UP_TWO_FACTOR'],
  scope: () => ownScope,
  async run(ctx, input) {
    const user = await lockCallerAccount(ctx);
    if (user.totpEnabled) throw preconditionFailed('Two-factor sign-in is on already');
    const secret = openSecret(ctx, user);
    if (secret === null) throw preconditionFailed('Ask for a secret first, with user.setupTotp');
    // The caller has seen the secret, so failed codes need not be counted.
    const step = matchTotpStep(secret, input.code, ctx.clock.now());
    if (step === null) throw badRequest(WRONG_CODE);
    await turnOn(ctx.db, user.id, step);
    await recordSecondFactor(ctx.db, caller(ctx).sessionId, 'totp');
    await endOtherSessions(ctx);
    ctx.audit({
      entityType: 'User',
      entityId: user.id,
      diff: { twoFactorEnabled: [false, true] },
      metadata: { name: user.name },
    });
    return { ok: true as const };
  },
});

export const proveTwoFactor = mutation({
  name: 'user.proveTwoFactor',
  summary:
    'Prove the second factor that a team requires, after a sign-in at an identity provider without one',
  role: 'VIEWER',
  audit: 'user.twoFactorProved',
  input: TotpCode,
  output: Done,
  allowedBefore: ['PROVE_TWO_FACTOR'],
  scope: () => ownScope,
  async prepare(ctx, input) {
    const user = await getCallerAccount(ctx);
    assertTwoFactorOn(user);
    return confirmIdentity(ctx, user, {
      verify: () => consumeCode(ctx, user, input.code),
      refusal: WRONG_CODE,
    });
  },
  async run(ctx, _, factor) {
    const user = await lockCallerAccount(ctx);
    assertTwoFactorOn(user);
    await recordSecondFactor(ctx.db, caller(ctx).sessionId, 'totp');
    await ctx.services.bus.publish(ctx.db, { type: 'user', userId: user.id });
    ctx.audit({ entityType: 'User', entityId: user.id, metadata: { name: user.name, factor } });
    return { ok: true as const };
  },
});

export const disableTotp = mutation({
  name: 'user.disableTotp',
  summary:
    'Turn two-factor sign-in off, with a code of the authenticator or a backup code; other sessions end',
  role: 'VIEWER',
  audit: 'user.twoFactorDisabled',
  input: TotpCode,
  output: Done,
  scope: () => ownScope,
  async prepare(ctx, input) {
    const user = await getCallerAccount(ctx);
    assertTwoFactorOn(user);
    const teams = await teamsRequiringTwoFactor(ctx.db, user.id);
    if (teams.length > 0)
      throw preconditionFailed(
        `Two-factor sign-in is required by ${teams.length === 1 ? 'the team' : 'the teams'} ${teams.join(', ')}`,
      );
    return confirmIdentity(ctx, user, {
      verify: () => consumeCode(ctx, user, input.code),
      refusal: WRONG_CODE,
    });
  },
  async run(ctx, _, factor) {
    const user = await lockCallerAccount(ctx);
    assertTwoFactorOn(user);
    await turnOffTwoFactor(ctx.db, user.id);
    await endOtherSessions(ctx);
    ctx.audit({
      entityType: 'User',
      entityId: user.id,
      diff: { twoFactorEnabled: [true, false] },
      metadata: { name: user.name, factor },
    });
    return { ok: true as const };
  },
});

export const renewBackupCodes = mutation({
  name: 'user.renewBackupCodes',
  summary: 'Create ten new backup codes, with a code of the authenticator or a backup code; the old ones end',
  role: 'VIEWER',
  audit: 'user.backupCodesRenewed',
  input: TotpCode,
  output: BackupCodes,
  scope: () => ownScope,
  async prepare(ctx, input) {
    const user = await getCallerAccount(ctx);
    assertTwoFactorOn(user);
    return confirmIdentity(ctx, user, {
      verify: () => consumeCode(ctx, user, input.code),
      refusal: WRONG_CODE,
    });
  },
  async run(ctx, _, factor) {
    const user = await lockCallerAccount(ctx);
    assertTwoFactorOn(user);
    const backupCodes = newBackupCodes();
    await replaceBackupCodes(ctx.db, user.id, hashesOf(backupCodes));
    ctx.audit({ entityType: 'User', entityId: user.id, metadata: { name: user.name, factor } });
    return { backupCodes };
  },
});
