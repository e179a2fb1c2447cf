export {
  ALL_ROLLOUTS,
  carryOn,
  endActive,
  ROLLOUTS_LOOP,
  refuseDuringRollout,
  startRollouts,
} from './changing.ts';
export { type Judgement, judge } from './judge.ts';
export { type NodeSeen, type Observed, type ObservedNode, observe } from './observe.ts';
export { recordObserved } from './progress.ts';
export { deleteOldRollouts } from './retention-store.ts';
export { type Step, step } from './step.ts';
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
