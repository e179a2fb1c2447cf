/** What the operations of the controller ask of git beside the loop: plans, changes of manifests, exports. */

import { createPlanner, type Planner } from '../../reconcilers/plan-view/index.ts';
import { createWriteBack } from '../../reconcilers/write-back/index.ts';
import type { GitGateway } from '../delivery/bindings/index.ts';

export const createGitGateway = (planner: Pick<Planner, 'plan'> = createPlanner()): GitGateway => ({
  ...createWriteBack(),
  plan: planner.plan,
});
