/**
 * Automatic reverts: when a version does not run on a node, the controller serves that node the last version that ran. Each
 * heartbeat reports the failure again until the revert is written, so a lost write is repeated.
 */
import type { Knex } from 'knex';
import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import type { Bus, PublishedSignal } from '../../../platform/runtime/bus.ts';
import type { Logger } from '../../../platform/runtime/logger.ts';
import type { FailingVersion } from '../../heartbeats/store.ts';
import type { ConfigServer } from '../served-config.ts';
import { findRevertible, insertReverts, type Revertible } from './store.ts';

export interface Reverts {
  enqueue(failing: readonly FailingVersion[]): void;
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
  /** By node, pipeline and cause; only the latest report of each counts. */
  const waiting = new Map<string, FailingVersion>();
  let deciding: Promise<void> | null = null;

  async function decide(): Promise<void> {
    while (waiting.size > 0) {
      const failing = [...waiting.values()];
      waiting.clear();
      try {
        const found = await findRevertible(db, failing);
        for (const [environmentId, ofEnvironment] of Map.groupBy(found, (one) => one.environmentId))
          await revert(environmentId, ofEnvironment);
      } catch (error) {
        log.warn(
          { nodes: failing.length, reason: messageOf(error) },
          'failing versions could not be reverted; the next heartbeat retries',
        );
      }
    }
  }

  async function revert(environmentId: string, found: readonly Revertible[]): Promise<void> {
    const checksums = await configs.checksums(environmentId);
    const reverts = found.flatMap((revertible) => {
      const refusedChecksum = checksums.get(revertible.refusedVersionId);
      // The node refused a rendering other than the one served now; with other secrets the version may run.
      if (refusedChecksum === undefined || refusedChecksum !== (revertible.checksum ?? refusedChecksum))
        return [];
      return [{ ...revertible, refusedChecksum }];
    });
    if (reverts.length === 0) return;
    await db.transaction(async (tx) => {
      const written = await insertReverts(tx, reverts, new Date(now()));
      if (written.length === 0) return;
      await writeAudit(
        { db: tx, actor: { type: 'system', name: 'automatic revert' }, ipAddress: null, services: { bus } },
        { teamId: written[0]?.teamId ?? null, environmentId },
        written.map((revert) => ({
          entityType: 'Pipeline',
          entityId: revert.pipelineId,
          diff: { served: [revert.refusedVersion, revert.servedVersion] },
          metadata: {
            name: revert.pipelineName,
            node: revert.nodeName,
            refusedBy: revert.by,
            reason: revert.reason,
          },
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
        'a version does not run on a node; the node is served the previous version',
      );
  }

  return {
    enqueue(failing) {
      for (const failure of failing)
        waiting.set(`${failure.nodeId} ${failure.pipelineId} ${failure.by}`, failure);
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
