/** Writes a `.tar.gz` as it is made: never more than a few parts of it are in memory. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { createGzip } from 'node:zlib';
import { createTarPacker } from 'modern-tar';
import type { ArchiveManifest } from './manifest.ts';

/** Rows compress nearly as well as with 6, in half the time. */
const LEVEL = 3;

export interface ArchiveWriter {
  /** One file of the archive, in chunks. Settles when it was taken, so that a slow store slows the reading. */
  add(name: string, ...content: readonly Buffer[]): Promise<void>;
  /** What was added so far. */
  readonly files: ArchiveManifest['files'];
}

/**
 * `produce` adds files, `consume` gets the compressed bytes. Where one of the two fails, the other is ended, and the error is
 * the one that came first.
 */
export async function writeArchive<T>(
  signal: AbortSignal,
  produce: (archive: ArchiveWriter) => Promise<void>,
  consume: (chunks: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const { readable, controller } = createTarPacker();
  let consumeError: unknown;
  const consumed = pipeline(
    Readable.fromWeb(readable as ReadableStream),
    createGzip({ level: LEVEL }),
    async (chunks: AsyncIterable<Buffer>) => {
      try {
        return await consume(chunks);
      } catch (error) {
        consumeError = error;
        throw error;
      }
    },
    { signal },
  );
  consumed.catch(() => {});
  const files: ArchiveManifest['files'] = [];
  const add = async (name: string, ...content: readonly Buffer[]) => {
    signal.throwIfAborted();
    const bytes = content.reduce((sum, { length }) => sum + length, 0);
    const hash = createHash('sha256');
    const writer = controller.add({ name, size: bytes, type: 'file', mode: 0o600 }).getWriter();
    // Chunk by chunk: nobody needs a copy of the whole.
    for (const chunk of content) {
      hash.update(chunk);
      if (chunk.length > 0) await writer.write(chunk);
    }
    await writer.close();
    files.push({ name, bytes, sha256: hash.digest('hex') });
  };
  try {
    await produce({ add, files });
    controller.finalize();
  } catch (error) {
    const first = consumeError ?? error;
    controller.error(first);
    await consumed.catch(() => {});
    throw first;
  }
  return consumed;
}
