/**
 * Follows agent updates until they end: by a heartbeat that reports the outcome, by too many tries, or by expiry. Writes run in
 * the background; requests of agents never wait for them.
 */
import type { Knex } from 'knex';
import type { Clock } from '../../../reconcilers/loops/clock.ts';
import { writeAudit } from '../../platform/operation/audit-writer.ts';
import { messageOf } from '../../platform/operation/errors.ts';
import type { Bus } from '../../platform/runtime/bus.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import type { KnownNode } from '../nodes/directory/node-directory.ts';
import {
  findExpiry,
  hasRestarted,
  MAX_TRIES,
  type Outcome,
  type PendingAgentUpdate,
  type Reported,
  reportedOutcome,
  startsTry,
} from './pending-update.ts';
import { countTry, endUpdate, listPendingUpdates, lockUpdatable } from './store.ts';

export interface UpdateTracker {
  /** A config answer with the update was sent in full, so the agent starts it. */
  onSent(node: KnownNode): void;
  /** A heartbeat arrived; costs nothing for a node without an update. */
  onHeartbeat(node: KnownNode, report: Reported): void;
  /** Ends updates that have expired, and those whose outcome could not be written. */
  sweep(): Promise<void>;
  /** Waits for pending writes. */
  stop(): Promise<void>;
}

const REASON_CHARS = 1_000;

export function createUpdateTracker(options: {
  db: Knex;
  bus: Bus;
  clock: Clock;
  log: Logger;
}): UpdateTracker {
  const { db, bus, clock, log } = options;
  const writing = new Map<string, Promise<void>>();
  const waiting = new Set<string>();

  /** Per node, one write runs and one waits. Further ones are dropped, since the next heartbeat repeats them. */
  function write(nodeId: string, work: () => Promise<void>): void {
    const before = writing.get(nodeId);
    if (waiting.has(nodeId)) return;
    if (before) waiting.add(nodeId);
    const done = Promise.resolve(before)
      .then(() => {
        waiting.delete(nodeId);
        return work();
      })
      .catch((error: unknown) => {
        log.warn({ nodeId, reason: messageOf(error) }, 'the state of an agent update could not be written');
      })
      .finally(() => {
        if (writing.get(nodeId) === done) writing.delete(nodeId);
      });
    writing.set(nodeId, done);
  }

  function countStart(node: KnownNode, update: PendingAgentUpdate): void {
    const at = clock.now();
    const counted = { ...update };
    update.tries += 1;
    update.triedAt = at;
    write(node.nodeId, async () => {
      if (await countTry(db, node.nodeId, counted, new Date(at)))
        await bus.publish(db, { type: 'ui', environmentId: node.environmentId, topics: ['fleet'] });
    });
  }

  async function settle(nodeId: string, requestedAt: number, outcome: Outcome): Promise<void> {
    await db.transaction(async (tx) => {
      const node = await lockUpdatable(tx, nodeId);
      // The update was cancelled or replaced, or another controller has written the same outcome.
      if (!node?.update || node.update.requestedAt !== requestedAt) return;
      const { environmentId, teamId, name } = node;
      const { targetVersion, checksum } = node.update.action;
      const reason = outcome.updated ? null : outcome.reason.slice(0, REASON_CHARS).toWellFormed();
      await endUpdate(
        tx,
        node,
        reason === null ? null : { targetVersion, checksum, reason, at: new Date(clock.now()) },
      );
      await writeAudit(
        { db: tx, actor: { type: 'system', name: 'agent' }, ipAddress: null, services: { bus } },
        { teamId, environmentId },
        [
          {
            entityType: 'Node',
            entityId: nodeId,
            diff: { updateTo: [targetVersion, null] },
            metadata: { name, targetVersion, ...(reason === null ? {} : { reason }) },
          },
        ],
        outcome.updated ? 'node.agentUpdated' : 'node.agentUpdateFailed',
      );
      await bus.publish(tx, { type: 'node', nodeId, environmentId });
      await bus.publish(tx, { type: 'ui', environmentId, topics: ['fleet'] });
    });
  }

  return {
    onSent(node) {
      const { update } = node;
      if (update && update.tries < MAX_TRIES && startsTry(update, clock.now())) countStart(node, update);
    },
    onHeartbeat(node, report) {
      const { update } = node;
      if (!update) return;
      if (!report.updateError) update.errorBefore = null;
      const now = clock.now();
      const outcome = reportedOutcome(update, report, now);
      if (outcome) {
        write(node.nodeId, () => settle(node.nodeId, update.requestedAt, outcome));
      } else if (hasRestarted(update, report.uptimeSeconds, now)) {
        if (update.tries < MAX_TRIES) countStart(node, update);
        else {
          const reason = `The agent restarted after each of ${MAX_TRIES} tries and still has the previous version`;
          write(node.nodeId, () => settle(node.nodeId, update.requestedAt, { updated: false, reason }));
        }
      }
    },
    async sweep() {
      const now = clock.now();
      for (const { nodeId, update, agentVersion } of await listPendingUpdates(db)) {
        const outcome =
          reportedOutcome(update, { agentVersion, updateError: null, uptimeSeconds: null }, now) ??
          findExpiry(update, now);
        if (!outcome) continue;
        await settle(nodeId, update.requestedAt, outcome).catch((error: unknown) => {
          log.warn(
            { nodeId, reason: messageOf(error) },
            'an expired agent update could not be ended; the next sweep retries',
          );
        });
      }
    },
    async stop() {
      await Promise.all(writing.values());
    },
  };
}
