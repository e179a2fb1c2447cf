/** An upload in parts: at most two of them are in memory, and what fails leaves none behind. */
import type { S3Client } from '@aws-sdk/client-s3';
import { loadS3 } from './s3-client.ts';

/** A bucket takes 10,000 parts, so that an archive may have 156 GiB. */
export const PART_BYTES = 16 * 1024 * 1024;
const ABORT_MS = 30_000;

export interface UploadTarget {
  client: S3Client;
  bucket: string;
  key: string;
  partBytes: number;
  signal: AbortSignal;
}

interface UploadedPart {
  PartNumber: number;
  ETag: string | undefined;
}

/** Answers how many bytes were stored. */
export async function upload(target: UploadTarget, chunks: AsyncIterable<Buffer>): Promise<number> {
  const parts = partsOf(chunks, target.partBytes);
  const first = await parts.next();
  const second = first.done ? first : await parts.next();
  if (second.done) return putWhole(target, first.value ?? Buffer.alloc(0));
  return uploadParts(target, [first.value ?? Buffer.alloc(0), second.value], parts);
}

async function putWhole({ client, bucket, key, signal }: UploadTarget, body: Buffer): Promise<number> {
  const { PutObjectCommand } = await loadS3();
  await client.send(
    new PutObjectCommand({ Bucket: bucket, Key: key, Body: body, ContentLength: body.length }),
    { abortSignal: signal },
  );
  return body.length;
}

async function uploadParts(
  { client, bucket, key, signal }: UploadTarget,
  begun: readonly Buffer[],
  rest: AsyncGenerator<Buffer, undefined>,
): Promise<number> {
  const s3 = await loadS3();
  const object = { Bucket: bucket, Key: key };
  const { UploadId } = await client.send(new s3.CreateMultipartUploadCommand(object), {
    abortSignal: signal,
  });
  const uploaded: UploadedPart[] = [];
  let size = 0;
  const send = async (body: Buffer) => {
    const PartNumber = uploaded.length + 1;
    const command = new s3.UploadPartCommand({
      ...{ ...object, UploadId, PartNumber, Body: body, ContentLength: body.length },
    });
    const { ETag } = await client.send(command, { abortSignal: signal });
    uploaded.push({ PartNumber, ETag });
    size += body.length;
  };
  try {
    for (const body of begun) await send(body);
    for await (const body of rest) await send(body);
    await client.send(
      new s3.CompleteMultipartUploadCommand({ ...object, UploadId, MultipartUpload: { Parts: uploaded } }),
      { abortSignal: signal },
    );
    return size;
  } catch (error) {
    // The run may have been ended: the parts, which cost money, are deleted all the same.
    await client
      .send(new s3.AbortMultipartUploadCommand({ ...object, UploadId }), {
        abortSignal: AbortSignal.timeout(ABORT_MS),
      })
      .catch(() => {});
    throw error;
  }
}

async function* partsOf(chunks: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer, undefined> {
  let waiting: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    size += chunk.length;
    if (size < bytes) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(waiting);
}
