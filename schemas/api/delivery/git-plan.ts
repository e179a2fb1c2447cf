/** A plan as it is shown: in the web UI, by `gitSync.plan`, on the command line and, later, on a pull request. */
import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { Id, Input, Nullable, Timestamp } from '../common.ts';
import { AlertMetric } from '../insight/alerts.ts';
import { OWNABLE_KINDS } from './git-policy.ts';

export const PLAN_ACTIONS = [
  'create',
  'update',
  'delete',
  /** Takes over an object of the same name that the UI owns. */
  'adopt',
  /** Another name, the same object. */
  'rename',
  /** Puts git's state back: somebody changed the object past git. */
  'heal',
  /** Nothing is done; `reason` says why. */
  'keep',
  'refuse',
] as const;

/** One field that differs. `pointer` is a JSON pointer into the spec, or `/metadata/…`. Values are JSON texts, cut at 4,000 characters; null where absent. */
export const FieldChange = Type.Object({
  pointer: Type.String(),
  before: Nullable(Type.String()),
  after: Nullable(Type.String()),
});
export type FieldChange = Static<typeof FieldChange>;

export const PlanFinding = Type.Object({
  stage: Type.String(),
  message: Type.String(),
  hint: Type.String(),
  path: Type.String(),
  line: Nullable(Type.Integer()),
  column: Nullable(Type.Integer()),
});
export type PlanFinding = Static<typeof PlanFinding>;

export const TestResult = Type.Object({
  name: Type.String(),
  component: Type.String(),
  /** `skipped`: what runs tests here does not know the component or a function; `message` says which. */
  status: Type.Enum(['passed', 'failed', 'skipped']),
  message: Nullable(Type.String()),
  /** Where the test is written. */
  line: Nullable(Type.Integer()),
});
export type TestResult = Static<typeof TestResult>;

export const TouchedNodes = Type.Object({
  /** Nodes on which something of the object starts, restarts or stops. */
  count: Type.Integer(),
  starts: Type.Integer(),
  restarts: Type.Integer(),
  stops: Type.Integer(),
  /** The first 20, by host; nodes that share a host by name. */
  hosts: Type.Array(Type.String()),
});
export type TouchedNodes = Static<typeof TouchedNodes>;

/** What an alert rule would have done in the last 7 days, by what was recorded. */
export const ChangePreview = Type.Object({
  metric: AlertMetric,
  /** Nodes, pipelines, or pipelines on nodes with recorded values; 0: nothing can be said. */
  series: Type.Integer(),
  /** Times that it would have fired, on how many of them, and on how many now. */
  firings: Type.Integer(),
  subjects: Type.Integer(),
  firingNow: Type.Integer(),
  /** What limits the answer, for users; null where nothing does. */
  note: Nullable(Type.String()),
});
export type ChangePreview = Static<typeof ChangePreview>;

export const PlannedChange = Type.Object({
  action: Type.Enum([...PLAN_ACTIONS]),
  kind: Type.String(),
  name: Type.String(),
  renamedFrom: Nullable(Type.String()),
  /** Of the manifest; of a deletion, where it stood. */
  path: Type.String(),
  line: Type.Integer(),
  objectId: Nullable(Id),
  /** For `keep` and `refuse`: one CamelCase word (Held, Suspended, Conflict, Guarded, Confirm, Never, …) and a sentence. */
  reason: Nullable(Type.Object({ code: Type.String(), message: Type.String() })),
  fields: Type.Array(FieldChange),
  /** Unified diff of the rendered engine config; null where it stays the same or the kind has none. */
  engineDiff: Nullable(Type.String()),
  nodes: Nullable(TouchedNodes),
  tests: Type.Array(TestResult),
  findings: Type.Array(PlanFinding),
  /** What a person should know although nothing is wrong. */
  notes: Type.Array(Type.String()),
  /**
   * Of an enabled alert rule; null for everything else, beyond the first 20 rules, and where it is not known. It does not
   * count in the hash of the plan. Plans that were stored by earlier versions have none.
   */
  preview: Nullable(ChangePreview),
});
export type PlannedChange = Static<typeof PlannedChange>;

export const GuardResult = Type.Object({
  guard: Type.Enum([
    'maxDeletes',
    'maxDeletePercent',
    'maxNodeRestartPercent',
    /** The first plan of a binding waits where the environment holds objects already. */
    'firstPlan',
    'rewrittenHistory',
    'missingPath',
    'emptyPath',
  ]),
  limit: Nullable(Type.Number()),
  value: Nullable(Type.Number()),
  exceeded: Type.Boolean(),
  message: Type.String(),
});
export type GuardResult = Static<typeof GuardResult>;

/** What holds for nodes as a whole: all pipelines of a node share one host. */
export const FleetFinding = Type.Object({
  type: Type.Enum([
    'port-clash',
    'data-dir-clash',
    'selector-matches-nothing',
    'unknown-component',
    'missing-secret',
  ]),
  /** error: the check fails; warning: reported, and nothing is stopped. */
  severity: Type.Enum(['error', 'warning']),
  message: Type.String(),
  pipelines: Type.Array(Type.String()),
  /** The first 20 hosts. */
  hosts: Type.Array(Type.String()),
});
export type FleetFinding = Static<typeof FleetFinding>;

export const PLAN_STATES = [
  /** Nothing to do. */
  'empty',
  /** The next pass applies it. */
  'ready',
  /** Waits for an ADMIN to approve this hash. */
  'waiting',
  'approved',
  /** The mode is `observe` or `off`, or the binding is suspended. */
  'not-applied',
  /** Some manifests are refused; the others would be applied. */
  'partial',
] as const;

export const GitPlan = Type.Object({
  environmentId: Id,
  environmentName: Type.String(),
  /** What was planned: a commit of the repository, or files that were handed over (then null). */
  commit: Nullable(
    Type.Object({ sha: Type.String(), author: Type.String(), subject: Type.String(), at: Timestamp }),
  ),
  ref: Nullable(Type.String()),
  /** Names exactly what would be done; approving approves this and nothing else. */
  hash: Type.String(),
  state: Type.Enum([...PLAN_STATES]),
  counts: Type.Object({
    create: Type.Integer(),
    update: Type.Integer(),
    delete: Type.Integer(),
    adopt: Type.Integer(),
    rename: Type.Integer(),
    heal: Type.Integer(),
    keep: Type.Integer(),
    refuse: Type.Integer(),
    unchanged: Type.Integer(),
  }),
  /** What changes first, by kind and name; at most 500, `changesTotal` counts all. */
  changes: Type.Array(PlannedChange),
  changesTotal: Type.Integer(),
  /** Findings that belong to no manifest: files that cannot be read. */
  findings: Type.Array(PlanFinding),
  guards: Type.Array(GuardResult),
  fleet: Type.Array(FleetFinding),
  nodes: TouchedNodes,
  approval: Nullable(Type.Object({ by: Type.String(), at: Timestamp })),
  plannedAt: Timestamp,
});
export type GitPlan = Static<typeof GitPlan>;

export const PlanFile = Input({
  /** From the root of the repository. */
  path: Type.String({ minLength: 1, maxLength: 1024 }),
  /** Of a link: where it leads. */
  text: Type.String({ maxLength: 1024 * 1024 }),
  /** A symbolic link: reported, and never followed. */
  link: Type.Optional(Type.Boolean()),
});
export type PlanFile = Static<typeof PlanFile>;

/** Without `ref` and `files`: what the next pass would do. */
export const PlanGit = Input({
  environmentId: Id,
  /** Another branch, tag or commit of the same repository. */
  ref: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  /** The whole tree that is to be planned instead of the repository's, 8 MiB of text at most. */
  files: Type.Optional(Type.Array(PlanFile, { maxItems: 10_000 })),
});
export type PlanGit = Static<typeof PlanGit>;

export const ApprovePlan = Input({
  environmentId: Id,
  hash: Type.String({ pattern: worded('^[0-9a-f]{32}$', 'must be the hash of the plan that is approved') }),
});
export const ApprovedPlan = Type.Object({ hash: Type.String(), approvedBy: Type.String() });

export const OwnableKindName = Type.Enum([...OWNABLE_KINDS]);
