/** What the operations of the controller ask of git beside the loop: plans, changes of manifests, exports. */
import type { GitGateway } from '../../controller/git-sync/index.ts';
import { createPlanner, type Planner } from '../plan-view/index.ts';
import { createWriteBack } from '../write-back/index.ts';

export const createGitGateway = (planner: Pick<Planner, 'plan'> = createPlanner()): GitGateway => ({
  ...createWriteBack(),
  plan: planner.plan,
});
