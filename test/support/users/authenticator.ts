/** An authenticator app, as people have it on their phones. */
import { generateSync } from 'otplib';
import type { TestUser } from './person.ts';

export const STEP_MS = 30_000;

/** The code of now, or of `steps` later; all within one of the server's are good. */
export const codeOf = (secret: string, { now = Date.now(), steps = 0 } = {}): string =>
  generateSync({ secret, epoch: Math.floor((now + steps * STEP_MS) / 1_000) });

export interface Enrolled {
  secret: string;
  backupCodes: string[];
}

/** Turns two-factor sign-in on, as the settings page does, and uses up the code of the step before: that of now is left. */
export async function enrollAuthenticator(person: TestUser): Promise<Enrolled> {
  const { secret, backupCodes } = await person.mutate<Enrolled>('user.setupTotp');
  const verify = () => person.mutate('user.verifyAndEnableTotp', { code: codeOf(secret, { steps: -1 }) });
  // Once more where a step has ended on the way.
  await verify().catch(verify);
  return { secret, backupCodes };
}
