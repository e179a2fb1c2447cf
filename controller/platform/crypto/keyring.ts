/**
 * Encryption at rest: AES-256-GCM, a random 96-bit nonce, the key's id in the text, and the place where the text is
 * stored as additional data, so that a text moved to another row does not open.
 *
 * There may be several keys: the newest seals, and each text is opened with the one whose id it carries.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

export interface Keyring {
  /** Names the newest key, the one that seals, without revealing it. */
  readonly fingerprint: string;
  /** Of every key, the newest first. */
  readonly fingerprints: readonly string[];
  seal(plain: string, place: string): string;
  /** Throws where the text was changed, moved, or sealed with a key that is not here. */
  open(sealed: string, place: string): string;
  /** A signature that only these keys make, and only for this purpose: `<key id>.<HMAC-SHA256>`. */
  sign(text: string, purpose: string): string;
  /** Whether `sign` made it of this text for this purpose, with any of the keys. */
  isSigned(text: string, signature: string, purpose: string): boolean;
  /** Reads the key file again; true when the keys changed. */
  reload(): boolean;
}

export class KeyringError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'KeyringError';
  }
}

interface Key {
  id: string;
  fingerprint: string;
  bytes: Buffer;
  /** 32 bytes for one purpose, which tell nothing of the key nor of those for other purposes: HKDF-SHA256, RFC 5869. */
  derive(purpose: string): Buffer;
}

const REFUSED = new Set(['change-me', 'changeme', 'secret', 'password', 'headgate', 'default']);
/** An unknown key id makes it look for new keys, but texts of a lost key must not keep the disk busy. */
const RELOAD_REST_MS = 1_000;

/** Stands in each text that the key sealed. */
export const keyIdOf = (fingerprint: string): string => fingerprint.slice(0, 8);

/** How every text begins that the key sealed. */
export const sealedPrefix = (fingerprint: string): string => `v1.${keyIdOf(fingerprint)}.`;

/**
 * `secrets`, the newest first: HEADGATE_SECRET_KEY and earlier ones, each of at least 32 characters and no published
 * default. `reread` is asked when a text names a key that is not known.
 */
export function createKeyring(
  secrets: string | readonly string[],
  reread?: () => readonly string[],
): Keyring {
  let keys = keysOf(typeof secrets === 'string' ? [secrets] : secrets);
  let reloadedAt = Number.NEGATIVE_INFINITY;

  function reload(): boolean {
    if (!reread) return false;
    reloadedAt = performance.now();
    const before = keys.map((key) => key.id).join();
    keys = keysOf(reread());
    return keys.map((key) => key.id).join() !== before;
  }
  function find(id: string | undefined): Key | undefined {
    const known = keys.find((key) => key.id === id);
    if (known || performance.now() - reloadedAt < RELOAD_REST_MS) return known;
    try {
      reload();
    } catch {
      // The keys cannot be read at the moment: those that are known go on.
    }
    return keys.find((key) => key.id === id);
  }

  return {
    get fingerprint() {
      return newest(keys).fingerprint;
    },
    get fingerprints() {
      return keys.map((key) => key.fingerprint);
    },
    reload,
    sign(text, purpose) {
      const key = newest(keys);
      return `${key.id}.${hmac(key.derive(purpose), text).toString('base64url')}`;
    },
    isSigned(text, signature, purpose) {
      const [keyId, mac = ''] = signature.split('.');
      const key = find(keyId);
      const given = Buffer.from(mac, 'base64url');
      return (
        key !== undefined && given.length === 32 && timingSafeEqual(given, hmac(key.derive(purpose), text))
      );
    },
    seal(plain, place) {
      const key = newest(keys);
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce);
      cipher.setAAD(Buffer.from(place));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${sealedPrefix(key.fingerprint)}${nonce.toString('base64url')}.${body.toString('base64url')}`;
    },
    open(sealed, place) {
      const [version, sealedWith, nonce, body] = sealed.split('.');
      if (version !== 'v1' || !nonce || !body) throw new KeyringError('not a sealed text');
      const key = find(sealedWith);
      if (!key) {
        throw new KeyringError(
          `sealed with key ${sealedWith}, this controller has ${keys.map(({ id }) => id).join(', ')}; after a rotation restart it with the new HEADGATE_SECRET_KEY, otherwise give the missing key in HEADGATE_PREVIOUS_SECRET_KEYS`,
        );
      }
      const bytes = Buffer.from(body, 'base64url');
      if (bytes.length < 16) throw new KeyringError('not a sealed text');
      const decipher = createDecipheriv('aes-256-gcm', key.bytes, Buffer.from(nonce, 'base64url'));
      decipher.setAAD(Buffer.from(place));
      decipher.setAuthTag(bytes.subarray(-16));
      try {
        return decipher.update(bytes.subarray(0, -16), undefined, 'utf8') + decipher.final('utf8');
      } catch {
        throw new KeyringError('a sealed text does not open: it was changed or moved');
      }
    },
  };
}

function keysOf(secrets: readonly string[]): readonly Key[] {
  if (secrets.length === 0) throw new KeyringError('there is no secret key; set HEADGATE_SECRET_KEY');
  return secrets.map(keyOf).filter((key, index, all) => all.findIndex(({ id }) => id === key.id) === index);
}

/** `keysOf` never answers an empty list. */
const newest = (keys: readonly Key[]): Key => keys[0] as Key;

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

function keyOf(secret: string, position: number): Key {
  const name =
    position === 0
      ? 'HEADGATE_SECRET_KEY'
      : `earlier key ${position} (HEADGATE_PREVIOUS_SECRET_KEYS, or a line of the file secret-key)`;
  if (REFUSED.has(secret.trim().toLowerCase()) || /^(.)\1*$/.test(secret)) {
    throw new KeyringError(`${name} is a well-known value; make one with: openssl rand -hex 32`);
  }
  if (secret.length < 32) {
    throw new KeyringError(`${name} is shorter than 32 characters; make one with: openssl rand -hex 32`);
  }
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, 'headgate', purpose, 32));
  const bytes = derive('at-rest v1');
  const fingerprint = createHash('sha256').update('fingerprint').update(bytes).digest('hex').slice(0, 16);
  return { id: keyIdOf(fingerprint), fingerprint, bytes, derive };
}
