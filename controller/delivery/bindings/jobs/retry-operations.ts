/** Retries of failed passes. */
import {
  OfEnvironment,
  RetriedJobs,
  RetryGitJob,
  SyncStarted,
} from '../../../../schemas/api/delivery/git-sync.ts';
import { environmentScope, objectScope } from '../../../identity/access/index.ts';
import { notFound, preconditionFailed } from '../../../platform/operation/errors.ts';
import { mutation } from '../../../platform/operation/operation.ts';
import { runningBinding, wake } from '../environment-binding.ts';
import { requeueFailed } from './jobs-store.ts';

export const retryJob = mutation({
  name: 'gitSync.retryJob',
  summary: 'Queue a failed job again',
  role: 'EDITOR',
  permission: 'gitops.manage',
  audit: 'gitSync.retried',
  input: RetryGitJob,
  output: SyncStarted,
  scope: (ctx, input) => objectScope(ctx, 'Git job', input.jobId),
  async run(ctx, { jobId }) {
    const { environmentId } = await objectScope(ctx, 'Git job', jobId);
    if (!environmentId) throw notFound('Git job');
    const binding = await runningBinding(ctx, environmentId);
    if ((await requeueFailed(ctx.db, binding.id, jobId)) === 0)
      throw preconditionFailed('Only a failed job can be retried');
    ctx.audit({ entityType: 'GitJob', entityId: jobId });
    await wake(ctx, environmentId, 'retry');
    return { jobId };
  },
});

export const retryAllFailed = mutation({
  name: 'gitSync.retryAllFailed',
  summary: 'Queue every failed job of the environment again',
  role: 'EDITOR',
  permission: 'gitops.manage',
  audit: 'gitSync.retried',
  input: OfEnvironment,
  output: RetriedJobs,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId }) {
    const binding = await runningBinding(ctx, environmentId);
    const retried = await requeueFailed(ctx.db, binding.id, null);
    ctx.audit({ entityType: 'GitBinding', entityId: binding.id, metadata: { retried } });
    if (retried > 0) await wake(ctx, environmentId, 'retry');
    return { retried };
  },
});
