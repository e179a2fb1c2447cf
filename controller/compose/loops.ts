/** The reconcilers. Each runs on the controller that leads. */

import { createAlertReconciler } from '../../reconcilers/alerts/index.ts';
import type { Forges } from '../../reconcilers/forges/index.ts';
import { createGitReconciler } from '../../reconcilers/git/index.ts';
import { createNotificationReconciler } from '../../reconcilers/notifications/index.ts';
import type { Planner } from '../../reconcilers/plan-view/index.ts';
import { createPromotionReconciler } from '../../reconcilers/promotions/index.ts';
import { createPullRequestReconciler } from '../../reconcilers/pull-requests/loop.ts';
import { createRolloutReconciler } from '../../reconcilers/rollouts/index.ts';
import { createSecretReconciler } from '../../reconcilers/secrets/index.ts';
import { enqueueNotices } from '../insight/notifications/index.ts';
import type { Context } from '../platform/operation/context.ts';
import type { Execute } from '../platform/operation/operation.ts';
import type { Lease } from '../platform/runtime/lease.ts';
import type { Lifecycle } from './lifecycle.ts';

export interface LoopsOptions extends Pick<Context, 'db' | 'clock' | 'log' | 'services'> {
  execute: Execute;
  lease: Lease;
  planner: Planner;
  forges: Forges;
  gitdir: string;
  uiUrl: string;
  pushWaitMs: number;
  /** Called after each pass of the git reconciler. */
  onPass(outcome: string, seconds: number): void;
}

export function createLoops({ planner, forges, gitdir, uiUrl, pushWaitMs, onPass, ...shared }: LoopsOptions) {
  const git = createGitReconciler({ ...shared, gitdir, uiUrl, pushWaitMs, onPass });
  const pullRequests = createPullRequestReconciler({ ...shared, forges, planner });
  const secrets = createSecretReconciler(shared);
  const rollouts = createRolloutReconciler(shared);
  const promotions = createPromotionReconciler(shared);
  const alerts = createAlertReconciler({ ...shared, notify: enqueueNotices });
  const notifications = createNotificationReconciler(shared);
  return {
    git,
    async start(lifecycle: Lifecycle): Promise<void> {
      const loops = { git, pullRequests, secrets, rollouts, promotions, alerts, notifications };
      for (const [name, loop] of Object.entries(loops)) {
        await loop.start();
        lifecycle.onStop(`reconciler: ${name}`, () => loop.stop());
      }
    },
  };
}
