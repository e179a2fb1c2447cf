/** Second factors: the sealed secret of the authenticator, the last used step, and backup codes as hashes. */
import type { Knex } from 'knex';

/** Stores a secret that is not in force until `turnOn`. Earlier backup codes end. */
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

/** `step` belongs to the code that proved the authenticator. */
export async function turnOn(tx: Knex, userId: string, step: number): Promise<void> {
  await tx('users')
    .where({ id: userId })
    .update({ totp_enabled: true, totp_last_step: step, updated_at: tx.fn.now() });
}

/** Runs in a transaction and deletes the secret and all backup codes. */
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

/** Each step works once, and no step before a used one. True for the first caller. RFC 6238 section 5.2. */
export async function consumeTotpStep(db: Knex, userId: string, step: number): Promise<boolean> {
  const taken = await db('users')
    .where({ id: userId, totp_enabled: true })
    .where((q) => q.whereNull('totp_last_step').orWhere('totp_last_step', '<', step))
    .update({ totp_last_step: step });
  return taken > 0;
}

/** Each code works once. True for the first caller. */
export async function consumeBackupCode(
  db: Knex,
  userId: string,
  { codeHash, at }: { codeHash: Buffer; at: Date },
): Promise<boolean> {
  const taken = await db('totp_backup_codes')
    .where({ user_id: userId, code_hash: codeHash, used_at: null })
    .update({ used_at: at });
  return taken > 0;
}

/** Names of the user's teams that require a second factor. */
export async function teamsRequiringTwoFactor(db: Knex, userId: string): Promise<string[]> {
  return db('team_members as m')
    .join('teams as t', 't.id', 'm.team_id')
    .where({ 'm.user_id': userId, 't.require_two_factor': true })
    .orderBy('t.name')
    .pluck('t.name');
}
