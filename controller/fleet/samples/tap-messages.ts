import type { Knex } from 'knex';
import type { PushMessage } from '../../../schemas/agent/protocol.ts';
import type { Bus } from '../../platform/runtime/bus.ts';
import { deleteTap } from './tap-store.ts';

/**
 * Ends a tap everywhere: on its node, and for whoever watches it. In a transaction. False where it had ended already.
 * `atNode` is false where the node itself says that it has.
 */
export async function endTap(
  tx: Knex,
  bus: Bus,
  tapId: string,
  reason: string,
  { atNode = true }: { atNode?: boolean } = {},
): Promise<boolean> {
  const gone = await deleteTap(tx, tapId);
  if (!gone) return false;
  if (atNode) {
    const message = { type: 'tap_stop', requestId: tapId } as const;
    await bus.publish(tx, { type: 'push', nodeId: gone.nodeId, message });
  }
  await bus.publish(tx, { type: 'tap', tapId, ended: reason });
  return true;
}

/** What its node is told when it starts. */
export const startMessage = (tap: {
  tapId: string;
  pipelineId: string;
  componentKey: string;
  isSink: boolean;
}): PushMessage => ({
  type: 'tap_start',
  requestId: tap.tapId,
  pipelineId: tap.pipelineId,
  componentId: tap.componentKey,
  ...(tap.isSink ? { sink: true } : {}),
});
