/** Second factors: the sealed secret of the authenticator, the last step whose code was taken, backup codes as hashes. */
import type { Knex } from 'knex';

/** Not in force until it is turned on. Backup codes that there were do not count any more. */
export async function setPending(
  tx: Knex,
  userId: string,
  pending: { sealedSecret: string; codeHashes: readonly Buffer[] },
): Promise<void> {
  await tx('users')
    .where({ id: userId })
    .update({ sealed_totp_secret: pending.sealedSecret, totp_last_step: null, updated_at: tx.fn.now() });
  await replaceBackupCodes(tx, userId, pending.codeHashes);
}

/** With the step of the code that showed the authenticator to work. */
export async function turnOn(tx: Knex, userId: string, step: number): Promise<void> {
  await tx('users')
    .where({ id: userId })
    .update({ totp_enabled: true, totp_last_step: step, updated_at: tx.fn.now() });
}

/** In a transaction: nothing is left of it. */
export async function turnOffTwoFactor(tx: Knex, userId: string): Promise<void> {
  await tx('users').where({ id: userId }).update({
    totp_enabled: false,
    sealed_totp_secret: null,
    totp_last_step: null,
    updated_at: tx.fn.now(),
  });
  await tx('totp_backup_codes').where({ user_id: userId }).delete();
}

export async function replaceBackupCodes(
  tx: Knex,
  userId: string,
  codeHashes: readonly Buffer[],
): Promise<void> {
  await tx('totp_backup_codes').where({ user_id: userId }).delete();
  await tx('totp_backup_codes').insert(
    codeHashes.map((codeHash) => ({ user_id: userId, code_hash: codeHash })),
  );
}

/** Each step once, and none before one that was taken: true for the one who comes first. RFC 6238 section 5.2. */
export async function takeStep(db: Knex, userId: string, step: number): Promise<boolean> {
  const taken = await db('users')
    .where({ id: userId, totp_enabled: true })
    .where((q) => q.whereNull('totp_last_step').orWhere('totp_last_step', '<', step))
    .update({ totp_last_step: step });
  return taken > 0;
}

/** Each code once: true for the one who comes first. */
export async function takeBackupCode(
  db: Knex,
  userId: string,
  { codeHash, at }: { codeHash: Buffer; at: Date },
): Promise<boolean> {
  const taken = await db('totp_backup_codes')
    .where({ user_id: userId, code_hash: codeHash, used_at: null })
    .update({ used_at: at });
  return taken > 0;
}

/** Names of the teams of somebody that ask for a second factor. */
export async function teamsRequiringTwoFactor(db: Knex, userId: string): Promise<string[]> {
  return db('team_members as m')
    .join('teams as t', 't.id', 'm.team_id')
    .where({ 'm.user_id': userId, 't.require_two_factor': true })
    .orderBy('t.name')
    .pluck('t.name');
}
