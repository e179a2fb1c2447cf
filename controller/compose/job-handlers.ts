/** What the job queue runs. A job that is refused is over; one that cannot be done now is run again. */
import { gitSyncProposeRollback } from '../delivery/bindings/index.ts';
import { type OwnedTable, PURGE_JOB, purgeTombstone, ROLLED_BACK_JOB } from '../delivery/ownership/index.ts';
import { CLOSE_PULL_REQUEST_JOB, promotionTransitions } from '../delivery/promotions/index.ts';
import { SOURCE_DELETED_JOB } from '../fleet/environments/index.ts';
import type { Context } from '../platform/operation/context.ts';
import { DomainError } from '../platform/operation/errors.ts';
import type { Execute } from '../platform/operation/operation.ts';
import type { JobHandler } from '../platform/runtime/jobs.ts';

const isRefused = (error: unknown): error is DomainError =>
  error instanceof DomainError && !['UNAVAILABLE', 'CONFLICT'].includes(error.code);

export function jobHandlers(
  execute: Execute,
  systemContext: (name: string) => Context,
): Record<string, JobHandler> {
  const unlessRefused =
    (work: JobHandler, message: string): JobHandler =>
    async (payload) => {
      try {
        await work(payload);
      } catch (error) {
        if (!isRefused(error)) throw error;
        systemContext('jobs').log.info({ reason: error.message, ...payload }, message);
      }
    };
  return {
    [PURGE_JOB]: async ({ table, id }) => {
      await purgeTombstone(systemContext('purge').db, table as OwnedTable, String(id));
    },
    [ROLLED_BACK_JOB]: unlessRefused(async (payload) => {
      await execute(gitSyncProposeRollback, systemContext('rollback'), payload);
    }, 'nothing is proposed to git after a rollback'),
    [SOURCE_DELETED_JOB]: unlessRefused(async (payload) => {
      await execute(promotionTransitions.closeCancelled, systemContext('promotions'), {
        ...payload,
        sourceDeleted: true,
      });
    }, 'the pull request of a promotion stays open'),
    [CLOSE_PULL_REQUEST_JOB]: unlessRefused(async (payload) => {
      await execute(promotionTransitions.closeCancelled, systemContext('promotions'), {
        ...payload,
        sourceDeleted: false,
      });
    }, 'the pull request of a promotion stays open'),
  };
}
