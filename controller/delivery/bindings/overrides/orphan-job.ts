/** Gives objects of a kind that git no longer owns to the UI; nothing else about them changes. */
import Type from 'typebox';
import { OwnableKindName } from '../../../../schemas/api/delivery/git-plan.ts';
import { mutation } from '../../../platform/operation/operation.ts';
import { giveToUi } from '../../ownership/index.ts';

/** Run by the git reconciler only; no transport offers it. */
export const gitSyncOrphan = mutation({
  name: 'gitSync.orphan',
  summary: 'Leave objects that git owned to the UI',
  role: 'EDITOR',
  audit: 'gitSync.orphaned',
  input: Type.Object({
    environmentId: Type.String(),
    kind: OwnableKindName,
    objectIds: Type.Array(Type.String()),
  }),
  output: Type.Object({ orphaned: Type.Integer() }),
  scope: (_ctx, input) => ({ teamId: null, environmentId: input.environmentId }),
  async run(ctx, { environmentId, kind, objectIds }) {
    const given = await giveToUi(ctx.db, kind, environmentId, objectIds);
    for (const { id, name } of given)
      ctx.audit({ entityType: kind, entityId: id, environmentId, metadata: { name } });
    return { orphaned: given.length };
  },
});
