/** Reads blobs up to a limit; larger ones never come into memory. */
import type { ObjectCache } from './object-cache.ts';
import type { ObjectReader } from './objects.ts';

export interface BlobReader {
  /** Whether something was asked for that the repository does not hold. */
  readonly lacked: boolean;
  /** Null when it is larger than allowed, or not there. */
  read(oid: string, maxBytes: number): Promise<Buffer | null>;
  /** For one that was not read: its size in bytes, null when it is not there. */
  sizeOf(oid: string): number | null;
}

export function blobReader(reader: ObjectReader, cache: ObjectCache): BlobReader {
  const state = { lacked: false };
  return {
    get lacked() {
      return state.lacked;
    },
    async read(oid, maxBytes) {
      const size = cache.large.get(oid);
      if (size !== undefined && size > maxBytes) return null;
      const found = await reader.read(oid, maxBytes);
      if (found?.type !== 'blob') {
        state.lacked = true;
        return null;
      }
      if (!found.data) cache.large.set(oid, found.size);
      return found.data;
    },
    sizeOf: (oid) => cache.large.get(oid) ?? null,
  };
}
