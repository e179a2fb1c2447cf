import { turnOffTwoFactor } from '../../../../controller/identity/access/second-factor/store.ts';
import { insertSession } from '../../../../controller/identity/access/sessions/sessions-store.ts';
import { setOwnPassword } from '../../../../controller/identity/access/users/users-store.ts';
import { mintToken } from '../../../../controller/platform/crypto/tokens.ts';
import type { Side } from '../../scenes/two-teams.ts';
import { codeOf, enrollAuthenticator } from '../../users/authenticator.ts';
import { cheapPasswords } from '../../users/passwords.ts';
import { NOTHING, PASSWORD, type TestUser } from '../../users/person.ts';
import type { Rows } from './row.ts';

let hashed: Promise<string> | undefined;

async function idOf({ db }: Side, { email }: TestUser): Promise<string> {
  return (await db('users').where({ email }).first('id')).id;
}

/** Whatever the call before has made of it. */
async function knownPassword(side: Side, caller: TestUser): Promise<void> {
  hashed ??= cheapPasswords.hash(PASSWORD);
  await setOwnPassword(side.db, await idOf(side, caller), { passwordHash: await hashed, at: new Date() });
}

async function withoutSecondFactor(side: Side, caller: TestUser): Promise<void> {
  await turnOffTwoFactor(side.db, await idOf(side, caller));
}

async function withSecondFactor(side: Side, caller: TestUser) {
  await withoutSecondFactor(side, caller);
  const { backupCodes } = await enrollAuthenticator(caller);
  return { code: backupCodes[0] ?? '' };
}

/** On another machine. */
async function freshSession(side: Side, caller: TestUser) {
  const { id, hash } = mintToken('hgs');
  await insertSession(side.db, {
    ...{ id, tokenHash: hash, userId: await idOf(side, caller), method: 'password' },
    ...{
      sealedIdToken: null,
      provider: null,
      secondFactor: null,
      ipAddress: '192.0.2.7',
      userAgent: 'curl/8',
    },
    confirmedAt: new Date(),
    expiresAt: new Date(Date.now() + 60_000),
  });
  return { id };
}

export const OWN_ACCOUNT: Rows = {
  'user.changePassword': {
    names: 'own',
    input: async (side, n, caller) => {
      await knownPassword(side, caller);
      return { currentPassword: PASSWORD, newPassword: `${PASSWORD} ${n}` };
    },
  },
  'user.confirmPassword': {
    names: 'own',
    input: async (side, _, caller) => {
      await knownPassword(side, caller);
      return { currentPassword: PASSWORD };
    },
  },
  'user.updateProfile': { names: 'own', input: (_, n) => ({ name: `Ada ${n}` }) },
  'user.setupTotp': {
    names: 'own',
    input: async (side, _, caller) => {
      await withoutSecondFactor(side, caller);
      return NOTHING;
    },
  },
  'user.verifyAndEnableTotp': {
    names: 'own',
    input: async (side, _, caller) => {
      await withoutSecondFactor(side, caller);
      const { secret } = await caller.mutate<{ secret: string }>('user.setupTotp');
      return { code: codeOf(secret) };
    },
  },
  'user.proveTwoFactor': { names: 'own', input: (side, _, caller) => withSecondFactor(side, caller) },
  'user.disableTotp': { names: 'own', input: (side, _, caller) => withSecondFactor(side, caller) },
  'user.renewBackupCodes': { names: 'own', input: (side, _, caller) => withSecondFactor(side, caller) },
  'user.listSessions': { names: 'own', input: () => NOTHING },
  'user.endSession': { names: 'own', input: (side, _, caller) => freshSession(side, caller) },
  'user.endOtherSessions': { names: 'own', input: () => NOTHING },
};
