/**
 * A version that does not run on a node is taken back there: the node is served the last version that ran. Decided from
 * what reports say, again with each report until it is written, so nothing that is lost on the way is lost for good.
 */
import type { Knex } from 'knex';
import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import type { Bus, PublishedSignal } from '../../../platform/runtime/bus.ts';
import type { Logger } from '../../../platform/runtime/logger.ts';
import type { Failing } from '../../heartbeats/store.ts';
import type { ConfigServer } from '../served-config.ts';
import { findRevertible, insertReverts, type Revertible } from './store.ts';

export interface Reverts {
  consider(failing: readonly Failing[]): void;
  stop(): Promise<void>;
}

export function createReverts(options: {
  db: Knex;
  bus: Bus;
  log: Logger;
  configs: Pick<ConfigServer, 'checksums'>;
  now: () => number;
}): Reverts {
  const { db, bus, log, configs, now } = options;
  /** By node and pipeline; only the last word of each counts. */
  const waiting = new Map<string, Failing>();
  let deciding: Promise<void> | null = null;

  async function decide(): Promise<void> {
    while (waiting.size > 0) {
      const failing = [...waiting.values()];
      waiting.clear();
      try {
        const found = await findRevertible(db, failing);
        for (const [environmentId, ofOne] of Map.groupBy(found, (one) => one.environmentId))
          await revert(environmentId, ofOne);
      } catch (error) {
        log.warn(
          { nodes: failing.length, reason: messageOf(error) },
          'versions that do not run were not taken back, tried again with the next heartbeat',
        );
      }
    }
  }

  async function revert(environmentId: string, found: readonly Revertible[]): Promise<void> {
    const checksums = await configs.checksums(environmentId);
    const reverts = found.flatMap((one) => {
      const refusedChecksum = checksums.get(one.refusedVersionId);
      // What was refused is not what is served now: with other secrets it may run.
      if (refusedChecksum === undefined || refusedChecksum !== (one.checksum ?? refusedChecksum)) return [];
      return [{ ...one, refusedChecksum }];
    });
    if (reverts.length === 0) return;
    await db.transaction(async (tx) => {
      const written = await insertReverts(tx, reverts, new Date(now()));
      if (written.length === 0) return;
      await writeAudit(
        { db: tx, actor: { type: 'system', name: 'automatic revert' }, ipAddress: null, services: { bus } },
        { teamId: written[0]?.teamId ?? null, environmentId },
        written.map((one) => ({
          entityType: 'Pipeline',
          entityId: one.pipelineId,
          diff: { served: [one.refusedVersion, one.servedVersion] },
          metadata: { name: one.pipelineName, node: one.nodeName, refusedBy: one.by, reason: one.reason },
        })),
        'pipeline.reverted',
      );
      const signals: PublishedSignal[] = [
        { type: 'reverts', environmentId },
        ...[...new Set(written.map(({ nodeId }) => nodeId))].map((nodeId) => ({
          ...{ type: 'node' as const, nodeId, environmentId },
        })),
        { type: 'ui', environmentId, topics: ['fleet', 'pipelines', 'rollouts'] },
      ];
      await bus.publish(tx, signals);
    });
    for (const { nodeId, pipelineId, refusedVersion, servedVersion, by } of reverts)
      log.warn(
        { nodeId, pipelineId, refusedVersion, servedVersion, refusedBy: by },
        'a version did not run on a node, the one before is served there',
      );
  }

  return {
    consider(failing) {
      for (const one of failing) waiting.set(`${one.nodeId} ${one.pipelineId} ${one.by}`, one);
      if (waiting.size === 0 || deciding) return;
      deciding = decide().finally(() => {
        deciding = null;
      });
    },
    async stop() {
      await deciding;
    },
  };
}
