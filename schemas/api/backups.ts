/** Backups of the installation: where they are stored, when they are made, and what runs. */
import Type, { type Static } from 'typebox';
import { worded } from '../patterns.ts';
import { Id, Input, Nullable, Timestamp } from './common.ts';

export const BACKUP_LIMITS = {
  filenameChars: 200,
  cronChars: 100,
  retentionCount: { minimum: 1, maximum: 1_000 },
} as const;

/** Matched against the list of backups, and never a path. */
const Filename = Type.String({ minLength: 1, maxLength: BACKUP_LIMITS.filenameChars });
export const BackupFile = Input({ filename: Filename });
export type BackupFile = Static<typeof BackupFile>;

export const BACKUP_TRIGGERS = ['manual', 'scheduled', 'command'] as const;
export const BackupTrigger = Type.Enum([...BACKUP_TRIGGERS]);
export type BackupTrigger = Static<typeof BackupTrigger>;

export const BackupEntry = Type.Object({
  filename: Type.String(),
  /** Bytes of the archive. */
  size: Type.Integer(),
  createdAt: Timestamp,
  /** Null for a file that this installation has not made, or made before a restore. */
  createdBy: Nullable(Type.String()),
  trigger: Nullable(BackupTrigger),
  tables: Nullable(Type.Integer()),
  rows: Nullable(Type.Integer()),
});
export type BackupEntry = Static<typeof BackupEntry>;
/** The newest first. */
export const BackupList = Type.Array(BackupEntry);

export const BackupPreview = Type.Object({
  filename: Type.String(),
  createdAt: Timestamp,
  createdBy: Nullable(Type.String()),
  /** The version of Headgate that made it. */
  version: Type.String(),
  tables: Type.Array(Type.Object({ name: Type.String(), rows: Type.Integer() })),
  rows: Type.Integer(),
  /** Bytes of what is in it, uncompressed. */
  bytes: Type.Integer(),
  /** Environments bound to git, with the commit that was applied last. */
  bindings: Type.Array(
    Type.Object({
      environment: Type.String(),
      repository: Type.String(),
      branch: Type.String(),
      commit: Nullable(Type.String()),
    }),
  ),
  /** Whether the embedded repository is in it. */
  hasRepository: Type.Boolean(),
  /** Why it cannot be restored here, in a sentence; null where it can be. */
  refusal: Nullable(Type.String()),
});
export type BackupPreview = Static<typeof BackupPreview>;

export const BACKUP_RUN_KINDS = ['create', 'restore', 'verify'] as const;
export const BackupRunKind = Type.Enum([...BACKUP_RUN_KINDS]);
export type BackupRunKind = Static<typeof BackupRunKind>;
export const BACKUP_RUN_STATUSES = ['RUNNING', 'COMPLETED', 'FAILED'] as const;
export const BackupRunStatus = Type.Enum([...BACKUP_RUN_STATUSES]);
export type BackupRunStatus = Static<typeof BackupRunStatus>;

export const BackupRun = Type.Object({
  id: Id,
  kind: BackupRunKind,
  status: BackupRunStatus,
  trigger: BackupTrigger,
  filename: Type.String(),
  requestedBy: Type.String(),
  /** What it does at the moment, for people: "Reading log_lines". */
  phase: Type.String(),
  tablesDone: Type.Integer(),
  tablesTotal: Type.Integer(),
  rows: Type.Integer(),
  /** Of rows and files that were read or written, uncompressed. */
  bytes: Type.Integer(),
  /** Of the archive; null until it is whole. */
  size: Nullable(Type.Integer()),
  /** Why it failed, in a sentence; of a restore that is COMPLETED what is left to do, null where all is done. */
  error: Nullable(Type.String()),
  startedAt: Timestamp,
  finishedAt: Nullable(Timestamp),
});
export type BackupRun = Static<typeof BackupRun>;
/** The newest first, 20 at most. */
export const BackupRuns = Type.Array(BackupRun);

export const UpdateBackupSchedule = Input({
  enabled: Type.Boolean(),
  /** Five fields, in UTC: `0 3 * * *`. */
  cron: Type.String({ minLength: 1, maxLength: BACKUP_LIMITS.cronChars }),
  /** How many scheduled backups stay; the oldest go first. */
  retentionCount: Type.Integer(BACKUP_LIMITS.retentionCount),
});
export type UpdateBackupSchedule = Static<typeof UpdateBackupSchedule>;
export const BackupSchedule = Type.Object({
  enabled: Type.Boolean(),
  cron: Type.String(),
  retentionCount: Type.Integer(),
  /** The next three, none while it is disabled. */
  nextRuns: Type.Array(Timestamp),
  /** The last scheduled run. */
  lastRun: Nullable(
    Type.Object({
      status: BackupRunStatus,
      startedAt: Timestamp,
      finishedAt: Nullable(Timestamp),
      error: Nullable(Type.String()),
    }),
  ),
});
export type BackupSchedule = Static<typeof BackupSchedule>;

const Bucket = Type.String({
  minLength: 3,
  maxLength: 63,
  pattern: worded(
    '^[a-z0-9][a-z0-9.-]*[a-z0-9]$',
    'must be the name of a bucket: lower-case letters, digits, dots and hyphens',
  ),
});
const Region = Type.String({
  minLength: 1,
  maxLength: 60,
  pattern: worded('^[a-z0-9-]+$', 'must be a region, such as eu-central-1'),
});
const Prefix = Type.String({
  maxLength: 200,
  pattern: worded(
    '^(?:[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*/?)?$',
    'must have letters, digits, dots, hyphens and single slashes between them',
  ),
});
const AccessKeyId = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: worded('^[\\x21-\\x7e]+$', 'must have printable ASCII characters and no blanks'),
});
const SecretAccessKey = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: worded('^[\\x21-\\x7e]+$', 'must have printable ASCII characters and no blanks'),
});
const Endpoint = Type.String({ minLength: 1, maxLength: 2_000 });

export const TestS3Connection = Input({
  bucket: Bucket,
  region: Region,
  prefix: Type.Optional(Prefix),
  accessKeyId: AccessKeyId,
  /** `********` means the stored one. */
  secretAccessKey: SecretAccessKey,
  /** Of another store than AWS: `https://minio.example.com`. */
  endpoint: Type.Optional(Endpoint),
});
export type TestS3Connection = Static<typeof TestS3Connection>;
export const S3ConnectionResult = Type.Object({
  connected: Type.Boolean(),
  /** A sentence. */
  message: Type.String(),
});
export type S3ConnectionResult = Static<typeof S3ConnectionResult>;

export const STORAGE_BACKENDS = ['local', 's3'] as const;
export const StorageBackend = Type.Enum([...STORAGE_BACKENDS]);
export type StorageBackend = Static<typeof StorageBackend>;
export const UpdateStorageBackend = Input({
  backend: StorageBackend,
  bucket: Type.Optional(Bucket),
  region: Type.Optional(Region),
  prefix: Type.Optional(Prefix),
  accessKeyId: Type.Optional(AccessKeyId),
  /** Absent or `********` keeps the stored one, for the same endpoint and access key. */
  secretAccessKey: Type.Optional(SecretAccessKey),
  endpoint: Type.Optional(Endpoint),
});
export type UpdateStorageBackend = Static<typeof UpdateStorageBackend>;

export const S3View = Type.Object({
  bucket: Type.String(),
  region: Type.String(),
  prefix: Type.String(),
  endpoint: Nullable(Type.String()),
  accessKeyId: Type.String(),
  /** Masked. */
  secretAccessKey: Type.String(),
});
export type S3View = Static<typeof S3View>;
export const BackupSettingsView = Type.Object({
  backend: StorageBackend,
  /** Null until it was set; it stays while the backend is `local`. */
  s3: Nullable(S3View),
  schedule: BackupSchedule,
});
export type BackupSettingsView = Static<typeof BackupSettingsView>;
