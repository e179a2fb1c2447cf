/** A pass in mode push: what the database holds is written to git, and nothing is applied. */
import { finishJobs, readJobQueue, updateBindingStatus } from '../../controller/delivery/bindings/index.ts';
import { DomainError } from '../../controller/platform/operation/errors.ts';
import { readCommit } from '../source/index.ts';
import { pushDatabase } from '../write-back/index.ts';
import { noCounts } from './pass-report.ts';
import type { PassOptions, PassResult } from './pass-types.ts';

type PushOptions = Pick<PassOptions, 'ctx' | 'binding' | 'repository' | 'cache' | 'trigger'>;

/** Throws only where nothing could be recorded either. */
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
      report: result.report,
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
  const name = binding.environmentName;
  try {
    const { sha, written, removed, skipped } = await pushDatabase(ctx, binding, cache);
    counts.changed = written.length;
    counts.deleted = removed.length;
    counts.refused = skipped.length;
    const commit = sha === null ? null : await readCommit(repository, sha);
    const report = [
      `${name}: ${sha === null ? 'git holds all that the database does' : `${written.length} written, ${removed.length} removed`}`,
      ...skipped.slice(0, 40).map((one) => `  ! ${one.kind} ${one.name}: left out, ${one.reason}`),
    ];
    return { outcome: sha === null ? 'unchanged' : 'pushed', commit, counts, report, error: null };
  } catch (error) {
    if (ctx.signal.aborted || !(error instanceof DomainError)) throw error;
    const message = `the database was not written to git: ${error.message}`;
    return { outcome: 'failed', commit: null, counts, report: [`${name}: ${message}`], error: message };
  }
}
