/** The environments and teams that share a repository. */
import type { Knex } from 'knex';

export interface BoundBranch {
  environmentId: string;
  teamId: string;
  ref: string;
  protectBranch: boolean;
  requiredApprovals: number;
}

/**
 * The branches of all environments that are bound to the repository and have read it. `own` is the environment that acts; it
 * counts before its first pass, too. If its binding has credentials, bindings without any do not count: a public repository
 * is read by everybody.
 */
export const listBoundBranches = async (
  db: Knex,
  repository: string,
  own: string | null = null,
): Promise<BoundBranch[]> =>
  db('git_bindings as b')
    .join('environments as e', 'e.id', 'b.environment_id')
    .where({ 'b.repository_url': repository })
    .whereNot({ 'b.mode': 'off' })
    .where((read) =>
      read
        .where({ 'b.repository_url': 'embedded' })
        .orWhere({ 'e.id': own ?? '' })
        .orWhere((admitted) =>
          admitted.whereNotNull('b.read_at').where((by) =>
            by.whereNotNull('b.sealed_credentials').orWhereNotExists(
              db('git_bindings as m')
                .where({ 'm.environment_id': own ?? '' })
                .whereNotNull('m.sealed_credentials'),
            ),
          ),
        ),
    )
    .orderBy('e.id')
    .select({
      environmentId: 'e.id',
      teamId: 'e.team_id',
      ref: 'b.ref',
      protectBranch: 'b.protect_branch',
      requiredApprovals: 'b.required_approvals',
    });

export const teamsOf = (branches: readonly BoundBranch[]): string[] => [
  ...new Set(branches.map(({ teamId }) => teamId)),
];

/** The strictest number among the bindings of the branch. */
export const approvalsFor = (branches: readonly BoundBranch[], ref: string): number =>
  Math.max(
    0,
    ...branches.filter((branch) => branch.ref === ref).map(({ requiredApprovals }) => requiredApprovals),
  );

/** Branches that only take merged pull requests. */
export const protectedBranches = (branches: readonly BoundBranch[]): Set<string> =>
  new Set(branches.filter(({ protectBranch }) => protectBranch).map(({ ref }) => ref));

/** Whether another team with an environment on the same branch has protected it. */
export async function isProtectedByOthers(
  db: Knex,
  { environmentId, repositoryUrl, ref }: { environmentId: string; repositoryUrl: string; ref: string },
): Promise<boolean> {
  const branches = await listBoundBranches(db, repositoryUrl, environmentId);
  const own = branches.find((branch) => branch.environmentId === environmentId)?.teamId;
  return branches.some((branch) => branch.ref === ref && branch.protectBranch && branch.teamId !== own);
}

export async function teamsOfEnvironments(
  db: Knex,
  environmentIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows: { id: string; team_id: string }[] = await db('environments')
    .whereIn('id', [...environmentIds])
    .select('id', 'team_id');
  return new Map(rows.map(({ id, team_id }) => [id, team_id]));
}
