/** Finds and reads the files that manifests include, each path once in a pass. */
import type { BlobReader } from './blobs.ts';
import { includedBlob, tooLargeToInclude } from './includes.ts';
import type { IncludedBytes, Includes } from './load-includes.ts';
import type { TreeReader } from './tree-reader.ts';
import type { SnapshotScope } from './types.ts';
import { MAX_FILE_BYTES } from './yaml-file.ts';

export interface IncludeReader extends Includes {
  /** Makes `get` answer for these paths. */
  load(paths: readonly string[]): Promise<void>;
  /** Changes exactly when what stands at the path changes. */
  key(path: string): Promise<string>;
}

export function includeReader(trees: TreeReader, blobs: BlobReader, scope: SnapshotScope): IncludeReader {
  const loaded = new Map<string, IncludedBytes>();
  return {
    scope,
    get: (path) => loaded.get(path),
    async key(path) {
      const at = await trees.lookup(path);
      return at.found === 'nothing' ? 'nothing' : `${at.found}:${at.oid}`;
    },
    async load(paths) {
      for (const path of paths) {
        if (loaded.has(path)) continue;
        const blob = includedBlob(path, await trees.lookup(path));
        if (!('oid' in blob)) {
          loaded.set(path, { refused: blob });
          continue;
        }
        const bytes = await blobs.read(blob.oid, MAX_FILE_BYTES);
        loaded.set(path, bytes ? { bytes } : { refused: tooLargeToInclude(path) });
      }
    },
  };
}
