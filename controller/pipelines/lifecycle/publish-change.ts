import { bumpConfigRevision } from '../../fleet/environments/index.ts';
import type { AuditEntry } from '../../platform/operation/audit-entry.ts';
import type { MutationContext } from '../../platform/operation/context.ts';

/** Additional fields of the audit row. */
type AuditDetails = Pick<AuditEntry, 'action' | 'teamId' | 'diff' | 'metadata'>;

interface RecordedChange extends AuditDetails {
  reason: string;
  /** Whether the change affects what nodes are served. */
  served: boolean;
}

/** Records a change of one pipeline in the audit log and notifies nodes and the UI. */
export async function publishPipelineChange(
  ctx: MutationContext,
  { id, environmentId, name }: { id: string; environmentId: string; name: string },
  { reason, served, metadata, ...details }: RecordedChange,
): Promise<void> {
  ctx.audit({
    ...{ entityType: 'Pipeline', entityId: id, environmentId, ...details },
    metadata: { name, ...metadata },
  });
  await publishPipelineChanges(ctx, environmentId, { pipelineId: id, reason, served });
}

export interface PipelineChange {
  /** Undefined for several pipelines at once. */
  pipelineId: string | undefined;
  reason: string;
  /** Whether the change affects what nodes are served. */
  served: boolean;
}

/** Notifies the UI, and the nodes of the environment if they are served something else. */
export async function publishPipelineChanges(
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
