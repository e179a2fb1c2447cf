/** argon2id, by Node's own. Parameters travel in the hash (PHC form), so that they can rise later. */
import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';

/** OWASP ASVS 5.0 appendix C: at least 46 MiB, one pass, one lane. */
const CURRENT = { memory: 47_104, passes: 1, parallelism: 1 };
const TAG_BYTES = 32;

function derive(password: string, nonce: Buffer, parameters: typeof CURRENT): Promise<Buffer> {
  const options: Argon2Parameters = {
    message: password.normalize('NFKC'),
    nonce,
    tagLength: TAG_BYTES,
    ...parameters,
  };
  return new Promise((resolve, reject) => {
    argon2('argon2id', options, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

const b64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');

export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await derive(password, nonce, CURRENT);
  return `$argon2id$v=19$m=${CURRENT.memory},t=${CURRENT.passes},p=${CURRENT.parallelism}$${b64(nonce)}$${b64(tag)}`;
}

const FORM = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
const NOBODY = hashPassword(randomBytes(16).toString('hex'));

/** A null hash takes as long as a real one, so that time does not tell who has an account. */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const parts = FORM.exec(stored ?? (await NOBODY));
  if (!parts) return false;
  const tag = await derive(password, Buffer.from(parts[4]!, 'base64'), {
    memory: Number(parts[1]),
    passes: Number(parts[2]),
    parallelism: Number(parts[3]),
  });
  const expected = Buffer.from(parts[5]!, 'base64');
  return stored !== null && expected.length === tag.length && timingSafeEqual(expected, tag);
}
