/** Reads a `.tar.gz` file by file. What it holds may come from anybody: names, sizes and types are checked before use. */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar';
import { DomainError, messageOf, preconditionFailed } from '../../platform/operation/errors.ts';
import { type EntryKind, readEntryName } from './entry-names.ts';

/** A part has 2 MiB, and one row more than that at most: Postgres' own limit of a value is 1 GB, ours are far below. */
const MAX_ENTRY_BYTES = 256 * 1024 * 1024;
const MAX_ENTRIES = 1_000_000;
/** Each passes through five streams: of the 16 KiB that zlib gives unless asked, there would be sixteen times as many. */
const CHUNK_BYTES = 256 * 1024;

export interface ArchiveEntry {
  name: string;
  entry: EntryKind;
  content: Buffer;
}

export const damaged = (why: string) =>
  preconditionFailed(`The backup is damaged: ${why}. Nothing was changed; take another backup`);

/** @throws PRECONDITION_FAILED for what is no archive, is cut off, or holds what no backup holds */
export async function* readArchive(source: Readable, signal: AbortSignal): AsyncGenerator<ArchiveEntry> {
  const { readable, writable } = createTarDecoder({ strict: true });
  const writer = writable.getWriter();
  let failure: unknown;
  const fed = pipeline(
    source,
    createGunzip({ chunkSize: CHUNK_BYTES }),
    async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) await writer.write(chunk);
      await writer.close();
    },
    { signal },
  ).catch(async (error: unknown) => {
    failure ??= error;
    await writer.abort(error).catch(() => {});
  });
  const reader = readable.getReader();
  try {
    for (let count = 1; ; count += 1) {
      const { done, value } = await reader.read();
      if (done) break;
      if (count > MAX_ENTRIES) throw damaged(`it has more than ${MAX_ENTRIES} files`);
      yield await readEntry(value);
    }
    await fed;
    if (failure) throw failure;
  } catch (error) {
    signal.throwIfAborted();
    throw explain(failure ?? error);
  } finally {
    source.destroy();
    await reader.cancel().catch(() => {});
    await fed;
  }
}

async function readEntry({ header, body }: ParsedTarEntry): Promise<ArchiveEntry> {
  const { name, size, type = 'file' } = header;
  const entry = readEntryName(name);
  if (entry === null || type !== 'file')
    throw damaged(
      `it holds ${type === 'file' ? 'a file' : `a ${type}`} that no backup has, "${name.slice(0, 100)}"`,
    );
  if (size > MAX_ENTRY_BYTES) throw damaged(`${name} has more than ${MAX_ENTRY_BYTES} bytes`);
  const content = Buffer.allocUnsafe(size);
  let at = 0;
  for await (const chunk of body) {
    content.set(chunk, at);
    at += chunk.length;
  }
  if (at !== size) throw damaged(`${name} is cut off`);
  return { name, entry, content };
}

/** Errors of zlib and of the tar reader; what the store says of itself stays as it is. */
function explain(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  const { code = '' } = error as { code?: string };
  if (code === 'Z_BUF_ERROR' || /truncated/i.test(messageOf(error))) return damaged('it is cut off');
  if (code.startsWith('Z_')) return damaged('its compressed data cannot be read');
  if (/tar|checksum/i.test(messageOf(error))) return damaged(`it is no whole tar file (${messageOf(error)})`);
  return error;
}
