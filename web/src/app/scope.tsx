/** Which team and environment the page is about. The address decides; the rest is looked up. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext } from 'react';
import type { EnvironmentSummary } from '../../../schemas/api/fleet/environments.ts';
import type { TeamSummary } from '../../../schemas/api/identity/people.ts';
import { queries } from '../api/queries/index.ts';

export interface Place {
  team: TeamSummary;
  environment: EnvironmentSummary;
  /** The environments of the team, in the order in which changes come to them. */
  environments: EnvironmentSummary[];
  teams: { team: TeamSummary; environments: EnvironmentSummary[] }[];
}

const PlaceContext = createContext<Place | null>(null);
const TeamContext = createContext<TeamSummary | null>(null);

export function usePlace(): Place {
  const place = useContext(PlaceContext);
  if (!place) throw new Error('usePlace is only for pages of an environment.');
  return place;
}

/** Null on the pages that stand outside of every environment. */
export const usePlaceIfAny = (): Place | null => useContext(PlaceContext);

/** The team of the environment; without one, a team that has none yet. Null for users without a team. */
export const useTeamIfAny = (): TeamSummary | null => useContext(TeamContext);

/** For pages of a team, which may have no environment. */
export function useTeam(): TeamSummary {
  const team = useTeamIfAny();
  if (!team) throw new Error('useTeam is only for pages of a team.');
  return team;
}

export const TeamProvider = ({ team, children }: { team: TeamSummary | null; children: ReactNode }) => (
  <TeamContext value={team}>{children}</TeamContext>
);

export const PlaceProvider = ({ place, children }: { place: Place; children: ReactNode }) => (
  <PlaceContext value={place}>
    <TeamProvider team={place.team}>{children}</TeamProvider>
  </PlaceContext>
);

export type PlaceLookup =
  | { kind: 'loading' }
  | { kind: 'failed'; error: unknown; retry: () => void }
  | { kind: 'none'; team: TeamSummary | null }
  | { kind: 'found'; place: Place }
  | { kind: 'unknown'; fallback: EnvironmentSummary };

/** Finds an environment among those of the caller's teams; with null, any will do. */
export function usePlaceLookup(environmentId: string | null): PlaceLookup {
  const teams = useQuery(queries.teams());
  const lists = useQueries({ queries: (teams.data ?? []).map((team) => queries.environments(team.id)) });
  const byTeam = (teams.data ?? []).map((team, index) => ({
    team,
    environments: [...(lists[index]?.data ?? [])].sort(inOrder),
  }));
  const environments = byTeam.flatMap((one) => one.environments);
  const environment = environments.find(({ id }) => id === environmentId);
  const areAllRead = teams.data !== undefined && lists.every((list) => list.data);
  const isMissing = areAllRead && environmentId !== null && !environment;
  // One that was made a moment ago is in no list of before: they are read once more before it counts as unknown.
  const reread = useQuery({
    queryKey: ['environments read again', environmentId],
    queryFn: () => Promise.all([teams, ...lists].map((list) => list.refetch())).then(() => true),
    enabled: isMissing,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });

  // The list of another team may not be read yet, or fail: the page, and what was typed into it, must not go for that.
  const home = environment && byTeam.find((one) => one.environments.includes(environment));
  if (home) return { kind: 'found', place: { ...home, environment, teams: byTeam } };
  const failed = [teams, ...lists].find((query) => query.isError && !query.data);
  if (failed) return { kind: 'failed', error: failed.error, retry: () => void failed.refetch() };
  if (!areAllRead || (isMissing && !reread.data)) return { kind: 'loading' };
  const fallback = environments[0];
  if (!fallback) return { kind: 'none', team: byTeam[0]?.team ?? null };
  return { kind: 'unknown', fallback };
}

export const isProduction = (environment: { name: string }): boolean =>
  /^(prod|live)/i.test(environment.name);

const isEmpty = ({ nodeCount, pipelineCount }: EnvironmentSummary): boolean =>
  nodeCount + pipelineCount === 0;

/** What changes come to first, then production, then environments where nothing is yet. */
const inOrder = (a: EnvironmentSummary, b: EnvironmentSummary): number =>
  Number(isEmpty(a)) - Number(isEmpty(b)) ||
  Number(isProduction(a)) - Number(isProduction(b)) ||
  a.name.localeCompare(b.name);

/** Production has its own colour; the others take one of five by their name, the same on every machine. */
export function environmentHue(environment: { name: string }): string {
  if (isProduction(environment)) return 'production';
  let sum = 0;
  for (const char of environment.name.toLowerCase()) sum = (sum * 31 + char.charCodeAt(0)) % 9973;
  return ['teal', 'violet', 'ochre', 'slate', 'moss'][sum % 5] ?? 'slate';
}
