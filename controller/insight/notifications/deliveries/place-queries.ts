/** Names of a team and one of its environments, for messages that no alert has caused. */
import type { Knex } from 'knex';

export interface Place {
  team: { id: string; name: string };
  environment: { id: string; name: string };
}

/** `environmentId` null takes any environment of the team, and one that is made up where it has none. */
export async function readPlace(
  db: Knex,
  { teamId, environmentId }: { teamId: string; environmentId: string | null },
): Promise<Place> {
  const team = await db('teams').where({ id: teamId }).first('id', 'name');
  const environment = await db('environments')
    .where(environmentId === null ? { team_id: teamId } : { id: environmentId })
    .orderByRaw('lower(name)')
    .first('id', 'name');
  return {
    team: team ?? { id: teamId, name: 'team' },
    environment: environment ?? { id: 'example', name: 'production' },
  };
}
