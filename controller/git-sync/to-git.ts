/** What goes from the database to git: manifests to be committed by people, and the proposals that wait for a review. */
import { OWNABLE_KINDS } from '../../schemas/api/git-policy.ts';
import { ExportedManifests, ExportManifests, ListProposals, Proposals } from '../../schemas/api/git-words.ts';
import { environmentScope } from '../access/index.ts';
import { query } from '../platform/operation.ts';
import { listPullRequests } from './pull-requests-store.ts';
import { findBinding } from './store.ts';

export const exportManifests = query({
  name: 'gitSync.export',
  summary: 'Manifests of what an environment holds, ready to be committed',
  // An editor may read whole configs anyway; whoever only looks sees some values blanked.
  role: 'EDITOR',
  permission: 'gitops.read',
  input: ExportManifests,
  output: ExportedManifests,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  run: (ctx, { environmentId, kinds }) => ctx.services.git.export(ctx, environmentId, kinds ?? OWNABLE_KINDS),
});

export const proposals = query({
  name: 'gitSync.proposals',
  summary: 'Changes of what git describes that wait for a review, newest first',
  role: 'VIEWER',
  permission: 'gitops.read',
  input: ListProposals,
  output: Proposals,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, state }) {
    const binding = await findBinding(ctx.db, environmentId);
    return binding ? listPullRequests(ctx.db, binding.id, state) : [];
  },
});
