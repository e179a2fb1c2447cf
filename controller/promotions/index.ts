export * as promotionDeciding from './deciding.ts';
export type { ManifestPreview, ManifestWanted, PromotionGateway, PushedPromotion } from './gateway.ts';
export { sourceHealth } from './health.ts';
export * as promotionInitiating from './initiating.ts';
export { PROMOTIONS_LOOP, tellPages } from './news.ts';
export * as promotionOperations from './operations.ts';
export * as promotionSettling from './settling.ts';
export type { ManifestSnapshot } from './snapshot.ts';
export { findPromotion, listAwaiting, noteTrouble, type PromotionRecord } from './store.ts';
