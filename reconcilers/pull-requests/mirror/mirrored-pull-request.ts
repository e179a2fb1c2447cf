import type { Binding } from '../../../controller/delivery/bindings/index.ts';
import type { MirroredPullRequest } from '../../../controller/delivery/pull-requests/index.ts';
import { forgeOf, projectOf } from '../../../controller/delivery/pull-requests/index.ts';
import type { ForgePullRequest } from '../../forges/forge.ts';

/** What a forge says of a pull request, as it is kept here. */
export const mirrored = (
  binding: Binding,
  { updatedAt: _, ...seen }: ForgePullRequest,
): MirroredPullRequest => ({
  ...seen,
  repository: binding.repositoryUrl,
  forge: forgeOf(binding),
  project: projectOf(binding),
});
