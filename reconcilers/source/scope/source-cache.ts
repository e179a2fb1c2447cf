/** What reading keeps between passes. Everything but the scopes is keyed by object id and so never goes stale. */

import { BoundedMap } from '../../../controller/platform/runtime/bounded-map.ts';
import { createKeyedMutex, type KeyedMutex } from '../../../controller/platform/runtime/keyed-mutex.ts';
import type { ObjectCache } from '../git/object-cache.ts';
import { prepareSchemas } from '../manifest/schema-findings.ts';
import type { ParsedFile } from '../yaml/yaml-file.ts';
import type { ScopeState } from './scope-state.ts';

export interface SourceCache extends ObjectCache {
  /** Parsed manifest files by blob id. */
  readonly files: BoundedMap<ParsedFile>;
  /** The last desired state of each repository and scope. */
  readonly scopes: BoundedMap<ScopeState>;
  /** Reads of one scope run one after the other: two at once would both build on the state before. */
  readonly reads: KeyedMutex;
}

export interface SourceCacheOptions {
  /** Parsed files kept, in files of average size (8 KiB); default 50,000. */
  maxFiles?: number;
  /** Repositories and scopes whose last state is kept; default 200. */
  maxScopes?: number;
}

const AVERAGE_FILE_CHARACTERS = 8 * 1024;
const LARGE_BLOBS = 10_000;
const TREE_ENTRIES = 1_000_000;

/** One cache serves every binding of a process. */
export function createSourceCache(options: SourceCacheOptions = {}): SourceCache {
  prepareSchemas();
  return {
    files: new BoundedMap((options.maxFiles ?? 50_000) * AVERAGE_FILE_CHARACTERS),
    large: new BoundedMap(LARGE_BLOBS),
    trees: new BoundedMap(TREE_ENTRIES),
    scopes: new BoundedMap(options.maxScopes ?? 200),
    reads: createKeyedMutex(),
  };
}
