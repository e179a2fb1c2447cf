/** Operators override the loop for the environment or one object: suspend and resume, adopt, confirm a deletion. */
import type { OwnableKind } from '../../../../schemas/api/delivery/git-policy.ts';
import {
  AdoptObject,
  ConfirmPrune,
  OverrideChange,
  ResumeGit,
  SuspendGit,
} from '../../../../schemas/api/delivery/git-words.ts';
import { nameKeyOf } from '../../../../schemas/manifests/index.ts';
import { environmentScope } from '../../../identity/access/index.ts';
import type { MutationContext } from '../../../platform/operation/context.ts';
import { badRequest, preconditionFailed } from '../../../platform/operation/errors.ts';
import { mutation } from '../../../platform/operation/operation.ts';
import { listOwnedByUi } from '../../ownership/index.ts';
import { boundEnvironment, manifestOf, operatorOf, wake } from '../environment-binding.ts';
import { readLine } from '../inventory/inventory-store.ts';
import { setSuspended } from '../status-store.ts';
import type { Binding } from '../store.ts';
import { clearOverride, setOverride } from './overrides-store.ts';

interface MaybeObject {
  kind?: OwnableKind | undefined;
  name?: string | undefined;
}

/** Null for the whole environment. @throws BAD_REQUEST when only one of kind and name is given */
function objectOf({ kind, name }: MaybeObject): { kind: OwnableKind; name: string } | null {
  if (kind === undefined && name === undefined) return null;
  if (kind === undefined || name === undefined)
    throw badRequest('give kind and name, or neither of them for the whole environment');
  return { kind, name };
}

const keyOf = (binding: Binding, { kind, name }: { kind: OwnableKind; name: string }) => ({
  bindingId: binding.id,
  kind,
  nameKey: nameKeyOf(name),
});

/** A manifest without an object yet is audited by its binding. */
function auditOverride(
  ctx: MutationContext,
  binding: Binding,
  of: { kind: OwnableKind; name: string; objectId: string | null } | null,
  more: Record<string, unknown> = {},
): void {
  ctx.audit({
    entityType: of?.objectId ? of.kind : 'GitBinding',
    entityId: of?.objectId ?? binding.id,
    metadata: { ...(of ? { kind: of.kind, name: of.name } : {}), ...more },
  });
}

export const suspend = mutation({
  name: 'gitSync.suspend',
  summary: 'Stop git from changing the environment, or one object in it, until somebody resumes it',
  role: 'EDITOR',
  permission: 'gitops.manage',
  audit: 'gitSync.suspended',
  input: SuspendGit,
  output: OverrideChange,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, reason = '', ...input }) {
    const of = objectOf(input);
    const binding = await boundEnvironment(ctx, environmentId);
    const by = operatorOf(ctx);
    if (of) {
      const { name, objectId } = await manifestOf(ctx, binding, of);
      await setOverride(ctx.db, keyOf(binding, of), 'suspend', { by, reason });
      auditOverride(ctx, binding, { ...of, name, objectId }, { reason });
    } else {
      if (!(await setSuspended(ctx.db, binding, { by: by.name, reason })))
        throw preconditionFailed('Git is suspended here already');
      auditOverride(ctx, binding, null, { reason });
    }
    await wake(ctx, environmentId, 'suspended');
    return { environmentId, ...of };
  },
});

export const resume = mutation({
  name: 'gitSync.resume',
  summary: 'End a suspension',
  role: 'EDITOR',
  permission: 'gitops.manage',
  audit: 'gitSync.resumed',
  input: ResumeGit,
  output: OverrideChange,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, ...input }) {
    const of = objectOf(input);
    const binding = await boundEnvironment(ctx, environmentId);
    if (of) {
      if (!(await clearOverride(ctx.db, keyOf(binding, of), 'suspend')))
        throw preconditionFailed(
          `"${of.name}" was not suspended here; where its manifest says suspend: true, take it out of the manifest`,
        );
    } else if (!(await setSuspended(ctx.db, binding, null)))
      throw preconditionFailed('Git is not suspended here');
    const line = of && (await readLine(ctx.db, binding.id, of.kind, nameKeyOf(of.name)));
    auditOverride(ctx, binding, of && { ...of, objectId: line?.objectId ?? null });
    await wake(ctx, environmentId, 'resumed');
    return { environmentId, ...of };
  },
});

export const adopt = mutation({
  name: 'gitSync.adopt',
  summary: 'Let git take over an object of the UI that has the name of a manifest',
  role: 'EDITOR',
  permission: 'gitops.manage',
  audit: 'gitSync.adoptionAllowed',
  input: AdoptObject,
  output: OverrideChange,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, kind, name }) {
    const binding = await boundEnvironment(ctx, environmentId);
    const line = await manifestOf(ctx, binding, { kind, name });
    const owned = await listOwnedByUi(ctx.db, environmentId);
    const object = owned.find((object) => object.kind === kind && object.nameKey === line.nameKey);
    if (line.objectName !== null || !object)
      throw preconditionFailed(
        `There is nothing to adopt: no object of the UI has the name of the manifest "${line.name}"`,
      );
    const by = operatorOf(ctx);
    await setOverride(ctx.db, keyOf(binding, { kind, name }), 'adopt', { by, reason: '' });
    ctx.audit({ entityType: kind, entityId: object.id, metadata: { name: object.name } });
    await wake(ctx, environmentId, 'adopt');
    return { environmentId, kind, name: line.name };
  },
});

export const confirmPrune = mutation({
  name: 'gitSync.confirmPrune',
  summary:
    'Let the next pass delete an object whose manifest is gone from git and that waits for this confirmation',
  role: 'ADMIN',
  audit: 'gitSync.pruneConfirmed',
  input: ConfirmPrune,
  output: OverrideChange,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, kind, name }) {
    const binding = await boundEnvironment(ctx, environmentId);
    const line = await manifestOf(ctx, binding, { kind, name });
    if (!line.prunePending) throw preconditionFailed(`"${line.name}" does not wait to be deleted`);
    if (line.prunePolicy === 'never')
      throw preconditionFailed(
        `"${line.name}" is never deleted by git (headgate/prune: never); delete it by hand, or take the annotation away in git first`,
      );
    const by = operatorOf(ctx);
    await setOverride(ctx.db, keyOf(binding, { kind, name }), 'prune', { by, reason: '' });
    auditOverride(ctx, binding, { kind, name: line.name, objectId: line.objectId });
    await wake(ctx, environmentId, 'prune confirmed');
    return { environmentId, kind, name: line.name };
  },
});
