/** Private keys for ssh: the file that ssh reads, and the public half. */
import { createPrivateKey, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';

export interface SshKey {
  /** The content of a file that every ssh client reads. */
  file: string;
  /** A line for the server: `ssh-ed25519 AAAA…`. */
  publicKey: string;
}

/** The message names what to give instead. It holds nothing of the key. */
export class SshKeyError extends Error {
  override readonly name = 'SshKeyError';
}

const NEW_ONE = "make one with: ssh-keygen -t ed25519 -N '' -f deploy-key";
const BEGIN = '-----BEGIN OPENSSH PRIVATE KEY-----';
const END = '-----END OPENSSH PRIVATE KEY-----';
const MAGIC = Buffer.from('openssh-key-v1\0');

/** Reads OpenSSH's own format, and PEM as openssl writes it. @throws SshKeyError */
export function readSshKey(text: string): SshKey {
  const key = `${text.replaceAll('\r\n', '\n').trim()}\n`;
  if (/^(?:ssh-|ecdsa-)/.test(key))
    throw new SshKeyError('this is the public half of a key; give the private one, which stays in Headgate');
  if (key.includes(BEGIN)) return { file: key, publicKey: publicKeyInside(key) };
  if (/ENCRYPTED/.test(key)) throw new SshKeyError(`the key has a passphrase; ${NEW_ONE}`);
  let parsed: KeyObject;
  try {
    parsed = createPrivateKey(key);
  } catch {
    throw new SshKeyError(`this is not a private key in OpenSSH or PEM form; ${NEW_ONE}`);
  }
  const blob = publicBlob(parsed);
  const type = blob.subarray(4, 4 + blob.readUInt32BE(0)).toString('latin1');
  const publicKey = `${type} ${blob.toString('base64')}`;
  // Clients before OpenSSH 9.6 cannot read Ed25519 keys in PEM.
  return { file: type === 'ssh-ed25519' ? openSshFile(parsed, blob) : key, publicKey };
}

/** PROTOCOL.key of OpenSSH: magic, cipher, kdf and its options, number of keys, the public key, then the private part. */
function publicKeyInside(pem: string): string {
  const body = pem.slice(pem.indexOf(BEGIN) + BEGIN.length, pem.indexOf(END));
  const bytes = Buffer.from(body, 'base64');
  const reader = { at: MAGIC.length };
  const next = (): Buffer => {
    if (reader.at + 4 > bytes.length) throw new SshKeyError(`the key is not complete; ${NEW_ONE}`);
    const size = bytes.readUInt32BE(reader.at);
    reader.at += 4 + size;
    if (reader.at > bytes.length) throw new SshKeyError(`the key is not complete; ${NEW_ONE}`);
    return bytes.subarray(reader.at - size, reader.at);
  };
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC) || !pem.includes(END))
    throw new SshKeyError(`the key is not complete; ${NEW_ONE}`);
  const cipher = next().toString('latin1');
  next();
  next();
  reader.at += 4;
  const blob = next();
  if (next().length === 0) throw new SshKeyError(`the key is not complete; ${NEW_ONE}`);
  if (cipher !== 'none') throw new SshKeyError(`the key has a passphrase; ${NEW_ONE}`);
  const type = blob.subarray(4, 4 + (blob.length > 4 ? blob.readUInt32BE(0) : 0)).toString('latin1');
  if (!/^[a-z0-9@.-]{4,64}$/.test(type)) throw new SshKeyError(`the key is not complete; ${NEW_ONE}`);
  return `${type} ${blob.toString('base64')}`;
}

const sshString = (bytes: Buffer | string): Buffer => {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(Buffer.byteLength(bytes));
  return Buffer.concat([size, Buffer.from(bytes)]);
};

/** A number without leading zeros, but with one before a set first bit. */
function mpint(base64url: string): Buffer {
  let bytes = Buffer.from(base64url, 'base64url');
  while (bytes[0] === 0) bytes = bytes.subarray(1);
  return sshString((bytes[0] ?? 0) > 0x7f ? Buffer.concat([Buffer.of(0), bytes]) : bytes);
}

const CURVES: Record<string, string> = { 'P-256': 'nistp256', 'P-384': 'nistp384', 'P-521': 'nistp521' };

/** RFC 4253 6.6, RFC 5656 3.1, RFC 8709 4. */
function publicBlob(key: KeyObject): Buffer {
  const jwk = createPublicKey(key).export({ format: 'jwk' });
  if (jwk.kty === 'RSA') return Buffer.concat([sshString('ssh-rsa'), mpint(jwk.e ?? ''), mpint(jwk.n ?? '')]);
  const curve = CURVES[jwk.crv ?? ''];
  if (jwk.kty === 'EC' && curve) {
    const [x, y] = [jwk.x, jwk.y].map((part) => Buffer.from(part ?? '', 'base64url'));
    const point = Buffer.concat([Buffer.of(4), x ?? Buffer.of(), y ?? Buffer.of()]);
    return Buffer.concat([sshString(`ecdsa-sha2-${curve}`), sshString(curve), sshString(point)]);
  }
  if (jwk.kty === 'OKP' && jwk.crv === 'Ed25519')
    return Buffer.concat([sshString('ssh-ed25519'), sshString(Buffer.from(jwk.x ?? '', 'base64url'))]);
  throw new SshKeyError(`ssh does not support keys of this type; ${NEW_ONE}`);
}

function openSshFile(key: KeyObject, blob: Buffer): string {
  const { d = '', x = '' } = key.export({ format: 'jwk' });
  const pair = Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]);
  const check = randomBytes(4);
  const inner = Buffer.concat([check, check, blob, sshString(pair), sshString('')]);
  // Padded with 1, 2, 3, … to blocks of 8 bytes.
  const padding = Buffer.from(Array.from({ length: (8 - (inner.length % 8)) % 8 }, (_, at) => at + 1));
  const one = Buffer.alloc(4);
  one.writeUInt32BE(1);
  const whole = Buffer.concat([
    MAGIC,
    sshString('none'),
    sshString('none'),
    sshString(''),
    one,
    sshString(blob),
    sshString(Buffer.concat([inner, padding])),
  ]);
  const lines = whole.toString('base64').match(/.{1,70}/g) ?? [];
  return [BEGIN, ...lines, END, ''].join('\n');
}
