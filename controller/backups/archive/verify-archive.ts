/** Reads a whole archive, and refuses it unless everything in it is as it was written and can be restored here. */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Static, TSchema } from 'typebox';
import { validator } from '../../../schemas/validate.ts';
import { MIGRATIONS } from '../../database/migrate.ts';
import { type Keyring, keyIdOf } from '../../platform/crypto/keyring.ts';
import { preconditionFailed } from '../../platform/operation/errors.ts';
import { countLines } from './lines.ts';
import { ArchiveHeader, ArchiveManifest, FORMAT, SIGNATURE_PURPOSE } from './manifest.ts';
import { type ArchiveEntry, damaged, readArchive } from './read-archive.ts';

export interface ArchiveProgress {
  /** Called after each file. */
  read(entry: ArchiveEntry): void;
}

/** Why a backup with this header cannot be restored here, in a sentence; null where it can be. */
export function refusalOf({ format, version, schema, keys }: ArchiveHeader, keyring: Keyring): string | null {
  if (format > FORMAT)
    return `This backup has format ${format}, and this Headgate reads up to ${FORMAT}. Restore it with Headgate ${version} or a later version`;
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  const newer = schema.filter((name) => !known.has(name));
  if (newer.length > 0)
    return `A newer Headgate made this backup (${version}; ${newer.slice(0, 3).join(', ')}). Restore it with that version or a later one`;
  const lacking = [keys.current, keys.next].filter(
    (fingerprint) => fingerprint !== null && !keyring.fingerprints.includes(fingerprint),
  );
  const [first] = lacking;
  return typeof first === 'string'
    ? `Its secrets are encrypted with key ${keyIdOf(first)}, which this controller does not have. Give that key in HEADGATE_PREVIOUS_SECRET_KEYS, or add it as a line of the file secret-key, and restart`
    : null;
}

/** @throws PRECONDITION_FAILED with the reason */
export async function verifyArchive(
  source: Readable,
  { keyring, signal, progress }: { keyring: Keyring; signal: AbortSignal; progress?: ArchiveProgress },
): Promise<ArchiveManifest> {
  const files = new Map<string, { bytes: number; sha256: string }>();
  const rows = new Map<string, number>();
  let header: ArchiveHeader | null = null;
  let manifest: ArchiveManifest | null = null;
  let text: string | null = null;
  let isSigned = false;
  for await (const file of readArchive(source, signal)) {
    const { name, entry, content } = file;
    if (isSigned) throw damaged(`${name} stands after its end`);
    if ((header === null) !== (entry.kind === 'header')) throw damaged('it does not begin with backup.json');
    if (text !== null && entry.kind !== 'signature') throw damaged(`${name} stands after its manifest`);
    switch (entry.kind) {
      case 'header':
        header = readHeader(content, keyring);
        break;
      case 'manifest':
        text = content.toString('utf8');
        manifest = parse(ArchiveManifest, content, name);
        break;
      case 'signature':
        isSigned =
          text !== null && keyring.isSigned(text, content.toString('utf8').trim(), SIGNATURE_PURPOSE);
        if (!isSigned) throw damaged('its manifest was changed after it was made');
        break;
      case 'rows':
        rows.set(entry.table, (rows.get(entry.table) ?? 0) + countLines(content));
    }
    if (entry.kind !== 'manifest' && entry.kind !== 'signature') {
      if (files.has(name)) throw damaged(`${name} is in it twice`);
      files.set(name, { bytes: content.length, sha256: sha256(content) });
    }
    progress?.read(file);
  }
  if (manifest === null || !isSigned) throw damaged('its end is missing');
  assertSame(manifest, files, rows);
  return manifest;
}

export const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** @throws PRECONDITION_FAILED with the reason for which it cannot be restored here */
function readHeader(content: Buffer, keyring: Keyring): ArchiveHeader {
  const header = parse(ArchiveHeader, content, 'backup.json');
  const refusal = refusalOf(header, keyring);
  if (refusal !== null) throw preconditionFailed(`${refusal}. Nothing was changed`);
  return header;
}

export function parse<S extends TSchema>(schema: S, content: Buffer, name: string): Static<S> {
  let value: unknown;
  try {
    value = JSON.parse(content.toString('utf8'));
  } catch {
    throw damaged(`${name} is no JSON`);
  }
  const [issue] = validator(schema).issues(value);
  if (issue) throw damaged(`${name}: ${issue.path} ${issue.message}`);
  return value as Static<S>;
}

function assertSame(
  manifest: ArchiveManifest,
  files: ReadonlyMap<string, { bytes: number; sha256: string }>,
  rows: ReadonlyMap<string, number>,
): void {
  for (const { name, bytes, sha256: wanted } of manifest.files) {
    const found = files.get(name);
    if (!found) throw damaged(`${name} is missing`);
    if (found.bytes !== bytes || found.sha256 !== wanted) throw damaged(`the checksum of ${name} is wrong`);
  }
  if (files.size !== manifest.files.length) throw damaged('it holds files that its manifest does not name');
  for (const { name, rows: wanted } of manifest.tables) {
    const found = rows.get(name) ?? 0;
    if (found !== wanted) throw damaged(`table ${name} has ${found} rows in place of ${wanted}`);
  }
}
