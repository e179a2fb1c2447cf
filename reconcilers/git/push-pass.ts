/** A pass in mode push: writes what the database holds to git, and applies nothing. */
import { finishJobs, readJobQueue, updateBindingStatus } from '../../controller/delivery/bindings/index.ts';
import { DomainError } from '../../controller/platform/operation/errors.ts';
import { readCommit } from '../source/index.ts';
import { pushDatabase } from '../write-back/index.ts';
import { noCounts, type PassReport } from './pass-report.ts';
import type { PassOptions, PassResult } from './pass-types.ts';
import { renderReport } from './render-report.ts';

type PushOptions = Pick<PassOptions, 'ctx' | 'binding' | 'repository' | 'cache' | 'trigger'>;

/** Throws only where the result cannot be recorded either. */
export async function runPushPass(options: PushOptions): Promise<PassResult> {
  const { ctx, binding } = options;
  const queue = await readJobQueue(ctx.db, binding.id);
  const result = await push(options);
  const failed = result.error !== null;
  const repeated = failed && binding.lastError === result.error;
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await updateBindingStatus(tx, binding.id, {
      ...(result.commit ? { headCommit: result.commit } : {}),
      lastError: result.error,
    });
    if (queue.pending.length === 0 && (result.outcome === 'unchanged' || repeated)) return;
    await finishJobs(tx, binding.id, {
      status: failed ? 'failed' : 'completed',
      outcome: result.outcome,
      trigger: options.trigger,
      commit: result.commit,
      counts: result.counts,
      report: renderReport(result.report),
      error: result.error,
      planHash: null,
      queue,
    });
    const { environmentId } = binding;
    await ctx.services.bus.publish(tx, { type: 'ui', environmentId, topics: ['git'] });
  });
  return result;
}

async function push({ ctx, binding, repository, cache }: PushOptions): Promise<PassResult> {
  const counts = noCounts();
  const environment = binding.environmentName;
  try {
    const { sha, written, removed, skipped } = await pushDatabase(ctx, binding, cache);
    counts.changed = written.length;
    counts.deleted = removed.length;
    counts.refused = skipped.length;
    const commit = sha === null ? null : await readCommit(repository, sha);
    const report: PassReport = {
      ...{ type: 'push', environment, leftOut: skipped },
      written: sha === null ? null : { files: written.length, removed: removed.length },
    };
    return { outcome: sha === null ? 'unchanged' : 'pushed', commit, counts, report, error: null };
  } catch (error) {
    if (ctx.signal.aborted || !(error instanceof DomainError)) throw error;
    const message = `the database was not written to git: ${error.message}`;
    return {
      outcome: 'failed',
      commit: null,
      counts,
      report: { type: 'message', environment, message },
      error: message,
    };
  }
}
