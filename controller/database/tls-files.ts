/** The files that HEADGATE_DATABASE_URL names. Node.js takes an authority file without a certificate for an empty list. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DatabaseError } from './database-error.ts';
import { parseDatabaseUrl } from './database-url.ts';

const FILES = [
  { name: 'sslrootcert', isGood: holdsCertificate, what: 'certificate' },
  { name: 'sslcert', isGood: holdsCertificate, what: 'certificate' },
  { name: 'sslkey', isGood: isPrivateKey, what: 'private key without a passphrase' },
] as const;

/** @throws DatabaseError */
export function assertTlsFiles(url: string): void {
  for (const { name, isGood, what } of FILES) {
    const path = parseDatabaseUrl(url)?.searchParams.get(name);
    if (!path) continue;
    const says = `${name} of HEADGATE_DATABASE_URL names the file ${path.replaceAll(/\s+/g, ' ').slice(0, 200)}`;
    if (!isGood(textOf(path, says)))
      throw new DatabaseError(`${says}, which holds no ${what}; name one in PEM form (-----BEGIN …)`);
  }
}

function textOf(path: string, says: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'which does not exist' : `which cannot be read (${code})`;
    throw new DatabaseError(`${says}, ${why}; correct it, or let this user read it`);
  }
}

const PEM = /-----BEGIN ((?:TRUSTED |X509 )?CERTIFICATE)-----.+?-----END \1-----/gs;

function holdsCertificate(text: string): boolean {
  return (text.match(PEM) ?? []).some((pem) => works(() => new X509Certificate(pem)));
}

function isPrivateKey(text: string): boolean {
  return works(() => createPrivateKey(text));
}

function works(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}
