/** Proposes a rollback of a git-owned pipeline to git, so that its hold can end. */
import Type from 'typebox';
import { mutation } from '../../platform/operation/operation.ts';
import { findObject } from './inventory/objects-queries.ts';

/** Runs as a job that the rollback queues: a rollback must not wait for a repository that may be unreachable. */
export const gitSyncProposeRollback = mutation({
  name: 'gitSync.proposeRollback',
  summary: 'Propose to git what a pipeline was rolled back to',
  role: 'EDITOR',
  audit: 'gitSync.proposed',
  input: Type.Object({ environmentId: Type.String(), pipelineId: Type.String(), reason: Type.String() }),
  output: Type.Object({ number: Type.Integer() }),
  scope: (_ctx, input) => ({ teamId: null, environmentId: input.environmentId }),
  prepare: (ctx, { environmentId, pipelineId, reason }) =>
    ctx.services.git.proposeRollback(ctx, environmentId, { pipelineId, reason }),
  async run(ctx, { environmentId, pipelineId, reason }, { proposed, fields }) {
    const { number, branch } = proposed;
    const pipeline = await findObject(ctx.db, 'Pipeline', pipelineId);
    ctx.audit({
      entityType: 'Pipeline',
      entityId: pipelineId,
      environmentId,
      metadata: { name: pipeline?.name ?? null, reason, number, branch, fields },
    });
    return { number };
  },
});
