/** Exports the database as manifests that users commit themselves. */
import { OWNABLE_KINDS } from '../../../schemas/api/delivery/git-policy.ts';
import { ExportedManifests, ExportManifests } from '../../../schemas/api/delivery/git-words.ts';
import { environmentScope } from '../../identity/access/index.ts';
import { query } from '../../platform/operation/operation.ts';

export const exportManifests = query({
  name: 'gitSync.export',
  summary: 'Manifests of what an environment holds, ready to be committed',
  // An editor may read whole configs anyway; a viewer sees some values blanked.
  role: 'EDITOR',
  permission: 'gitops.read',
  input: ExportManifests,
  output: ExportedManifests,
  weight: 'heavy',
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  run: (ctx, { environmentId, kinds }) => ctx.services.git.export(ctx, environmentId, kinds ?? OWNABLE_KINDS),
});
