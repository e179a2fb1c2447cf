/**
 * Codes of an authenticator (RFC 6238: SHA-1, six digits, 30 s) and backup codes. Pure, except for the randomness of new secrets
 * and codes.
 */
import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { hashSecret } from '../../../platform/crypto/tokens.ts';

const STEP_SECONDS = 30;
/** Crockford's base 32, without i, l, o and u: five bits each. */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';
const BACKUP_LETTERS = 24;
const BACKUP_CODES = 10;

/** Base 32, 160 bits, as RFC 4226 section 4 recommends. */
export const newTotpSecret = (): string => new Secret({ size: 20 }).base32;

/** The content of the QR code. The authenticator displays the address beside the name. */
export const totpUri = (email: string, secret: string): string =>
  new TOTP({ issuer: 'Headgate', label: email, secret, period: STEP_SECONDS }).toString();

/**
 * The 30 s step that a code belongs to: the step of `now` (milliseconds), the one before or the one after (ASVS 5.0 6.5.5, RFC
 * 6238 section 5.2). Null for a wrong code. The caller checks that the step was not used before.
 */
export function matchTotpStep(secret: string, code: string, now: number): number | null {
  const token = code.replaceAll(/[\s-]/g, '');
  if (!/^[0-9]{6}$/.test(token)) return null;
  const delta = TOTP.validate({
    secret: Secret.fromBase32(secret),
    token,
    timestamp: now,
    period: STEP_SECONDS,
    window: 1,
  });
  return delta === null ? null : Math.floor(now / 1_000 / STEP_SECONDS) + delta;
}

/** Ten codes of 120 bits each (ASVS 5.0 6.5.2: from 112 bits on, a plain hash protects them), in groups of four. */
export function newBackupCodes(): string[] {
  return Array.from({ length: BACKUP_CODES }, () => {
    // 256 is a multiple of 32, so every letter is equally likely.
    const letters = [...randomBytes(BACKUP_LETTERS)].map((byte) => LETTERS[byte % LETTERS.length]).join('');
    return (letters.match(/.{4}/g) ?? []).join('-');
  });
}

/** Null for a text that is not a backup code. Case, dashes, spaces and letters that look alike do not matter. */
export function hashBackupCode(code: string): Buffer | null {
  const plain = code.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1');
  return plain.length === BACKUP_LETTERS && [...plain].every((letter) => LETTERS.includes(letter))
    ? hashSecret(plain)
    : null;
}
