import type { Knex } from 'knex';
import type { PushMessage } from '../../../schemas/agent/protocol.ts';
import type { Bus } from '../../platform/runtime/bus.ts';
import { deleteTap } from './tap-store.ts';

/**
 * Ends a tap on its node and at its viewer. Must run in a transaction. Returns false if the tap had already ended. `atNode` is
 * false if the node itself reported the end.
 */
export async function endTap(
  tx: Knex,
  bus: Bus,
  tapId: string,
  reason: string,
  { atNode = true }: { atNode?: boolean } = {},
): Promise<boolean> {
  const deleted = await deleteTap(tx, tapId);
  if (!deleted) return false;
  if (atNode) {
    const message = { type: 'tap_stop', requestId: tapId } as const;
    await bus.publish(tx, { type: 'push', nodeId: deleted.nodeId, message });
  }
  await bus.publish(tx, { type: 'tap', tapId, ended: reason });
  return true;
}

/** The push message that starts the tap on its node. */
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
