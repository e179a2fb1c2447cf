/** Takes the parts of a controller down again, in the reverse order of their start. */
import { messageOf } from '../platform/operation/errors.ts';
import type { Logger } from '../platform/runtime/logger.ts';

export interface Lifecycle {
  /** `end` is called once, by `stop`. */
  onStop(what: string, end: () => Promise<unknown> | unknown): void;
  /** A part that does not end cleanly is logged, and holds up no other. */
  stop(): Promise<void>;
}

export function createLifecycle(log: Logger): Lifecycle {
  const parts: { what: string; end: () => Promise<unknown> | unknown }[] = [];
  return {
    onStop: (what, end) => parts.push({ what, end }),
    async stop() {
      for (const { what, end } of parts.splice(0).reverse()) {
        try {
          await end();
        } catch (error) {
          log.warn({ what, reason: messageOf(error) }, 'not ended cleanly');
        }
      }
    },
  };
}
