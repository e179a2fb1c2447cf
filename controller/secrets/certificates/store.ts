import type { Knex } from 'knex';
import type { CertificateFacts, CertificateFileType } from '../../../schemas/api/secrets/certificates.ts';
import { brokeUnique } from '../../database/errors.ts';
import { SERVED_VERSIONS } from '../../delivery/rollouts/index.ts';
import type { Keyring } from '../../platform/crypto/keyring.ts';
import { sealingContext } from '../../platform/crypto/sealed-columns.ts';
import { conflict } from '../../platform/operation/errors.ts';
import { secretVariables } from '../index.ts';
import { certificateReferences, certificateVariable } from './reference.ts';

const COLUMNS = [
  'id',
  'name',
  'filename',
  'file_type as fileType',
  'facts',
  'expires_at as expiresAt',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const;

export interface StoredCertificate {
  id: string;
  name: string;
  filename: string;
  fileType: CertificateFileType;
  facts: CertificateFacts;
  expiresAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

export async function listCertificates(db: Knex, environmentId: string): Promise<StoredCertificate[]> {
  return db('certificates')
    .where({ environment_id: environmentId })
    .orderByRaw('lower(name), file_type')
    .select(...COLUMNS);
}

export async function findCertificate(
  db: Knex,
  environmentId: string,
  id: string,
): Promise<StoredCertificate | null> {
  return (
    (await db('certificates')
      .where({ id, environment_id: environmentId })
      .first(...COLUMNS)) ?? null
  );
}

export async function findCertificateByName(
  db: Knex,
  environmentId: string,
  { name, fileType }: { name: string; fileType: CertificateFileType },
): Promise<StoredCertificate | null> {
  const row = await db('certificates')
    .where({ environment_id: environmentId, file_type: fileType })
    .whereRaw('lower(name) = lower(?)', [name])
    .first(...COLUMNS);
  return row ?? null;
}

export interface CertificateRow {
  id: string;
  environmentId: string;
  name: string;
  filename: string;
  fileType: CertificateFileType;
  /** The whole PEM file. */
  base64: string;
  facts: CertificateFacts;
  expiresAt: Date | null;
}

/** Inserts the certificate or replaces the row of its id. */
export async function saveCertificate(db: Knex, keyring: Keyring, row: CertificateRow): Promise<void> {
  const columns = {
    name: row.name,
    filename: row.filename,
    sealed_data: keyring.seal(row.base64, sealingContext('certificates', row.id)),
    facts: JSON.stringify(row.facts),
    expires_at: row.expiresAt,
    updated_at: db.fn.now(),
  };
  try {
    await db('certificates')
      .insert({
        id: row.id,
        environment_id: row.environmentId,
        file_type: row.fileType,
        ...columns,
      })
      .onConflict('id')
      .merge(columns);
  } catch (error) {
    if (brokeUnique(error, 'certificates_filename_unique')) {
      throw conflict(
        `A file named ${row.filename} exists already in this environment (upper and lower case count as equal); choose another file name, or upload it under the name of that certificate`,
      );
    }
    if (brokeUnique(error))
      throw conflict(`Somebody else has just uploaded "${row.name}"; check it and try again`);
    throw error;
  }
}

export async function deleteCertificate(db: Knex, id: string): Promise<void> {
  await db('certificates').where({ id }).delete();
}

/** The names of the deployed pipelines that refer to a certificate, by its file name. */
export async function deployedUsers(db: Knex, environmentId: string): Promise<Map<string, string[]>> {
  const rows: { name: string; config: string }[] = await db('pipelines as p')
    .joinRaw(SERVED_VERSIONS)
    .join('pipeline_versions as v', 'v.id', 'served.version_id')
    .where({ 'p.environment_id': environmentId })
    .whereRaw("position('SVC_CERT_DIR' in v.config_yaml) > 0")
    .orderBy('p.name')
    .select({ name: 'p.name', config: 'v.config_yaml' });
  const users = new Map<string, string[]>();
  for (const { name, config } of rows) {
    for (const filename of certificateReferences(config)) {
      const known = users.get(filename) ?? [];
      // Both versions of a rollout may refer to it, and the pipeline is listed once.
      if (known.at(-1) !== name) users.set(filename, [...known, name]);
    }
  }
  return users;
}

export interface CertificateFile {
  name: string;
  filename: string;
  /** The file in base64; throws where the sealed text is damaged. */
  open(): string;
}

/** Certificates by file name. Use it only for what is sent to a node that needs the file. */
export async function readCertificates(
  db: Knex,
  keyring: Keyring,
  environmentId: string,
  filenames: readonly string[],
): Promise<Map<string, CertificateFile>> {
  if (filenames.length === 0) return new Map();
  const rows: { id: string; name: string; filename: string; sealed: string }[] = await db('certificates')
    .where({ environment_id: environmentId })
    .whereIn('filename', filenames)
    .select('id', 'name', 'filename', { sealed: 'sealed_data' });
  return new Map(
    rows.map(({ id, name, filename, sealed }) => [
      filename,
      { name, filename, open: () => keyring.open(sealed, sealingContext('certificates', id)) },
    ]),
  );
}

/** Everything in the environment that a config may refer to: variables of secrets, files of certificates. */
export async function configVariables(db: Knex, environmentId: string): Promise<Set<string>> {
  const secrets = await secretVariables(db, environmentId);
  const filenames: string[] = await db('certificates')
    .where({ environment_id: environmentId })
    .pluck('filename');
  return new Set([...secrets, ...filenames.map(certificateVariable)]);
}
