export { CLOSE_PULL_REQUEST_JOB } from './close-pull-request.ts';
export * as promotionDecisions from './decide-operations.ts';
export type { ManifestPreview, ManifestRequest, PromotionGateway, PushedPromotion } from './gateway.ts';
export * as promotionInitiation from './initiate-operation.ts';
export { notifyUi, PROMOTIONS_LOOP } from './notify-ui.ts';
export * as promotionOperations from './operations.ts';
export { findSourceName as sourceNameOf } from './resolve-source.ts';
export { deleteOldPromotions } from './retention-store.ts';
export type { ManifestSnapshot } from './snapshot/snapshot.ts';
export { readSourceHealth as sourceHealth } from './source-health.ts';
export {
  findPromotion,
  findReopened,
  listAwaitingMerge as listAwaiting,
  MAX_ERROR_CHARACTERS,
  type PromotionRecord,
  recordError,
} from './store.ts';
export * as promotionTransitions from './transitions.ts';
