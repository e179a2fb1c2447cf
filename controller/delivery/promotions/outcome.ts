/** What a promotion comes to at once, by its target. */
import type { PromotionPreflight } from '../../../schemas/api/delivery/promotions.ts';
import type { Binding } from '../bindings/index.ts';

/**
 * The first that fits: a target that git describes waits for its pull request, one with approval for an ADMIN, and any other is
 * deployed. `binding` is null for a target that git does not describe.
 */
export function outcomeFor(binding: Binding | null, requireApproval: boolean): PromotionPreflight['outcome'] {
  if (binding) return 'AWAITING_PR_MERGE';
  return requireApproval ? 'PENDING' : 'DEPLOYED';
}
