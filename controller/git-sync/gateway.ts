/** What the operations of this room ask of the reconcilers above it; the composition root supplies it. */
import type { GitPlan, PlanGit } from '../../schemas/api/git-plan.ts';
import type { OwnableKind } from '../../schemas/api/git-policy.ts';
import type { Committed, ExportedManifests, Proposed } from '../../schemas/api/git-words.ts';
import type { Context } from '../platform/context.ts';
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
  /** The operation that asks, and what people call what it does: "Set the threshold of …". */
  operation: string;
  title: string;
  before: PlainManifest;
  /** Null: it is deleted. */
  after: PlainManifest | null;
}

export interface GitGateway {
  /** Computes a plan and applies nothing. */
  plan(ctx: Context, binding: Binding, what: Pick<PlanGit, 'ref' | 'files'>): Promise<GitPlan>;
  /**
   * Writes the change into the manifest, and nothing else of the file.
   * @throws PRECONDITION_FAILED where it cannot be written without touching other lines.
   */
  writeBack(ctx: Context, binding: Binding, change: OwnedChange): Promise<Committed>;
  /** The same on a branch of its own, with a pull request. */
  propose(ctx: Context, binding: Binding, change: OwnedChange): Promise<Proposed>;
  /** Canonical manifests of what the environment holds in the database. */
  export(ctx: Context, environmentId: string, kinds: readonly OwnableKind[]): Promise<ExportedManifests>;
}

declare module '../platform/context.ts' {
  interface Services {
    git: GitGateway;
  }
}
