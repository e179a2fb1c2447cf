/** What reading keeps between passes. Everything but the scopes is keyed by object id and so never goes stale. */
import { BoundedMap } from './bounded-map.ts';
import type { Tree } from './parse-tree.ts';
import { prepareSchemas } from './schema-findings.ts';
import type { ScopeState } from './scope-state.ts';
import type { ParsedFile } from './yaml-file.ts';

export interface SourceCache {
  /** Parsed manifest files by blob id. */
  readonly files: BoundedMap<ParsedFile>;
  /** Sizes in bytes of blobs that were too large to read. */
  readonly large: BoundedMap<number>;
  readonly trees: BoundedMap<Tree>;
  /** The last desired state of each repository and scope. */
  readonly scopes: BoundedMap<ScopeState>;
  /** The read of each scope that the next one waits for. */
  readonly turns: Map<string, Promise<void>>;
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
    turns: new Map(),
  };
}
