export { analyzeDueEnvironments } from './analyze.ts';
export * as recommendationApplying from './apply.ts';
export { recordMergedRecommendations } from './apply.ts';
export * as recommendationOperations from './operations.ts';
export { deleteResolvedBefore as deleteResolvedRecommendations } from './store.ts';
