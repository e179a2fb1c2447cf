/** argon2id, by Node's own. Parameters travel in the hash (PHC form), so that they can rise later. */
import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import pLimit from 'p-limit';
import { DomainError } from '../../../platform/operation/errors.ts';

/** OWASP ASVS 5.0 appendix C: at least 46 MiB, one pass, one lane. */
const CURRENT = { memory: 47_104, passes: 1, parallelism: 1 };
const TAG_BYTES = 32;

type Parameters = typeof CURRENT;

/** Of the process' four threads, on which files and names are looked up too: guesses must not take them all. */
const AT_ONCE = 2;
/** A hash takes tens of milliseconds: whoever waits longer than for these is told to come again. */
const MAX_WAITING = 64;
const hashing = pLimit(AT_ONCE);

/** @throws UNAVAILABLE with the seconds to wait, where too many wait already. */
function derive(password: string, nonce: Buffer, parameters: Parameters): Promise<Buffer> {
  if (hashing.pendingCount >= MAX_WAITING)
    throw new DomainError('UNAVAILABLE', 'Too many people sign in at this moment. Try again in 5 seconds', {
      retryAfterSeconds: 5,
    });
  const options: Argon2Parameters = {
    message: password.normalize('NFKC'),
    nonce,
    tagLength: TAG_BYTES,
    ...parameters,
  };
  return hashing(
    () =>
      new Promise<Buffer>((resolve, reject) => {
        argon2('argon2id', options, (error, key) => (error ? reject(error) : resolve(key)));
      }),
  );
}

const b64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');

/** `parameters` are those of now, but where a test wants a hash of earlier years. */
export async function hashPassword(password: string, parameters: Parameters = CURRENT): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await derive(password, nonce, parameters);
  const { memory, passes, parallelism } = parameters;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${b64(nonce)}$${b64(tag)}`;
}

const FORM = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
const NOBODY = hashPassword(randomBytes(16).toString('hex'));

function read(stored: string): { parameters: Parameters; nonce: Buffer; tag: Buffer } | null {
  const parts = FORM.exec(stored);
  if (!parts) return null;
  const [memory, passes, parallelism] = parts.slice(1, 4).map(Number) as [number, number, number];
  const [nonce, tag] = parts.slice(4).map((part) => Buffer.from(part, 'base64')) as [Buffer, Buffer];
  return { parameters: { memory, passes, parallelism }, nonce, tag };
}

/**
 * A null hash takes as long as a real one, so that time does not tell who has an account.
 * @throws UNAVAILABLE where too many wait already.
 */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const known = read(stored ?? (await NOBODY));
  if (!known) return false;
  const tag = await derive(password, known.nonce, known.parameters);
  return stored !== null && known.tag.length === tag.length && timingSafeEqual(known.tag, tag);
}

/** Whether a hash is weaker than one that is made today: the next sign-in, which has the password, makes it anew. */
export function isOutdated(stored: string): boolean {
  const known = read(stored);
  return !known || known.parameters.memory < CURRENT.memory || known.parameters.passes < CURRENT.passes;
}
