/** What the operations of this room ask of the reconcilers above it; the composition root supplies it. */
import type { Knex } from 'knex';
import type { GitPlan, PlanGit } from '../../../schemas/api/git-plan.ts';
import type { GitPolicy, OwnableKind } from '../../../schemas/api/git-policy.ts';
import type { Committed, ExportedManifests, Proposed } from '../../../schemas/api/git-words.ts';
import type { Context } from '../../platform/operation/context.ts';
import type { Binding } from './store.ts';

/** A manifest without the places of a file: what a document says, and what the database holds. */
export interface PlainManifest {
  kind: OwnableKind;
  name: string;
  uid: string | null;
  labels: Record<string, string>;
  /** As the manifest schema has it, defaults left out. */
  spec: Record<string, unknown>;
}

/** A change of one git-owned object, as an operation would have made it in the database. */
export interface OwnedChange {
  objectId: string;
  /** The operation that asks, for example `alert.updateRule`. */
  operation: string;
  before: PlainManifest;
  /** Null: it is deleted. */
  after: PlainManifest | null;
}

/** A pipeline that somebody rolled back though git describes it. */
export interface RolledBack {
  pipelineId: string;
  /** For people: who did it, and to what. */
  reason: string;
}

/** Where a change went; `fields` are JSON pointers into the manifest, none for a deletion. */
export type Written<T> = T & { fields: string[] };

export interface GitGateway {
  /** What a change by hand of an object that git owns becomes here. */
  editsBecome(db: Knex, environmentId: string): Promise<GitPolicy['uiEdits']>;
  /** What the database holds of an object, as a manifest would say it; null where it does not live. */
  manifestOf(db: Knex, kind: OwnableKind, objectId: string): Promise<PlainManifest | null>;
  /** Computes a plan and applies nothing. */
  plan(ctx: Context, binding: Binding, what: Pick<PlanGit, 'ref' | 'files'>): Promise<GitPlan>;
  /**
   * Writes the change into the manifest, and nothing else of the file.
   * @throws PRECONDITION_FAILED where it cannot be written without touching other lines.
   */
  writeBack(ctx: Context, environmentId: string, change: OwnedChange): Promise<Written<Committed>>;
  /** The same on a branch of its own, with a pull request. */
  propose(ctx: Context, environmentId: string, change: OwnedChange): Promise<Written<Proposed>>;
  /**
   * Proposes that git says of a pipeline what it was rolled back to: what of it a version holds, and nothing else.
   * @throws PRECONDITION_FAILED where git says so already, or it cannot be written without touching other lines.
   */
  proposeRollback(ctx: Context, environmentId: string, rolledBack: RolledBack): Promise<Written<Proposed>>;
  /** Canonical manifests of what the environment holds in the database. */
  export(ctx: Context, environmentId: string, kinds: readonly OwnableKind[]): Promise<ExportedManifests>;
}

declare module '../../platform/operation/context.ts' {
  interface Services {
    git: GitGateway;
  }
}
