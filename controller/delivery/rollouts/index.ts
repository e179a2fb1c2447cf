export { type Comparison, compareFigures } from './decision/compare-figures.ts';
export { type Step, step } from './decision/next-step.ts';
export { type NodeFacts, type Observed, type ObservedNode, observe } from './decision/observe-nodes.ts';
export { recordObserved } from './record-observed.ts';
export { deleteOldRollouts } from './retention-store.ts';
export {
  ACTIVE_ROLLOUT,
  AUTO_REVERTS,
  beginHealthCheck,
  findActiveRollout,
  findRollout,
  isActive,
  listActiveRollouts,
  listRollouts,
  type NewRollout,
  type RolloutRecord,
  SERVED_VERSIONS,
} from './store.ts';
export { summaryOf } from './summary.ts';
export {
  ALL_ROLLOUTS,
  assertNoRollout,
  continueRollouts,
  endActive,
  ROLLOUTS_LOOP,
  startRollouts,
} from './transitions.ts';
