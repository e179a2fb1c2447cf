import { bumpConfigRevision } from '../../fleet/environments/index.ts';
import type { AuditEntry } from '../../platform/operation/audit-entry.ts';
import type { MutationContext } from '../../platform/operation/context.ts';

/** For the audit log beside what one pipeline became. */
type Noted = Pick<AuditEntry, 'action' | 'teamId' | 'diff' | 'metadata'>;

interface Changed extends Noted {
  reason: string;
  /** Whether any node is served something else than before. */
  served: boolean;
}

/** What someone did with one pipeline: an audit row, and word to nodes and pages. */
export async function pipelineChanged(
  ctx: MutationContext,
  { id, environmentId }: { id: string; environmentId: string },
  { reason, served, ...noted }: Changed,
): Promise<void> {
  ctx.audit({ entityType: 'Pipeline', entityId: id, environmentId, ...noted });
  await pipelinesChanged(ctx, environmentId, { pipelineId: id, reason, served });
}

export interface PipelineChange {
  /** Undefined for many at once. */
  pipelineId: string | undefined;
  reason: string;
  /** Whether any node is served something else than before. */
  served: boolean;
}

/** Nodes of the environment fetch anew where that makes a difference to them; open pages look again. */
export async function pipelinesChanged(
  ctx: MutationContext,
  environmentId: string,
  { pipelineId, reason, served }: PipelineChange,
): Promise<void> {
  const { bus } = ctx.services;
  if (served) {
    await bumpConfigRevision(ctx.db, environmentId);
    const which = pipelineId === undefined ? {} : { pipelineId };
    await bus.publish(ctx.db, { type: 'config', environmentId, ...which, reason });
  }
  await bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['pipelines', 'fleet'] });
}
