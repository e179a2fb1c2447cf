/** One look at one rollout: what nodes report now, what follows from it, and that carried out. */
import { isDeepStrictEqual } from 'node:util';
import {
  findRollout,
  isActive,
  type NodeFacts,
  type RolloutRecord,
  recordObserved,
  type Step,
  step,
} from '../../controller/delivery/rollouts/index.ts';
import { type NodeStatus, readStatus, reasonLine, stageOfNode } from '../../controller/fleet/status/index.ts';
import { stagedRollouts, startHealthCheck, watchRollout } from '../../controller/pipelines/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import { DomainError } from '../../controller/platform/operation/errors.ts';
import type { Execute } from '../../controller/platform/operation/operation.ts';

/** False where it has ended, or is gone. */
export async function runRolloutPass(ctx: Context, execute: Execute, rolloutId: string): Promise<boolean> {
  const rollout = await findRollout(ctx.db, rolloutId);
  if (!rollout || !isActive(rollout)) return false;
  const { environmentId, pipelineId } = rollout;
  watchRollout(ctx, pipelineId);
  // Of the moment before the state is read, which may take long.
  const now = ctx.clock.now();
  const { nodes } = await readStatus(ctx, { environmentId, pipelineId });
  // Reports from before a restart or an outage: each of these nodes is heard soon, or counts as silent.
  if (nodes.some((node) => node.overdue && seenOf(rollout, node)?.reachable)) return true;
  const seen = nodes.flatMap((node) => seenOf(rollout, node) ?? []);
  const next = step(rollout, seen, now);
  if (!next) return false;
  switch (next.act) {
    case 'wait':
      if (hasNews(rollout, next)) await recordObserved(ctx, rollout, next);
      return true;
    case 'begin':
      await execute(startHealthCheck, ctx, { rolloutId, observed: next.observed, verdict: next.verdict });
      return true;
    case 'broaden':
    case 'rollback':
      // What it was judged by stays with it.
      await recordObserved(ctx, rollout, next);
      await end(ctx, execute, rollout, next);
      return false;
  }
}

async function end(ctx: Context, execute: Execute, { id }: RolloutRecord, { act, reason }: Step) {
  const operation = act === 'broaden' ? stagedRollouts.broaden : stagedRollouts.rollback;
  try {
    await execute(operation, ctx, { rolloutId: id, reason });
  } catch (error) {
    const now = await findRollout(ctx.db, id);
    // Somebody was faster.
    if (error instanceof DomainError && (!now || !isActive(now))) return;
    throw error;
  }
}

function seenOf(rollout: RolloutRecord, { node, labels, health, pairs }: NodeStatus): NodeFacts | null {
  const stage = stageOfNode(rollout, labels);
  if (stage === null) return null;
  const pair = pairs.find(({ pipeline }) => pipeline.id === rollout.pipelineId);
  const report = pair?.report;
  const detail = report?.detail;
  return {
    nodeId: node.id,
    stage,
    reachable: !node.maintenance && health !== 'UNREACHABLE' && health !== 'UNKNOWN',
    refused:
      pair?.refused && pair.refused.version === rollout.canaryVersion ? reasonLine(pair.refused) : null,
    report:
      report && detail
        ? {
            version: report.version,
            status: report.status,
            degraded: report.status === 'RUNNING' ? report.degraded : null,
            restarts: detail.restarts,
            statusSince: report.statusSince,
            pid: detail.pid,
            isStale: report.metricsAsOf !== null,
            counters: {
              eventsIn: detail.eventsIn,
              eventsOut: detail.eventsOut,
              errors: detail.errorsTotal,
              discarded: detail.eventsDiscarded,
              filtered: detail.eventsFiltered,
            },
          }
        : null,
  };
}

/** The moment of a verdict alone is no news. */
function hasNews(rollout: RolloutRecord, next: Step): boolean {
  const timeless = ({
    verdict,
    heldReason,
    observed,
  }: Pick<RolloutRecord, 'verdict' | 'heldReason' | 'observed'>) => ({
    ...{ heldReason, observed },
    verdict: verdict && { ...verdict, at: null },
  });
  return !isDeepStrictEqual(timeless(rollout), timeless(next));
}
