/** Records a pass that could not do its work: everything runs on as it was. */
import {
  finishJobs,
  type JobQueue,
  updateBindingStatus,
} from '../../../controller/delivery/bindings/index.ts';
import { RepositoryError } from '../../../controller/delivery/repository/index.ts';
import { messageOf } from '../../../controller/platform/operation/errors.ts';
import { GitRepositoryError } from '../../source/index.ts';
import { noCounts, type PassReport } from '../pass-report.ts';
import type { PassOptions, PassResult } from '../pass-types.ts';
import { SourceProblem } from '../plan/compute-plan.ts';
import { renderReport } from '../render-report.ts';

function messageOfFailure({ remote }: PassOptions, error: unknown): string {
  if (error instanceof SourceProblem) return error.message;
  if (error instanceof RepositoryError) return `${error.message}. Everything runs on as it was`;
  const what = messageOf(error).replace(/^the repository cannot be read: /, '');
  const folder = remote ? 'mirrors' : 'config.git';
  const advice =
    error instanceof GitRepositoryError
      ? remote
        ? 'the next pass makes a new copy of it'
        : error.advice
      : `let the controller's user read ${folder}, in the folder git of the data directory`;
  return `the repository cannot be read: ${what}; ${advice}. Everything runs on as it was`;
}

export async function recordFailure(
  options: PassOptions,
  queue: JobQueue,
  error: unknown,
): Promise<PassResult> {
  const { ctx, binding } = options;
  const message = messageOfFailure(options, error);
  const counts = noCounts();
  const report: PassReport = { type: 'message', environment: binding.environmentName, message };
  const repeated = binding.lastError === message && options.trigger === 'timer';
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await updateBindingStatus(tx, binding.id, { lastError: message });
    if (!repeated) {
      await finishJobs(tx, binding.id, {
        status: 'failed',
        outcome: 'failed',
        trigger: options.trigger,
        commit: null,
        counts,
        report: renderReport(report),
        error: message,
        planHash: null,
        queue,
      });
    }
    await ctx.services.bus.publish(tx, { type: 'ui', environmentId: binding.environmentId, topics: ['git'] });
  });
  return { outcome: 'failed', commit: null, counts, report, error: message };
}
