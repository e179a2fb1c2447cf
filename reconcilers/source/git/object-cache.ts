import type { BoundedMap } from '../../../controller/platform/runtime/bounded-map.ts';
import type { Tree } from './parse-tree.ts';

/** What reading of objects keeps between passes. Keyed by object id, so nothing in it goes stale. */
export interface ObjectCache {
  /** Sizes in bytes of blobs that were too large to read. */
  readonly large: BoundedMap<number>;
  readonly trees: BoundedMap<Tree>;
}
