/** Objects of a kind that git does not own any more are the UI's from now on; nothing else of them changes. */
import Type from 'typebox';
import { OwnableKindName } from '../../../../schemas/api/git-plan.ts';
import { mutation } from '../../../platform/operation/operation.ts';
import { giveToUi } from '../../ownership/index.ts';

/** Of the git reconciler alone: no door leads here. */
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
