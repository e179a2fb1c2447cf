/** Hashes passwords with Node's argon2id. The hash contains its parameters (PHC form), so that they can be raised later. */
import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import pLimit from 'p-limit';
import { DomainError } from '../../../platform/operation/errors.ts';

/** Memory in KiB. */
export interface PasswordCost {
  memory: number;
  passes: number;
  parallelism: number;
}

/** OWASP ASVS 5.0 appendix C: at least 46 MiB, one pass, one lane. */
const STRONG: PasswordCost = { memory: 47_104, passes: 1, parallelism: 1 };
const TAG_BYTES = 32;

/** Of the four threads of libuv's pool, which file and DNS requests need too: sign-ins must not occupy them all. */
const CONCURRENCY = 2;
/** A hash takes tens of milliseconds. Beyond this queue a sign-in is rejected with a retry time. */
const MAX_WAITING = 64;

export interface Passwords {
  /** @throws UNAVAILABLE with the seconds to wait, where too many sign-ins wait already. */
  hash(password: string): Promise<string>;
  /**
   * A null hash takes as long as a real one, so that the time does not reveal whether an account exists.
   * @throws UNAVAILABLE where too many sign-ins wait already.
   */
  verify(password: string, stored: string | null): Promise<boolean>;
  /** Whether a hash is weaker than the current cost. The next sign-in, which has the password, replaces it. */
  isOutdated(stored: string): boolean;
}

declare module '../../../platform/operation/context.ts' {
  interface Services {
    passwords: Passwords;
  }
}

/** Only tests give another cost: no setting of an installation leads here. */
export function createPasswords(cost: PasswordCost = STRONG): Passwords {
  const hashing = pLimit(CONCURRENCY);

  function derive(password: string, nonce: Buffer, parameters: PasswordCost): Promise<Buffer> {
    if (hashing.pendingCount >= MAX_WAITING)
      throw new DomainError(
        'UNAVAILABLE',
        'Too many users are signing in right now. Try again in 5 seconds',
        {
          retryAfterSeconds: 5,
        },
      );
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

  async function hash(password: string): Promise<string> {
    const nonce = randomBytes(16);
    return format(cost, nonce, await derive(password, nonce, cost));
  }

  const nobody = hash(randomBytes(16).toString('hex'));

  return {
    hash,
    async verify(password, stored) {
      const known = read(stored ?? (await nobody));
      if (!known) return false;
      const tag = await derive(password, known.nonce, known.cost);
      return stored !== null && known.tag.length === tag.length && timingSafeEqual(known.tag, tag);
    },
    isOutdated(stored) {
      const known = read(stored);
      return !known || known.cost.memory < cost.memory || known.cost.passes < cost.passes;
    },
  };
}

const FORM = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

function format({ memory, passes, parallelism }: PasswordCost, nonce: Buffer, tag: Buffer): string {
  const b64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${b64(nonce)}$${b64(tag)}`;
}

function read(stored: string): { cost: PasswordCost; nonce: Buffer; tag: Buffer } | null {
  const parts = FORM.exec(stored);
  if (!parts) return null;
  const [memory, passes, parallelism] = parts.slice(1, 4).map(Number) as [number, number, number];
  const [nonce, tag] = parts.slice(4).map((part) => Buffer.from(part, 'base64')) as [Buffer, Buffer];
  return { cost: { memory, passes, parallelism }, nonce, tag };
}
