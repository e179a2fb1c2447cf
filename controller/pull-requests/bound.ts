/** Which pull requests belong to an environment, and where people read one. */
import type { ForgeName } from '../../schemas/api/pull-requests.ts';
import type { Binding } from '../git-sync/index.ts';
import type { Context } from '../platform/context.ts';
import type { PullRequestRecord, PullRequestsOf } from './store.ts';

/** Where the pull requests of the binding's repository live. */
export const forgeOf = (binding: Pick<Binding, 'forge'>): ForgeName =>
  binding.forge === 'none' ? 'headgate' : binding.forge;

export const pullRequestsOf = (binding: Binding): PullRequestsOf => ({
  repository: binding.repositoryUrl,
  forge: forgeOf(binding),
  base: binding.ref,
});

/** On its forge, or its page here. */
export const pullRequestUrl = (
  { services }: Pick<Context, 'services'>,
  environmentId: string,
  { url, number }: Pick<PullRequestRecord, 'url' | 'number'>,
): string => url ?? `${services.baseUrl}/e/${encodeURIComponent(environmentId)}/promotions/${number}`;
