/**
 * Updates of agents on their way to an end: a heartbeat that tells of it, a third try without one, or the end of their
 * time. What is written is written beside the requests of agents, which never wait for it.
 */
import type { Knex } from 'knex';
import type { Clock } from '../../../reconcilers/engine/clock.ts';
import { writeAudit } from '../../platform/operation/audit-writer.ts';
import { messageOf } from '../../platform/operation/errors.ts';
import type { Bus } from '../../platform/runtime/bus.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import type { KnownNode } from '../nodes/directory/node-directory.ts';
import {
  begins,
  MAX_TRIES,
  type Outcome,
  overdue,
  type Reported,
  reportedOutcome,
  restarted,
  type UpdateUnderWay,
} from './pending-update.ts';
import { countTry, endUpdate, listUnderWay, lockUpdatable } from './store.ts';

export interface UpdateTracker {
  /** A config answer with the update has gone out in full: the agent begins. */
  offered(node: KnownNode): void;
  /** What a heartbeat says; free of any cost for a node without an update. */
  heard(node: KnownNode, report: Reported): void;
  /** Ends those whose time is over, and those whose end was not written when it was heard of. */
  sweep(): Promise<void>;
  /** Waits for what is being written. */
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

  /** One write a node at a time, and one that waits for it; what is heard besides is heard again with the next heartbeat. */
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
        log.warn({ nodeId, reason: messageOf(error) }, 'the state of an update was not written');
      })
      .finally(() => {
        if (writing.get(nodeId) === done) writing.delete(nodeId);
      });
    writing.set(nodeId, done);
  }

  function begun(node: KnownNode, update: UpdateUnderWay): void {
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
      // It was taken back or replaced, or another controller has heard the same.
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
    offered(node) {
      const { update } = node;
      if (update && update.tries < MAX_TRIES && begins(update, clock.now())) begun(node, update);
    },
    heard(node, report) {
      const { update } = node;
      if (!update) return;
      if (!report.updateError) update.errorBefore = null;
      const now = clock.now();
      const outcome = reportedOutcome(update, report, now);
      if (outcome) {
        write(node.nodeId, () => settle(node.nodeId, update.requestedAt, outcome));
      } else if (restarted(update, report.uptimeSeconds, now)) {
        if (update.tries < MAX_TRIES) begun(node, update);
        else {
          const reason = `The agent was started anew after each of ${MAX_TRIES} tries and is still of the version before`;
          write(node.nodeId, () => settle(node.nodeId, update.requestedAt, { updated: false, reason }));
        }
      }
    },
    async sweep() {
      const now = clock.now();
      for (const { nodeId, update, agentVersion } of await listUnderWay(db)) {
        const outcome =
          reportedOutcome(update, { agentVersion, updateError: null, uptimeSeconds: null }, now) ??
          overdue(update, now);
        if (!outcome) continue;
        await settle(nodeId, update.requestedAt, outcome).catch((error: unknown) => {
          log.warn({ nodeId, reason: messageOf(error) }, 'an update that is over was not ended');
        });
      }
    },
    async stop() {
      await Promise.all(writing.values());
    },
  };
}
