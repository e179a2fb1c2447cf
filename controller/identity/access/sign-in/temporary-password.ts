/** Passwords that somebody else has seen: random, for three days, and good for nothing but their own change. ASVS 6.4.1. */
import { randomInt } from 'node:crypto';
import type { Context } from '../../../platform/operation/context.ts';
import type { User } from '../users/users-store.ts';
import { hashPassword } from './passwords.ts';

const VALID_MS = 3 * 24 * 3_600_000;
/** Without those that look alike. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const LENGTH = 20;

export interface TemporaryPassword {
  /** Shown once to whoever asked for it. */
  password: string;
  passwordHash: string;
  expiresAt: Date;
}

export async function makeTemporaryPassword(ctx: Pick<Context, 'clock'>): Promise<TemporaryPassword> {
  const password = Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return {
    password,
    passwordHash: await hashPassword(password),
    expiresAt: new Date(ctx.clock.now() + VALID_MS),
  };
}

/** Whether there is a password that lets its owner in, at `now` in milliseconds: a temporary one ends. */
export const signsInByPassword = (
  { passwordHash, passwordExpiresAt }: Pick<User, 'passwordHash' | 'passwordExpiresAt'>,
  now: number,
): boolean => passwordHash !== null && (passwordExpiresAt === null || passwordExpiresAt.getTime() > now);
