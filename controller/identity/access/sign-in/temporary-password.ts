/** Temporary passwords, which an administrator has seen: random, valid for three days, and only for setting a new one. ASVS 6.4.1. */
import { randomInt } from 'node:crypto';
import type { Context } from '../../../platform/operation/context.ts';
import type { User } from '../users/users-store.ts';

const VALID_MS = 3 * 24 * 3_600_000;
/** Without letters that look alike. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const LENGTH = 20;

export interface TemporaryPassword {
  /** Returned once to the administrator. */
  password: string;
  passwordHash: string;
  expiresAt: Date;
}

export async function createTemporaryPassword(
  ctx: Pick<Context, 'clock' | 'services'>,
): Promise<TemporaryPassword> {
  const password = Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return {
    password,
    passwordHash: await ctx.services.passwords.hash(password),
    expiresAt: new Date(ctx.clock.now() + VALID_MS),
  };
}

/** Whether the user has a password that is valid at `now` (milliseconds): a temporary password expires. */
export const hasValidPassword = (
  { passwordHash, passwordExpiresAt }: Pick<User, 'passwordHash' | 'passwordExpiresAt'>,
  now: number,
): boolean => passwordHash !== null && (passwordExpiresAt === null || passwordExpiresAt.getTime() > now);
