/** Holds: specs that git must not apply again, because somebody decided against them. */
import { OfEnvironment } from '../../../../schemas/api/delivery/git-sync.ts';
import {
  GitHold,
  GitHolds,
  HoldGit,
  OverrideChange,
  ReleaseHold,
} from '../../../../schemas/api/delivery/git-words.ts';
import { environmentScope } from '../../../identity/access/index.ts';
import { notFound, preconditionFailed } from '../../../platform/operation/errors.ts';
import { mutation, query } from '../../../platform/operation/operation.ts';
import { boundEnvironment, manifestOf, operatorOf, wake } from '../environment-binding.ts';
import { listManifests, type ManifestRecord } from '../inventory/inventory-store.ts';
import { findBinding } from '../store.ts';
import {
  type HoldRecord,
  insertHold,
  listHolds,
  listOverrides,
  releaseHold as release,
} from './overrides-store.ts';

const keyOf = ({ kind, nameKey }: { kind: string; nameKey: string }) => `${kind}/${nameKey}`;

function toHold({ nameKey: _, ...hold }: HoldRecord, line: ManifestRecord | undefined): GitHold {
  return {
    ...hold,
    kind: hold.kind as GitHold['kind'],
    current: line !== undefined && !line.prunePending && line.seenHash === hold.specHash,
  };
}

export const hold = mutation({
  name: 'gitSync.hold',
  summary: 'Keep git from applying the spec that it has now; a newer one is taken',
  role: 'EDITOR',
  permission: 'gitops.manage',
  audit: 'gitSync.held',
  input: HoldGit,
  output: GitHold,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, kind, name, reason }) {
    const binding = await boundEnvironment(ctx, environmentId);
    const line = await manifestOf(ctx, binding, { kind, name });
    if (line.seenHash === null || line.prunePending)
      throw preconditionFailed(
        `Git has no spec of "${line.name}" that can be held: its manifest is broken or gone`,
      );
    const { nameKey, seenHash: specHash } = line;
    const by = operatorOf(ctx);
    const of = { bindingId: binding.id, kind, nameKey, name: line.name, specHash };
    const id = await insertHold(ctx.db, of, { by, reason });
    ctx.audit({ entityType: 'GitHold', entityId: id, metadata: { kind, name: line.name, specHash, reason } });
    await wake(ctx, environmentId, 'held');
    return {
      ...{ id, kind, name: line.name, specHash, reason },
      by: by.name,
      at: new Date(ctx.clock.now()),
      current: true,
    };
  },
});

export const holds = query({
  name: 'gitSync.holds',
  summary:
    'What operators decided: specs that are held, objects that are suspended, adopted or to be deleted',
  role: 'VIEWER',
  permission: 'gitops.read',
  input: OfEnvironment,
  output: GitHolds,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId }) {
    const binding = await findBinding(ctx.db, environmentId);
    if (!binding) return { holds: [], words: [] };
    const lines = new Map((await listManifests(ctx.db, binding.id)).map((line) => [keyOf(line), line]));
    return {
      holds: (await listHolds(ctx.db, binding.id)).map((hold) => toHold(hold, lines.get(keyOf(hold)))),
      words: (await listOverrides(ctx.db, binding.id)).map(({ nameKey, action, ...override }) => ({
        ...override,
        word: action,
        kind: override.kind as GitHold['kind'],
        name: lines.get(keyOf({ kind: override.kind, nameKey }))?.name ?? nameKey,
      })),
    };
  },
});

export const releaseHold = mutation({
  name: 'gitSync.releaseHold',
  summary: 'Let git apply a spec again that was held',
  role: 'EDITOR',
  permission: 'gitops.manage',
  audit: 'gitSync.holdReleased',
  input: ReleaseHold,
  output: OverrideChange,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, id }) {
    const binding = await findBinding(ctx.db, environmentId);
    const released = binding && (await release(ctx.db, binding.id, id, operatorOf(ctx).name));
    if (!released) throw notFound('Hold');
    const { name, specHash } = released;
    const kind = released.kind as GitHold['kind'];
    ctx.audit({ entityType: 'GitHold', entityId: id, metadata: { kind, name, specHash } });
    await wake(ctx, environmentId, 'hold released');
    return { environmentId, kind, name };
  },
});
