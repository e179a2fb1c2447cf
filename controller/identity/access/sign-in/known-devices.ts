/**
 * Recognises devices from which a user has signed in before, so that guesses of others do not lock the user out there: OWASP's
 * device cookies (https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies). Nothing is stored:
 * the token names the device and is signed together with the user and the password hash, so that a new password ends it.
 */
import type { Context } from '../../../platform/operation/context.ts';
import { newId } from '../../../platform/operation/ids.ts';
import type { User } from '../users/users-store.ts';

const VALID_MS = 180 * 24 * 3_600_000;
const PURPOSE = 'known device v1';
const FORM = /^([0-9a-z]{26})\.([0-9]{13,15})\.([0-9a-f]{8}\.[0-9A-Za-z_-]{43})$/;

export interface DeviceToken {
  /** For a cookie of this device. It does not authenticate anybody. */
  token: string;
  expiresAt: Date;
}

type Account = Pick<User, 'id' | 'passwordHash'>;

const signedText = (user: Account, deviceId: string, expiresAt: number): string =>
  [user.id, user.passwordHash, deviceId, expiresAt].join('\n');

/** Call it after a sign-in by password. */
export function issueDeviceToken(ctx: Pick<Context, 'clock' | 'services'>, user: Account): DeviceToken {
  const deviceId = newId();
  const expiresAt = ctx.clock.now() + VALID_MS;
  const signature = ctx.services.keyring.sign(signedText(user, deviceId, expiresAt), PURPOSE);
  return { token: `${deviceId}.${expiresAt}.${signature}`, expiresAt: new Date(expiresAt) };
}

/** The id of the device; null where the token is not valid for this user and password, or has expired. */
export function verifyDeviceToken(
  ctx: Pick<Context, 'clock' | 'services'>,
  user: Account,
  token: string,
): string | null {
  const [, deviceId, expires, signature] = FORM.exec(token) ?? [];
  if (deviceId === undefined || expires === undefined || signature === undefined) return null;
  const expiresAt = Number(expires);
  if (user.passwordHash === null || expiresAt <= ctx.clock.now()) return null;
  const text = signedText(user, deviceId, expiresAt);
  return ctx.services.keyring.isSigned(text, signature, PURPOSE) ? deviceId : null;
}
