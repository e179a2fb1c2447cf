/** What operators say to the loop: suspend, hold, adopt, confirm; what it shows of differences; what it proposes. */
import Type, { type Static, type TSchema } from 'typebox';
import { Id, Input, Label, Nullable, Timestamp } from '../common.ts';
import { OwnableKindName } from './git-plan.ts';
import { OWNABLE_KINDS } from './git-policy.ts';

const Reason = Type.Optional(Label(500));
const Identity = { kind: OwnableKindName, name: Type.String({ minLength: 1, maxLength: 100 }) };
/** Both or neither: without them the whole environment. */
const MaybeIdentity = {
  kind: Type.Optional(OwnableKindName),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
};

export const SuspendGit = Input({ environmentId: Id, ...MaybeIdentity, reason: Reason });
export const ResumeGit = Input({ environmentId: Id, ...MaybeIdentity });

export const GitWord = Type.Object({
  ...Identity,
  word: Type.Enum(['adopt', 'suspend', 'prune']),
  reason: Type.String(),
  by: Type.String(),
  at: Timestamp,
});
export type GitWord = Static<typeof GitWord>;

export const GitHold = Type.Object({
  id: Id,
  ...Identity,
  /** The spec that git shall not apply again. A newer one is taken. */
  specHash: Type.String(),
  reason: Type.String(),
  by: Type.String(),
  at: Timestamp,
  /** Whether git still holds that very spec; once it moved on, the hold does nothing. */
  current: Type.Boolean(),
});
export type GitHold = Static<typeof GitHold>;
export const GitHolds = Type.Object({ holds: Type.Array(GitHold), words: Type.Array(GitWord) });

/** Holds the spec that git has now. */
export const HoldGit = Input({ environmentId: Id, ...Identity, reason: Label(500) });
export const ReleaseHold = Input({ environmentId: Id, id: Id });
/** Lets git take over an object of the UI that has the name of a manifest. */
export const AdoptObject = Input({ environmentId: Id, ...Identity });
/** Lets the next pass delete an object whose manifest left git and that waits (`headgate/prune: confirm`, rewritten history). */
export const ConfirmPrune = Input({ environmentId: Id, ...Identity });
export const OverrideChange = Type.Object({ environmentId: Id, ...MaybeIdentity });

/** One of the four columns. */
const Column = Type.Object({
  /** The semantic hash of the spec, or of what the node runs its checksum; null where there is nothing. */
  hash: Nullable(Type.String()),
  commit: Nullable(Type.String()),
  version: Nullable(Type.Integer()),
  deployed: Nullable(Type.Boolean()),
  at: Nullable(Timestamp),
});
export const DriftedNode = Type.Object({
  nodeId: Id,
  host: Type.String(),
  /** same: runs what it should. other: another checksum. none: runs nothing of it. extra: runs it and should not. silent: not heard of. */
  state: Type.Enum(['same', 'other', 'none', 'extra', 'silent']),
  checksum: Nullable(Type.String()),
  expected: Nullable(Type.String()),
  version: Nullable(Type.Integer()),
  heardAt: Nullable(Timestamp),
});
export const DRIFT_STATES = [
  'same',
  'git-ahead',
  'database-drifted',
  'nodes-drifted',
  'refused',
  'waiting',
] as const;
export const Drift = Type.Object({
  ...Identity,
  objectId: Nullable(Id),
  path: Type.String(),
  line: Type.Integer(),
  lastApplied: Column,
  git: Column,
  database: Column,
  /** Of a pipeline; null for other kinds. */
  nodes: Nullable(
    Type.Object({
      total: Type.Integer(),
      same: Type.Integer(),
      /** Those that differ, the first 50 by host. */
      differing: Type.Array(DriftedNode),
    }),
  ),
  /** All that apply, the worst first; `same` alone where nothing differs. */
  states: Type.Array(Type.Enum([...DRIFT_STATES])),
  /** Why, in a sentence. */
  explanation: Type.String(),
});
export type Drift = Static<typeof Drift>;
export const DriftReport = Type.Object({
  environmentId: Id,
  selfHeal: Type.Boolean(),
  /** Those that differ first. */
  objects: Type.Array(Drift),
});
export type DriftReport = Static<typeof DriftReport>;
export const ReadDrift = Input({
  environmentId: Id,
  /** Only those that differ. */
  differing: Type.Optional(Type.Boolean({ default: false })),
});

/** What a change of a git-owned object became. */
export const Proposed = Type.Object({
  proposed: Type.Object({
    number: Type.Integer(),
    /** Where it is shown. */
    url: Type.String(),
    branch: Type.String(),
  }),
});
export const Committed = Type.Object({
  committed: Type.Object({ sha: Type.String(), path: Type.String(), line: Type.Integer() }),
});
export type Proposed = Static<typeof Proposed>;
export type Committed = Static<typeof Committed>;

export const BecameGit = Type.Union([Proposed, Committed]);

/** What an operation answers that may be about an object of git: its own, or what became of the change. */
export const OrGit = <T extends TSchema>(own: T) => Type.Union([own, Proposed, Committed]);

/** What became of a change that went to git; null for an answer of the operation's own. */
export function becameOf(output: unknown): Proposed | Committed | null {
  if (typeof output !== 'object' || output === null) return null;
  return 'proposed' in output || 'committed' in output ? (output as Proposed | Committed) : null;
}

/** Canonical manifests of what the database holds, ready to be committed. */
export const ExportManifests = Input({
  environmentId: Id,
  kinds: Type.Optional(Type.Array(OwnableKindName, { uniqueItems: true, maxItems: OWNABLE_KINDS.length })),
});
export const ExportedManifests = Type.Object({
  files: Type.Array(Type.Object({ path: Type.String(), text: Type.String() })),
  /** What could not be written as a manifest, and why. */
  skipped: Type.Array(Type.Object({ kind: Type.String(), name: Type.String(), reason: Type.String() })),
});
export type ExportedManifests = Static<typeof ExportedManifests>;
