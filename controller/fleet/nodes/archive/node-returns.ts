/**
 * Unarchives nodes whose agents connect again. The write runs in the background, so the agent's request does not wait for it.
 */
import type { Knex } from 'knex';
import type { Clock } from '../../../../reconcilers/loops/clock.ts';
import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import type { Bus } from '../../../platform/runtime/bus.ts';
import type { Logger } from '../../../platform/runtime/logger.ts';
import type { KnownNode } from '../directory/node-directory.ts';
import { unarchive } from './archive-store.ts';

export interface NodeReturns {
  /** Must be called on every request of an agent; costs nothing for a node that is not archived. */
  onRequest(node: KnownNode): void;
  /** Waits for pending writes. */
  stop(): Promise<void>;
}

export function createNodeReturns(options: { db: Knex; bus: Bus; clock: Clock; log: Logger }): NodeReturns {
  const { db, bus, clock, log } = options;
  const writing = new Set<Promise<void>>();

  async function unarchiveNode(nodeId: string): Promise<void> {
    await db.transaction(async (tx) => {
      const node = await unarchive(tx, nodeId, new Date(clock.now()));
      if (!node) return;
      const { environmentId, teamId, name, maxNodes, nodeCount } = node;
      // The node already runs, so a rejection would only hide it.
      const isOverLimit = maxNodes !== null && nodeCount > maxNodes;
      if (isOverLimit)
        log.warn(
          { nodeId, environmentId, nodes: nodeCount, maxNodes },
          'an archived node reports again, and its environment has more nodes than its limit; delete nodes or raise the limit',
        );
      await writeAudit(
        { db: tx, actor: { type: 'system', name: 'agent' }, ipAddress: null, services: { bus } },
        { teamId, environmentId },
        [
          {
            entityType: 'Node',
            entityId: nodeId,
            metadata: {
              ...{ name, archivedAt: node.archivedAt.toISOString() },
              ...(isOverLimit ? { nodeCount, maxNodes } : {}),
            },
          },
        ],
        'node.unarchived',
      );
      await bus.publish(tx, { type: 'node', nodeId, environmentId });
      await bus.publish(tx, { type: 'ui', environmentId, topics: ['fleet', 'pipelines', 'environments'] });
    });
  }

  return {
    onRequest(node) {
      if (!node.archived) return;
      // All requests of the node share this object until it is read again, so the next ones do not write.
      node.archived = false;
      const done = unarchiveNode(node.nodeId)
        .catch((error: unknown) => {
          node.archived = true;
          log.warn(
            { nodeId: node.nodeId, reason: messageOf(error) },
            'an archived node could not be unarchived; the next request of its agent retries',
          );
        })
        .finally(() => writing.delete(done));
      writing.add(done);
    },
    async stop() {
      await Promise.all(writing);
    },
  };
}
