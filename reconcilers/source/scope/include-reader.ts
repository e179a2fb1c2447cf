/** Finds and reads the files that manifests include, each path once for a batch of manifests. */
import type { BlobReader } from '../git/blobs.ts';
import type { TreeReader } from '../git/tree-reader.ts';
import { includedBlob, tooLargeToInclude } from '../manifest/includes.ts';
import type { IncludedBytes, Includes } from '../manifest/load-includes.ts';
import type { SnapshotScope } from '../types.ts';
import { MAX_FILE_BYTES } from '../yaml/yaml-file.ts';

/** What an included path stood for when it was read. */
export interface IncludeState {
  path: string;
  key: string;
}

export interface IncludeReader extends Includes {
  /** Makes `get` answer for these paths. */
  load(paths: Iterable<string>): Promise<void>;
  /** Lets go of what was loaded, if it is much. */
  trim(): void;
  /** Changes exactly when what stands at the path changes. */
  key(path: string): Promise<string>;
}

const KEPT_BYTES = 32 * 1024 * 1024;

export function includeReader(trees: TreeReader, blobs: BlobReader, scope: SnapshotScope): IncludeReader {
  const loaded = new Map<string, IncludedBytes>();
  let bytesLoaded = 0;
  const read = async (path: string): Promise<IncludedBytes> => {
    const blob = includedBlob(path, await trees.lookup(path), scope);
    if (!('oid' in blob)) return { refused: blob };
    const bytes = await blobs.read(blob.oid, MAX_FILE_BYTES);
    if (!bytes) return { refused: tooLargeToInclude(path) };
    bytesLoaded += bytes.length;
    return { bytes };
  };
  return {
    scope,
    get: (path) => loaded.get(path),
    async key(path) {
      const at = await trees.lookup(path);
      return at.found === 'nothing' ? 'nothing' : `${at.found}:${at.oid}`;
    },
    trim() {
      if (bytesLoaded <= KEPT_BYTES) return;
      loaded.clear();
      bytesLoaded = 0;
    },
    async load(paths) {
      const missing = [...paths].filter((path) => !loaded.has(path));
      const load = async (path: string) => loaded.set(path, await read(path));
      await Promise.all(missing.map(load));
    },
  };
}
