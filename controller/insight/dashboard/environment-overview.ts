/** The overview over environments: what git says of each, joined with what runs there. */
import { type EnvironmentOverview, MAX_PROBLEMS, type Pass } from '../../../schemas/api/dashboard.ts';
import { gateEnds, UNBOUND } from '../../delivery/bindings/index.ts';
import { type Joined, readStatusOfMany, sumGates, sumRates } from '../../fleet/status/index.ts';
import type { Context } from '../../platform/operation/context.ts';
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
  places: readonly EnvironmentRef[],
): Promise<EnvironmentOverview[]> {
  const environmentIds = places.map(({ environmentId }) => environmentId);
  const joined = await readStatusOfMany(ctx, environmentIds);
  const git = await readGitFacts(ctx.db, environmentIds);
  const bindingIds = [...git.values()].map(({ bindingId }) => bindingId);
  const errors = Map.groupBy(await listFirstImportErrors(ctx.db, bindingIds), ({ bindingId }) => bindingId);
  const passes = Map.groupBy(await listLastPasses(ctx.db, bindingIds), ({ bindingId }) => bindingId);
  return places.map((place) => {
    const facts = git.get(place.environmentId) ?? null;
    const of = facts?.bindingId ?? '';
    return overviewOf(place, joined.get(place.environmentId) ?? { nodes: [], pipelines: [] }, {
      facts,
      importErrors: errors.get(of) ?? [],
      passes: (passes.get(of) ?? []).map(({ bindingId, ...pass }) => pass),
    });
  });
}

interface OfGit {
  facts: GitFacts | null;
  importErrors: readonly ImportErrorRow[];
  passes: Pass[];
}

function overviewOf(
  place: EnvironmentRef,
  joined: Joined,
  { facts, importErrors, passes }: OfGit,
): EnvironmentOverview {
  const problems = problemsOf(
    joined,
    facts && { lastError: facts.lastError, suspended: facts.suspendedAt !== null, importErrors },
  );
  const untold = (facts?.importErrorCount ?? 0) - importErrors.length;
  return {
    ...place,
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
    problemCount: problems.length + untold,
    problems: problems.slice(0, MAX_PROBLEMS),
    passes,
  };
}
