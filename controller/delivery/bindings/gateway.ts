/** What the operations of this domain ask of the reconcilers; the composition root supplies it. */
import type { Knex } from 'knex';
import type { GitPlan, PlanGit } from '../../../schemas/api/delivery/git-plan.ts';
import type { GitPolicy, OwnableKind } from '../../../schemas/api/delivery/git-policy.ts';
import type { Committed, ExportedManifests, Proposed } from '../../../schemas/api/delivery/git-words.ts';
import type { Context } from '../../platform/operation/context.ts';
import type { Binding } from './store.ts';

/** A manifest without its place in a file, as a document or the database has it. */
export interface PlainManifest {
  kind: OwnableKind;
  name: string;
  uid: string | null;
  labels: Record<string, string>;
  /** In the form of the manifest schema, without defaults. */
  spec: Record<string, unknown>;
}

/** A change of one git-owned object, as an operation would make it in the database. */
export interface OwnedChange {
  objectId: string;
  /** The operation that makes the change, for example `alert.updateRule`. */
  operation: string;
  before: PlainManifest;
  /** Null: the object is deleted. */
  after: PlainManifest | null;
  /** Title and text of a pull request, in the place of those that are made of the fields. */
  texts?: { title: string; body: string };
}

/** A manifest that git does not have yet. */
export interface NewManifest {
  /** What it is made of, for the row of the pull request. */
  objectId: string;
  operation: string;
  manifest: PlainManifest;
  texts: { title: string; body: string };
}

/** A pipeline that somebody rolled back although a manifest describes it. */
export interface RolledBack {
  pipelineId: string;
  /** For readers of the proposal: who rolled back, and to what. */
  reason: string;
}

/** Where a change was written. `fields` are JSON pointers into the manifest, none for a deletion. */
export type Written<T> = T & { fields: string[] };

/** A change on a branch of its own. */
export type WrittenProposal = Written<Proposed> & { pullRequestId: string };

export interface GitGateway {
  /** What a manual change of a git-owned object becomes in this environment. */
  editsBecome(db: Knex, environmentId: string): Promise<GitPolicy['uiEdits']>;
  /** An object of the database as a manifest; null when it does not exist or is tombstoned. */
  manifestOf(db: Knex, kind: OwnableKind, objectId: string): Promise<PlainManifest | null>;
  /** Computes a plan and applies nothing. */
  plan(ctx: Context, binding: Binding, what: Pick<PlanGit, 'ref' | 'files'>): Promise<GitPlan>;
  /**
   * Writes the change into the manifest and touches nothing else in the file.
   * @throws PRECONDITION_FAILED when it cannot be written without touching other lines
   */
  writeBack(ctx: Context, environmentId: string, change: OwnedChange): Promise<Written<Committed>>;
  /** Like `writeBack`, on a branch of its own with a pull request. */
  propose(ctx: Context, environmentId: string, change: OwnedChange): Promise<WrittenProposal>;
  /**
   * Proposes a manifest in a file of its own.
   * @throws CONFLICT when git has one of that name
   */
  proposeManifest(
    ctx: Context,
    environmentId: string,
    created: NewManifest,
  ): Promise<WrittenProposal & { path: string }>;
  /**
   * Proposes the spec of the version that a pipeline was rolled back to, as far as a version holds it.
   * @throws PRECONDITION_FAILED when git has that spec already, or it cannot be written without touching other lines
   */
  proposeRollback(ctx: Context, environmentId: string, rolledBack: RolledBack): Promise<WrittenProposal>;
  /** The objects of the environment as canonical manifests. */
  export(ctx: Context, environmentId: string, kinds: readonly OwnableKind[]): Promise<ExportedManifests>;
}

declare module '../../platform/operation/context.ts' {
  interface Services {
    git: GitGateway;
  }
}
