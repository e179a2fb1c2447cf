/** Credentials of a remote: sealing and opening them, what may be shown of them, and keeping them out of texts. */
import type { Static } from 'typebox';
import type { ShownGitCredentials } from '../../../../schemas/api/delivery/forges.ts';
import type { Keyring } from '../../../platform/crypto/keyring.ts';
import { sealingContext } from '../../../platform/crypto/sealed-columns.ts';
import type { RemoteAddress } from './address.ts';
import type { OpenedCredentials } from './github-app.ts';
import { readSshKey } from './ssh-key.ts';

/** The message names what to give instead. */
export class CredentialsError extends Error {
  override readonly name = 'CredentialsError';
}

const NONE: OpenedCredentials = { type: 'none' };

/** Returns null when there is nothing to seal. */
export function sealCredentials(
  keyring: Keyring,
  bindingId: string,
  credentials: OpenedCredentials,
): string | null {
  if (credentials.type === 'none') return null;
  return keyring.seal(JSON.stringify(credentials), sealingContext('git_bindings', bindingId));
}

/** @throws KeyringError when no key opens them */
export function openCredentials(
  keyring: Keyring,
  binding: { id: string; sealedCredentials: string | null },
): OpenedCredentials {
  if (binding.sealedCredentials === null) return NONE;
  return JSON.parse(keyring.open(binding.sealedCredentials, sealingContext('git_bindings', binding.id)));
}

/** @throws CredentialsError when they do not fit the address; SshKeyError for an invalid key */
export function assertFits(
  credentials: OpenedCredentials | { type: 'app' },
  { transport }: RemoteAddress,
): void {
  if (transport === 'ssh') {
    if (credentials.type !== 'ssh')
      throw new CredentialsError(
        'an ssh address needs a private key as credentials: {"type":"ssh","privateKey":"…"}',
      );
    readSshKey(credentials.privateKey);
    return;
  }
  if (credentials.type === 'ssh')
    throw new CredentialsError(
      `an ${transport} address needs a user name and a token as credentials: {"type":"basic","username":"…","password":"…"}`,
    );
  if (credentials.type === 'basic' && /[\0\r\n:]/.test(credentials.username))
    throw new CredentialsError('the user name of the credentials holds a colon or a control character');
  if (credentials.type === 'basic' && /[\0\r\n]/.test(credentials.password))
    throw new CredentialsError('the password of the credentials holds a line break; was it copied with one?');
}

export function presentCredentials(credentials: OpenedCredentials): Static<typeof ShownGitCredentials> {
  switch (credentials.type) {
    case 'none':
    case 'app':
      return { type: credentials.type, username: null, publicKey: null };
    case 'basic':
      return { type: 'basic', username: credentials.username, publicKey: null };
    case 'ssh':
      return { type: 'ssh', username: null, publicKey: readSshKey(credentials.privateKey).publicKey };
  }
}

/** The value of an Authorization header; null for none. */
export function authorizationOf(credentials: OpenedCredentials): string | null {
  if (credentials.type !== 'basic') return null;
  const { username, password } = credentials;
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** Shorter texts are no secrets worth the loss: they occur in ordinary words. */
const MIN_SECRET_CHARS = 4;

/** Returns a function that removes the credentials from a text, in every form that git, curl, ssh or a shell writes. */
export function redactor(credentials: OpenedCredentials, proxy: URL | null = null): (text: string) => string {
  const secrets = [...formsOf(credentials), ...formsOf(credentialsOf(proxy))].filter(
    (form) => form.length >= MIN_SECRET_CHARS,
  );
  const longestFirst = [...new Set(secrets)].sort((a, b) => b.length - a.length);
  return (text) => {
    let safe = text;
    for (const secret of longestFirst) safe = safe.replaceAll(secret, '***');
    return safe
      .replaceAll(/(\w+:\/\/)[^\s/@]+@/g, (whole, scheme: string) =>
        scheme === 'ssh://' && !whole.slice(scheme.length).includes(':') ? whole : `${scheme}***@`,
      )
      .replaceAll(/(authorization:\s*\w+\s+)\S+/gi, '$1***');
  };
}

function credentialsOf(proxy: URL | null): OpenedCredentials {
  if (!proxy?.password) return NONE;
  return { type: 'basic', username: plain(proxy.username), password: plain(proxy.password) };
}

/** A text that is not well encoded is taken as it is. */
function plain(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

function formsOf(credentials: OpenedCredentials): string[] {
  if (credentials.type === 'none') return [];
  if (credentials.type === 'ssh' || credentials.type === 'app')
    return credentials.privateKey
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => !line.startsWith('---') && line.length >= 16);
  const { username, password } = credentials;
  return [password, `${username}:${password}`].flatMap((text) => {
    const bytes = Buffer.from(text);
    const encoded = encodeURIComponent(text);
    return [
      text,
      encoded,
      encoded.replaceAll(/%../g, (code) => code.toLowerCase()),
      encoded.replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`),
      bytes.toString('base64'),
      bytes.toString('base64').replace(/=+$/, ''),
      bytes.toString('base64url'),
      bytes.toString('hex'),
      text.replaceAll("'", "'\\''"),
      text.replaceAll(/([^\w@%+=:,./-])/g, '\\$1'),
      JSON.stringify(text).slice(1, -1),
    ];
  });
}
