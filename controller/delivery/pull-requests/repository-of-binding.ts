/** Which pull requests belong to an environment, and the URL of one. */
import type { ForgeName } from '../../../schemas/api/delivery/pull-requests.ts';
import type { Context } from '../../platform/operation/context.ts';
import type { Binding } from '../bindings/index.ts';
import type { PullRequestRecord, PullRequestsOf } from './store.ts';

/** The forge with the pull requests of the binding's repository. */
export const forgeOf = (binding: Pick<Binding, 'forge'>): ForgeName =>
  binding.forge === 'none' ? 'headgate' : binding.forge;

/** Two bindings of one address may name different servers, so each has its own project. */
export const projectOf = ({ forge, forgeUrl, forgeProject }: Binding): string =>
  forge === 'none' ? '' : [forgeUrl, forgeProject].filter((part) => part !== null).join(' ');

export const pullRequestsOf = (binding: Binding): PullRequestsOf => ({
  repository: binding.repositoryUrl,
  forge: forgeOf(binding),
  project: projectOf(binding),
  base: binding.ref,
});

/**
 * Knowing the address of a repository gives no right to its content: only a binding whose own credentials have read it sees
 * its pull requests and decides about them.
 */
export const hasRead = ({ repositoryUrl, readAt }: Pick<Binding, 'repositoryUrl' | 'readAt'>): boolean =>
  repositoryUrl === 'embedded' || readAt !== null;

/** On its forge, or its page in the UI. */
export const pullRequestUrl = (
  { services }: Pick<Context, 'services'>,
  environmentId: string,
  { url, number }: Pick<PullRequestRecord, 'url' | 'number'>,
): string => url ?? `${services.baseUrl}/e/${encodeURIComponent(environmentId)}/promotions/${number}`;
