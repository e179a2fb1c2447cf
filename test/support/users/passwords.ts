import { createPasswords, type PasswordCost } from '../../../controller/identity/access/sign-in/passwords.ts';

/** A hash takes microseconds: tests sign in thousands of times, and nobody attacks their databases. */
export const CHEAP: PasswordCost = { memory: 64, passes: 1, parallelism: 1 };

export const cheapPasswords = createPasswords(CHEAP);
