/** What reading a repository gives: commits, desired state, and what is wrong with it. */
import type { ManifestKind, ManifestSpec } from '../../schemas/manifests/index.ts';

export interface CommitInfo {
  sha: string;
  author: string;
  email: string;
  /** First line of the message. */
  subject: string;
  message: string;
  /** When it was committed, which a rebase renews; not when it was first written. */
  at: Date;
  parents: string[];
}

export interface SnapshotScope {
  /** The folder of the environment, relative to the root of the repository; `''` for the root itself. */
  path: string;
  /** Further folders that `$file` may reach, relative to the root. */
  sharedPaths: readonly string[];
}

/** Line and column count from 1; a column is a UTF-16 code unit, as editors count. */
export interface Position {
  path: string;
  line: number;
  column: number;
}

export type Stage =
  | 'source'
  | 'parse'
  | 'schema'
  | 'identity'
  | 'references'
  | 'graph'
  | 'secrets'
  | 'options'
  | 'vrl'
  | 'engine'
  | 'tests';

/** One thing that is wrong: what, where, and what to do about it. */
export interface Problem extends Partial<Position> {
  path: string;
  kind: string | null;
  name: string | null;
  stage: Stage;
  message: string;
  hint: string;
}

export interface DesiredManifest<K extends ManifestKind = ManifestKind> {
  kind: K;
  name: string;
  /** The name in NFC and lower case: with the kind, the identity in its environment. */
  nameKey: string;
  uid: string | null;
  previousName: string | null;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  path: string;
  /** Where the document begins. */
  line: number;
  column: number;
  /** Place of the document in its file, from 0. */
  docIndex: number;
  /** `$file` contents and `${value.x}` resolved, defaults applied. Shared between reads: never change it. */
  spec: ManifestSpec<K>;
  /** sha256 (hex) of the canonical JSON of the spec without editor data: equal hashes mean equal behaviour. */
  hash: string;
  /**
   * Where a JSON pointer into the spec was written, or its nearest written ancestor. Inside the included file, line 1,
   * when the value came from a `$file`.
   */
  at(pointer: string): Position;
  /** Where line and column of the text value at the pointer were written: exact in included files and in `|` blocks. */
  inFile(pointer: string, line: number, column: number): Position;
}

export interface RefusedDocument {
  kind: string | null;
  name: string | null;
  path: string;
}

export interface Desired {
  commit: string;
  manifests: DesiredManifest[];
  problems: Problem[];
  /** Documents that exist but were refused: their objects must be kept as they are. */
  refused: RefusedDocument[];
  /** Whether the binding's path is a folder of this commit. */
  pathExists: boolean;
  /** The path exists, all of it was read, and nothing of it was refused. Pruning requires this. */
  complete: boolean;
  /** Manifest files read, those that are wrong included. */
  fileCount: number;
  /**
   * The commit of the state that `changed` and `gone` are compared with: the one that was read before this from the
   * same scope. Null when there was none, and then nothing is known of changes.
   */
  since: string | null;
  /** The manifests that were not there then: new, changed, or refused then. All others are the same objects as then. */
  changed: ReadonlySet<DesiredManifest> | null;
  /** The manifests of then that are not here: deleted, changed, or refused now. */
  gone: readonly DesiredManifest[];
}
