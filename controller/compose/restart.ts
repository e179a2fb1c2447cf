/** A controller that starts again inside its process once a backup was restored: nothing that it knew of before holds any more. */
import { setTimeout as sleep } from 'node:timers/promises';
import { backoff } from '../../reconcilers/loops/backoff.ts';
import type { Controller } from '../main.ts';
import { messageOf } from '../platform/operation/errors.ts';
import type { Logger } from '../platform/runtime/logger.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';

export interface Start {
  /** Of this start alone; what outlives a restart belongs to the process. */
  lifecycle: Lifecycle;
  isFirst: boolean;
  restart: () => void;
}

const delayAfter = backoff({ firstMs: 1_000, capMs: 30_000 });

/** `whole` is what outlives restarts; it is taken down last. Rejects where the first start fails. */
export async function keepController(
  log: Logger,
  whole: Lifecycle,
  start: (options: Start) => Promise<Controller>,
): Promise<Controller> {
  const stopping = new AbortController();
  let lifecycle = createLifecycle(log);
  let restarting: Promise<void> | null = null;
  let isWanted = false;
  const firstStart = Promise.withResolvers<void>();

  /** One that is asked for during a start follows it: what that one has read by then may be of before. */
  function restart(): void {
    isWanted = true;
    if (stopping.signal.aborted || restarting) return;
    restarting = restartWhileWanted().finally(() => {
      restarting = null;
    });
  }
  async function restartWhileWanted(): Promise<void> {
    await firstStart.promise;
    while (isWanted && !stopping.signal.aborted) await startAgain();
  }
  async function startAgain(): Promise<void> {
    log.info('a backup was restored: the controller starts again');
    await lifecycle.stop();
    for (let failures = 1; !stopping.signal.aborted; failures += 1) {
      lifecycle = createLifecycle(log);
      isWanted = false;
      try {
        current = await start({ lifecycle, isFirst: false, restart });
        return;
      } catch (error) {
        log.error({ reason: messageOf(error) }, 'the controller does not start yet, it is tried again');
        await lifecycle.stop();
        await sleep(delayAfter(failures), undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
  }

  let current: Controller;
  try {
    current = await start({ lifecycle, isFirst: true, restart });
  } catch (error) {
    stopping.abort();
    await lifecycle.stop();
    throw error;
  } finally {
    firstStart.resolve();
  }
  const { url, port, gitdir, cloneUrl, firstAdmin } = current;
  return {
    ...{ url, port, gitdir, cloneUrl, firstAdmin },
    execute: (operation, ctx, input) => current.execute(operation, ctx, input),
    systemContext: (name) => current.systemContext(name),
    async stop() {
      stopping.abort();
      await restarting;
      await lifecycle.stop();
      await whole.stop();
    },
  };
}
