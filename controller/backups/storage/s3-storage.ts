/** Backups in a bucket of S3, or of a store that speaks its protocol. */
import type { Readable } from 'node:stream';
import { notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import { connectS3, loadS3, type S3Parts, type S3Settings } from './s3-client.ts';
import { explainS3Fault } from './s3-fault.ts';
import { PART_BYTES, upload } from './s3-upload.ts';
import { type BackupStorage, isBackupName, type StoredFile } from './storage.ts';

/** Keys are listed by thousands; a bucket with more than so many pages has other things than backups below the prefix. */
const MOST_PAGES = 100;

export async function s3Storage(
  settings: S3Settings,
  parts: S3Parts,
  { partBytes = PART_BYTES }: { partBytes?: number } = {},
): Promise<BackupStorage> {
  const client = await connectS3(settings, parts);
  const s3 = await loadS3();
  const { bucket } = settings;
  const folder = settings.prefix === '' ? '' : `${settings.prefix.replace(/\/$/, '')}/`;
  const keyOf = (filename: string) => `${folder}${filename}`;
  const explained = async <T>(wanted: string, work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw explainS3Fault(error, wanted, settings);
    }
  };

  async function list(signal: AbortSignal): Promise<StoredFile[]> {
    const files: StoredFile[] = [];
    let token: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const answer = await client.send(
        new s3.ListObjectsV2Command({
          ...{ Bucket: bucket, Prefix: keyOf('headgate-'), Delimiter: '/', ContinuationToken: token },
        }),
        { abortSignal: signal },
      );
      for (const { Key = '', Size = 0, LastModified } of answer.Contents ?? []) {
        const filename = Key.slice(folder.length);
        if (isBackupName(filename))
          files.push({ filename, size: Size, modifiedAt: LastModified ?? new Date(0) });
      }
      token = answer.NextContinuationToken;
      if (!answer.IsTruncated || token === undefined) break;
    }
    return files;
  }

  return {
    list: (signal) => explained('list the bucket', list(signal)),
    write: (filename, chunks, signal) =>
      explained(
        'store a backup',
        upload({ client, bucket, key: keyOf(filename), partBytes, signal }, chunks),
      ),
    async read(filename, signal) {
      const command = new s3.GetObjectCommand({ Bucket: bucket, Key: keyOf(filename) });
      const { Body } = await explained('read a backup', client.send(command, { abortSignal: signal }));
      if (!Body) throw notFound('Backup');
      return Body as Readable;
    },
    async delete(filename, signal) {
      const command = new s3.DeleteObjectCommand({ Bucket: bucket, Key: keyOf(filename) });
      await explained('delete a backup', client.send(command, { abortSignal: signal }));
    },
    async deletePartial(filename, signal) {
      const key = keyOf(filename);
      const command = new s3.ListMultipartUploadsCommand({ Bucket: bucket, Prefix: key });
      const { Uploads = [] } = await explained('list uploads', client.send(command, { abortSignal: signal }));
      for (const { Key, UploadId } of Uploads)
        if (Key === key)
          await explained(
            'delete an upload',
            client.send(new s3.AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }), {
              abortSignal: signal,
            }),
          );
    },
    close: () => client.destroy(),
  };
}

const PROBE = 'Headgate tests whether it can store backups here. This file may be deleted.\n';

/** At most about `chars` of a text. */
async function readStart(stream: Readable, chars: number): Promise<string> {
  let text = '';
  for await (const chunk of stream) {
    text += String(chunk);
    if (text.length >= chars) break;
  }
  return text;
}

/** Writes, reads, lists and deletes one small object. @throws DomainError that says what is wrong */
export async function assertS3Usable(
  settings: S3Settings,
  parts: S3Parts,
  signal: AbortSignal,
): Promise<void> {
  const storage = await s3Storage(settings, parts);
  const probe = `headgate-connection-test-${newId()}.txt`;
  async function* content() {
    yield Buffer.from(PROBE);
  }
  try {
    await storage.list(signal);
    await storage.write(probe, content(), signal);
    try {
      const back = await readStart(await storage.read(probe, signal), PROBE.length + 1);
      if (back !== PROBE)
        throw preconditionFailed(
          `${settings.endpoint ?? 'S3'} gives back something else than was stored, so it is no store of S3; check the endpoint`,
        );
    } finally {
      await storage.delete(probe, signal);
    }
  } finally {
    storage.close();
  }
}
