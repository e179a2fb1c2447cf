/** Who shares a repository. */
import type { Knex } from 'knex';

export interface BoundBranch {
  environmentId: string;
  teamId: string;
  ref: string;
  protectBranch: boolean;
  requiredApprovals: number;
}

/**
 * Every environment that is bound to the repository and has read it, whichever its branch and folder. `own`: of the
 * environment that acts, which counts before its first pass too. Where it has credentials, those that have none do not
 * count: what anybody may read, they may have read without being let in.
 */
export const boundTo = async (
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

export const teamsOf = (places: readonly BoundBranch[]): string[] => [
  ...new Set(places.map(({ teamId }) => teamId)),
];

/** Of the bindings of one branch the strictest. */
export const approvalsFor = (places: readonly BoundBranch[], ref: string): number =>
  Math.max(
    0,
    ...places.filter((place) => place.ref === ref).map(({ requiredApprovals }) => requiredApprovals),
  );

/** Branches of the repository that take merged pull requests only. */
export const protectedBranches = (places: readonly BoundBranch[]): Set<string> =>
  new Set(places.filter(({ protectBranch }) => protectBranch).map(({ ref }) => ref));

/** Whether another team, of whose environments one follows the same branch, has protected it. */
export async function isProtectedByOthers(
  db: Knex,
  { environmentId, repositoryUrl, ref }: { environmentId: string; repositoryUrl: string; ref: string },
): Promise<boolean> {
  const places = await boundTo(db, repositoryUrl, environmentId);
  const own = places.find((place) => place.environmentId === environmentId)?.teamId;
  return places.some((place) => place.ref === ref && place.protectBranch && place.teamId !== own);
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
