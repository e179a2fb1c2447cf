/**
 * What a backup says of itself. `backup.json` is the first file of an archive, so that a restore is refused before anything
 * large is read; `manifest.json` and its signature are the last ones, since sizes and checksums are known only then.
 */
import Type, { type Static } from 'typebox';
import { BackupTrigger } from '../../../schemas/api/backups.ts';
import { Nullable } from '../../../schemas/api/common.ts';

/** Raised when an older Headgate could not read an archive any more. */
export const FORMAT = 1;

export const HEADER_FILE = 'backup.json';
export const MANIFEST_FILE = 'manifest.json';
export const SIGNATURE_FILE = 'manifest.sig';
/** What `Keyring.sign` is asked for. */
export const SIGNATURE_PURPOSE = 'backup manifest';

/** Of an unquoted name of PostgreSQL. */
const Name = Type.String({ pattern: '^[a-z_][a-z0-9_]{0,62}$' });
const Fingerprint = Type.String({ pattern: '^[0-9a-f]{16}$' });
const Count = Type.Integer({ minimum: 0 });

export const ArchiveHeader = Type.Object({
  format: Type.Integer(),
  /** The version of Headgate. */
  version: Type.String({ maxLength: 100 }),
  createdAt: Type.String({ maxLength: 40 }),
  createdBy: Type.String({ maxLength: 400 }),
  trigger: BackupTrigger,
  /** The migrations that the database had, by name. */
  schema: Type.Array(Type.String({ maxLength: 200 }), { maxItems: 2_000 }),
  /** Of the keys that its texts are sealed with; `next` during a rotation. */
  keys: Type.Object({ current: Fingerprint, next: Nullable(Fingerprint) }),
});
export type ArchiveHeader = Static<typeof ArchiveHeader>;

export const ArchiveTable = Type.Object({
  name: Name,
  columns: Type.Array(Name, { maxItems: 400 }),
  rows: Count,
});
export type ArchiveTable = Static<typeof ArchiveTable>;

/** A partition of one day: `log_lines_20260131` of `log_lines`. */
export const ArchivePartition = Type.Object({
  table: Name,
  name: Type.String({ pattern: '^[a-z_][a-z0-9_]{0,53}_[0-9]{8}$' }),
  options: Type.Array(Type.String({ pattern: '^[a-z_.]{1,60}=[a-z0-9._-]{1,40}$' }), { maxItems: 20 }),
});
export type ArchivePartition = Static<typeof ArchivePartition>;

export const ArchiveManifest = Type.Object({
  header: ArchiveHeader,
  tables: Type.Array(ArchiveTable, { maxItems: 2_000 }),
  partitions: Type.Array(ArchivePartition, { maxItems: 20_000 }),
  sequences: Type.Array(Type.Object({ name: Name, value: Type.Integer(), isCalled: Type.Boolean() }), {
    maxItems: 2_000,
  }),
  /** Jobs that waited. */
  jobs: Count,
  /** Whether the embedded repository is in it; its HEAD, such as `ref: refs/heads/main`. */
  repository: Nullable(
    Type.Object({
      head: Type.String({ pattern: '^refs/heads/[^\\s~^:?*\\[\\\\]{1,200}$' }),
      isEmpty: Type.Boolean(),
    }),
  ),
  bindings: Type.Array(
    Type.Object({
      environment: Type.String(),
      repository: Type.String(),
      branch: Type.String(),
      commit: Nullable(Type.String()),
    }),
    { maxItems: 100_000 },
  ),
  files: Type.Array(
    Type.Object({
      name: Type.String({ maxLength: 100 }),
      bytes: Count,
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    }),
    { maxItems: 1_000_000 },
  ),
});
export type ArchiveManifest = Static<typeof ArchiveManifest>;

export const rowsOf = ({ tables }: Pick<ArchiveManifest, 'tables'>): number =>
  tables.reduce((sum, { rows }) => sum + rows, 0);
export const bytesOf = ({ files }: Pick<ArchiveManifest, 'files'>): number =>
  files.reduce((sum, { bytes }) => sum + bytes, 0);
