/** Who may decide on a promotion, and in which states. */
import type { Context } from '../../platform/operation/context.ts';
import { forbidden, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { findPromotion, lockPromotion, type PromotionRecord } from './store.ts';

const ENDED_MESSAGES: Partial<Record<PromotionRecord['status'], string>> = {
  DEPLOYED: 'is deployed already',
  REJECTED: 'was rejected; promote the pipeline again',
  CANCELLED: 'was cancelled; promote the pipeline again',
};

/** @throws NOT_FOUND */
export async function getPromotion(
  ctx: Context,
  requestId: string,
  locked = false,
): Promise<PromotionRecord> {
  const found = await (locked ? lockPromotion : findPromotion)(ctx.db, requestId);
  if (!found) throw notFound('Promotion');
  return found;
}

/** @throws PRECONDITION_FAILED unless the promotion still needs a decision */
export function assertPending({ status, targetName }: PromotionRecord, allowAwaitingMerge: boolean): void {
  if (status === 'AWAITING_PR_MERGE' && !allowAwaitingMerge)
    throw preconditionFailed(
      `The promotion of "${targetName}" is decided on by its pull request: merge that, or close it`,
    );
  if (ENDED_MESSAGES[status])
    throw preconditionFailed(`The promotion of "${targetName}" ${ENDED_MESSAGES[status]}`);
}

/** Nobody approves their own promotion, on any surface; service accounts approve none. @throws FORBIDDEN */
export function assertNotOwn({ actor }: Context, { requestedById }: PromotionRecord): void {
  if (actor.type !== 'user') throw forbidden('Only people approve promotions; sign in as a user');
  if (actor.userId === requestedById)
    throw forbidden('You asked for this promotion yourself; another member of the team has to approve it');
}

/** @throws FORBIDDEN */
export function assertOwn({ actor }: Context, { requestedById, requestedBy }: PromotionRecord): void {
  if (actor.type !== 'user' || actor.userId !== requestedById)
    throw forbidden(
      `Only ${requestedBy}, who asked for it, may cancel a promotion; reject it, or close its pull request`,
    );
}
