import type { Context } from '../../../platform/operation/context.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import { keepAlive } from '../conversation/store.ts';

const STORE_EVERY_MS = 5_000;

/** The reason of an answer that its user has stopped. */
class Stopped extends Error {}

/** Stores the answer as it grows, and notices where it shall be stopped: by a signal, or by the row where that is lost. */
export function watchStop(ctx: Context, messageId: string, content: () => string) {
  const controller = new AbortController();
  const stop = () => controller.abort(new Stopped());
  const off = ctx.services.bus.on('ai-stop', (signal) => {
    if (signal.messageId === messageId) stop();
  });
  let ended = false;
  let cancel = ctx.clock.after(STORE_EVERY_MS, tick);
  function tick(): void {
    keepAlive(ctx.db, messageId, { content: content(), at: new Date(ctx.clock.now()) })
      .then((isStopped) => {
        if (isStopped) stop();
      })
      .catch((error) => ctx.log.warn({ messageId, reason: messageOf(error) }, 'an answer was not stored'))
      .finally(() => {
        if (!ended) cancel = ctx.clock.after(STORE_EVERY_MS, tick);
      });
  }
  return {
    signal: controller.signal,
    end() {
      ended = true;
      cancel();
      off();
    },
  };
}
