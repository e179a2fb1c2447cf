/** Reads desired state from a git repository: commits, manifests with their positions, and problems. */

export { pointerTo } from '../../controller/platform/yaml/pointer.ts';
export {
  descends,
  isRefName,
  openRepository,
  type Repository,
  readCommit,
  resolveFullRef,
  resolveRef,
} from './git/repository.ts';
export { GitRepositoryError } from './git/repository-error.ts';
export { createScratch, type Scratch, type ScratchFile } from './git/scratch.ts';
export { includePath } from './manifest/includes.ts';
export { normaliseSpec, specHash } from './manifest/normalise.ts';
export { holdsPlainSecret } from './manifest/plain-secrets.ts';
export { includesOf, type ReadText, readText } from './manifest/read-text.ts';
export { problemLocation } from './problem-location.ts';
export { readDesired } from './scope/read-desired.ts';
export { createSourceCache, type SourceCache } from './scope/source-cache.ts';
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
export { decodeText } from './yaml/decode-text.ts';
export { fileReferences } from './yaml/file-reference.ts';
export { MAX_FILE_BYTES, parseYamlText } from './yaml/yaml-file.ts';
