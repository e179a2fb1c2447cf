/** What an administrator says of groups: their teams, the default team, what to ask the identity provider for. */
import type { TeamMapping, UpdateOidcTeamMappings } from '../../schemas/api/settings.ts';
import type { MutationContext } from '../platform/context.ts';
import { badRequest, notFound } from '../platform/errors.ts';
import type { GroupSettings } from './store.ts';
import { keepTeams } from './teams-store.ts';

/** Empty clears, absent keeps. */
export const told = (given: string | undefined, before: string | null): string | null =>
  given === undefined ? before : given.trim() || null;

/**
 * Mappings with names as they are compared, without white space around them.
 * @throws BAD_REQUEST for a blank name, or a group that leads to a team twice.
 */
export function checkMappings(given: UpdateOidcTeamMappings['mappings']): TeamMapping[] {
  const seen = new Set<string>();
  return given.map((mapping, index) => {
    const group = mapping.group.trim();
    if (group === '') throw badRequest(`mappings.${index}.group is blank; give the name of a group`);
    const pair = JSON.stringify([group, mapping.teamId]);
    if (seen.has(pair))
      throw badRequest(
        `mappings.${index}: the group "${group}" leads to this team already; keep one of the two roles`,
      );
    seen.add(pair);
    return { group, teamId: mapping.teamId, role: mapping.role };
  });
}

/**
 * Names of these teams by id; until the transaction ends none of them is deleted.
 * @throws NOT_FOUND for one that does not exist.
 */
export async function knownTeams(
  ctx: MutationContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const names = await keepTeams(ctx.db, [...new Set(ids)]);
  const unknown = ids.find((id) => !names.has(id));
  if (unknown !== undefined) throw notFound(`The team ${unknown}`);
  return names;
}

/** For the audit log: what went and what came, in words. A role that changed is both. */
export function mappingsDiff(
  before: readonly TeamMapping[],
  after: readonly TeamMapping[],
  names: ReadonlyMap<string, string>,
): Record<string, [unknown, unknown]> {
  const words = ({ group, teamId, role }: TeamMapping) =>
    `${group} → ${names.get(teamId) ?? teamId} (${role})`;
  const [was, is] = [before.map(words), after.map(words)];
  const [gone, come] = [was.filter((one) => !is.includes(one)), is.filter((one) => !was.includes(one))];
  return gone.length + come.length > 0 ? { mappings: [gone, come] } : {};
}

export function settingsDiff(
  before: GroupSettings,
  after: GroupSettings,
): Record<string, [unknown, unknown]> {
  const fields = Object.keys(after) as (keyof GroupSettings)[];
  return Object.fromEntries(
    fields
      .filter((field) => before[field] !== after[field])
      .map((field) => [field, [before[field], after[field]]]),
  );
}
