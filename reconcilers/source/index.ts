/** Reading desired state out of a git repository: commits, manifests with their places, and what is wrong. */

export { pointerTo } from '../../controller/platform/yaml/pointer.ts';
export { createSourceCache, type SourceCache } from './cache.ts';
export { readDesired } from './desired.ts';
export { fileReferences } from './file-reference.ts';
export { includePath } from './includes.ts';
export { normaliseSpec, specHash } from './normalise.ts';
export { includesOf, type ReadText, readText } from './read-text.ts';
export {
  descends,
  isRefName,
  openRepository,
  type Repository,
  readCommit,
  resolveFullRef,
  resolveRef,
} from './repository.ts';
export { GitRepositoryError } from './repository-error.ts';
export { createScratch, type Scratch, type ScratchFile } from './scratch.ts';
export { decodeText } from './text.ts';
export type {
  CommitInfo,
  Desired,
  DesiredManifest,
  Position,
  Problem,
  RefusedDocument,
  SnapshotScope,
  Stage,
} from './types.ts';
export { MAX_FILE_BYTES, parseYamlText } from './yaml-file.ts';
