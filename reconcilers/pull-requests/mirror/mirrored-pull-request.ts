import type { Binding } from '../../../controller/delivery/bindings/index.ts';
import type { MirroredPullRequest } from '../../../controller/delivery/pull-requests/index.ts';
import { forgeOf, projectOf } from '../../../controller/delivery/pull-requests/index.ts';
import type { ForgePullRequest } from '../../forges/forge.ts';

/** A forge's pull request as Headgate stores it. */
export const mirrored = (
  binding: Binding,
  { updatedAt: _, ...seen }: ForgePullRequest,
): MirroredPullRequest => ({
  ...seen,
  repository: binding.repositoryUrl,
  forge: forgeOf(binding),
  project: projectOf(binding),
});
