/** The overview of environments: the state of git in each, joined with what runs there. */
import { type EnvironmentOverview, MAX_PROBLEMS, type Pass } from '../../../schemas/api/insight/dashboard.ts';
import { gateEnds, UNBOUND } from '../../delivery/bindings/index.ts';
import { type Joined, readStatusOfMany, sumGates, sumRates } from '../../fleet/status/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { NO_ALERTS, type OpenAlerts } from './alert-problems.ts';
import { readOpenAlerts } from './alerts-queries.ts';
import { countNodes, countPipelines } from './counts.ts';
import { problemsOf } from './problems.ts';
import {
  type EnvironmentRef,
  type GitFacts,
  type ImportErrorRow,
  listFirstImportErrors,
  listLastPasses,
  readGitFacts,
} from './queries.ts';

export async function readOverviews(
  ctx: Context,
  environments: readonly EnvironmentRef[],
): Promise<EnvironmentOverview[]> {
  const environmentIds = environments.map(({ environmentId }) => environmentId);
  const joined = await readStatusOfMany(ctx, environmentIds);
  const git = await readGitFacts(ctx.db, environmentIds);
  const bindingIds = [...git.values()].map(({ bindingId }) => bindingId);
  const alerts = await readOpenAlerts(ctx.db, environmentIds);
  const errors = Map.groupBy(await listFirstImportErrors(ctx.db, bindingIds), ({ bindingId }) => bindingId);
  const passes = Map.groupBy(await listLastPasses(ctx.db, bindingIds), ({ bindingId }) => bindingId);
  return environments.map((environment) => {
    const facts = git.get(environment.environmentId) ?? null;
    const bindingId = facts?.bindingId ?? '';
    return overviewOf(environment, joined.get(environment.environmentId) ?? { nodes: [], pipelines: [] }, {
      facts,
      importErrors: errors.get(bindingId) ?? [],
      passes: (passes.get(bindingId) ?? []).map(({ bindingId, ...pass }) => pass),
      alerts: alerts.get(environment.environmentId) ?? NO_ALERTS,
      now: ctx.clock.now(),
    });
  });
}

interface Parts {
  facts: GitFacts | null;
  importErrors: readonly ImportErrorRow[];
  passes: Pass[];
  alerts: OpenAlerts;
  now: number;
}

function overviewOf(
  environment: EnvironmentRef,
  joined: Joined,
  { facts, importErrors, passes, alerts, now }: Parts,
): EnvironmentOverview {
  const problems = problemsOf(
    joined,
    facts && { lastError: facts.lastError, suspended: facts.suspendedAt !== null, importErrors },
    { alerts, now },
  );
  const unlisted = (facts?.importErrorCount ?? 0) - importErrors.length + alerts.total - alerts.listed.length;
  return {
    ...environment,
    git: {
      mode: facts?.mode ?? 'off',
      branch: facts?.ref ?? null,
      path: facts?.path ?? null,
      suspended: facts !== null && facts.suspendedAt !== null,
    },
    gate: sumGates(
      joined.pipelines.map(({ gate }) => gate),
      facts ? gateEnds(facts, { ...facts, importErrors: facts.importErrorCount }) : UNBOUND,
    ),
    nodes: countNodes(joined.nodes),
    pipelines: countPipelines(joined.pipelines),
    rates: sumRates(joined.pipelines),
    problemCount: problems.length + unlisted,
    problems: problems.slice(0, MAX_PROBLEMS),
    passes,
  };
}
