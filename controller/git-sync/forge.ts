/** Where the pull requests of a binding live, and how one comes in: what may be shown of it. */
import type { BoundForge, ReviewRules } from '../../schemas/api/git-sync.ts';
import type { Binding } from './store.ts';

/** Null for the embedded repository: its pull requests are always kept here. */
export function boundForgeOf(binding: Binding): BoundForge | null {
  if (binding.repositoryUrl === 'embedded') return null;
  return {
    name: binding.forge,
    url: binding.forgeUrl,
    project: binding.forgeProject,
    hasToken: binding.sealedForgeToken !== null,
    hasWebhookSecret: binding.sealedWebhookSecret !== null,
    error: binding.forgeError,
  };
}

/** Null for a remote: its forge has rules of its own. */
export const reviewRulesOf = (binding: Binding): ReviewRules | null =>
  binding.repositoryUrl === 'embedded'
    ? { protectBranch: binding.protectBranch, requiredApprovals: binding.requiredApprovals }
    : null;
