/** Opens the storage that the settings name. */
import { join } from 'node:path';
import type { Keyring } from '../../platform/crypto/keyring.ts';
import { preconditionFailed } from '../../platform/operation/errors.ts';
import { type BackupSettings, SECRET_PLACE } from '../settings/settings-store.ts';
import { localStorage } from './local-storage.ts';
import type { S3Parts, S3Settings } from './s3-client.ts';
import { s3Storage } from './s3-storage.ts';
import type { BackupStorage } from './storage.ts';

export interface StorageParts extends S3Parts {
  dataDir: string;
  keyring: Keyring;
  /** Of uploads; for tests, which have small files. */
  partBytes?: number | undefined;
}

export const localFolder = (dataDir: string): string => join(dataDir, 'backups');

export async function openStorage(settings: BackupSettings, parts: StorageParts): Promise<BackupStorage> {
  if (settings.backend === 'local') return localStorage(localFolder(parts.dataDir));
  return s3Storage(openS3Settings(settings, parts.keyring), parts, { partBytes: parts.partBytes });
}

/** @throws PRECONDITION_FAILED where they are not complete */
export function openS3Settings(settings: BackupSettings, keyring: Keyring): S3Settings {
  const { bucket, region, prefix, endpoint, accessKeyId, sealedSecretAccessKey } = settings;
  if (bucket === null || region === null || accessKeyId === null || sealedSecretAccessKey === null)
    throw preconditionFailed('The bucket is not set up; give it in Settings → Backups');
  return {
    ...{ bucket, region, prefix, endpoint, accessKeyId },
    secretAccessKey: keyring.open(sealedSecretAccessKey, SECRET_PLACE),
  };
}
