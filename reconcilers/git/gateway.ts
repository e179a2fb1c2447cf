/** What the operations of the controller ask of git beside the loop: plans, changes of manifests, exports. */
import type { GitGateway } from '../../controller/git-sync/index.ts';
import { preconditionFailed } from '../../controller/platform/errors.ts';

const notYet = async (): Promise<never> => {
  throw preconditionFailed('not built yet');
};

export const createGitGateway = (): GitGateway => ({
  plan: notYet,
  writeBack: notYet,
  propose: notYet,
  export: notYet,
});
