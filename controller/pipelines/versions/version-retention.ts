/** Deletes old versions of pipelines. Versions are immutable and every deploy creates one. */

import { readFleetSettings } from '../../fleet/settings/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { inBatches } from '../../platform/runtime/batches.ts';
import { deleteOldVersions, listPipelinesWithMoreVersions } from './version-retention-store.ts';

const DAY_MS = 86_400_000;
/** A version that was deployed within this time is kept for a rollback, regardless of newer ones. */
export const DEPLOYED_VERSIONS_DAYS = 90;

/** Runs on the leader. Returns the number of deleted versions. */
export async function pruneVersions(ctx: Context, batch?: number): Promise<number> {
  const { pipelineVersionsRetained: keep } = await readFleetSettings(ctx.db);
  const deployedSince = new Date(ctx.clock.now() - DEPLOYED_VERSIONS_DAYS * DAY_MS);
  let deleted = 0;
  for (const id of await listPipelinesWithMoreVersions(ctx.db, keep)) {
    deleted += await inBatches(
      ctx,
      (tx, limit) => deleteOldVersions(tx, id, { keep, deployedSince }, limit),
      batch,
    );
  }
  return deleted;
}
