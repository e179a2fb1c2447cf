/** Environments that follow git no more: nothing of them is looked at or remembered. */
import { setImmediate as turn } from 'node:timers/promises';
import { createLease } from '../../../controller/platform/runtime/lease.ts';
import { createGitReconciler } from '../../../reconcilers/git/index.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import { QUIET } from '../../support/harness/platform.ts';
import { until } from '../../support/harness/until.ts';
import { ReconcileScene } from '../../support/scenes/reconcile.ts';

const DAY_MS = 86_400_000;

describe('the git reconciler', () => {
  it('has no timer for an environment whose binding is off or gone', async () => {
    const scene = await ReconcileScene.open();
    const { db, services, execute } = scene;
    const environments = [await scene.environment(), await scene.environment()];
    const manual = manualClock();
    let timers = 0;
    /** Counts what is planned and not cancelled or run. */
    const clock = {
      ...manual,
      after(ms: number, task: () => void) {
        timers += 1;
        let over = false;
        const end = () => {
          if (!over) timers -= 1;
          over = true;
        };
        const cancel = manual.after(ms, () => {
          end();
          task();
        });
        return () => {
          end();
          cancel();
        };
      },
    };
    const lease = createLease({ db, key: 'leader', log: QUIET });
    await lease.start();
    const gitdir = environments[0]?.repository.gitdir ?? '';
    const log = QUIET;
    const told = { gitdir, uiUrl: '', pushWaitMs: 3_000 };
    const git = createGitReconciler({ db, clock, log, services, execute, lease, ...told });
    try {
      await git.start();
      await until(async () => timers === 2, { what: () => `2 timers, not ${timers}` });
      await db('git_bindings').where({ environment_id: environments[0]?.id }).update({ mode: 'off' });
      await db('git_bindings').where({ environment_id: environments[1]?.id }).delete();
      // A pass that runs has a timer too, its deadline: there is none only where no other pass is to come.
      const isQuiet = async () => {
        manual.advance(DAY_MS);
        await turn();
        return timers === 0;
      };
      await until(isQuiet, { what: () => `no timer, not ${timers}` });
    } finally {
      await git.stop();
      await lease.stop();
      await scene.close();
    }
  });
});
