/** Validates the group mappings and patterns of a super admin, and describes their changes for the audit log. */
import type { Knex } from 'knex';
import type { TeamMapping, UpdateOidcTeamMappings } from '../../../schemas/api/settings.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import { badRequest, notFound } from '../../platform/operation/errors.ts';
import { type GroupSettings, listGroupNames, readTeamPatterns } from './store.ts';
import {
  type Ambiguity,
  ambiguitiesOf,
  parsePattern,
  pathsEndingIn,
  type TeamPattern,
} from './team-patterns.ts';
import { lockTeamNames } from './teams-store.ts';

/** An empty text clears the setting, an absent one keeps it. */
export const patchText = (given: string | undefined, before: string | null): string | null =>
  given === undefined ? before : given.trim() || null;

/**
 * Mappings with trimmed names, as they are compared.
 * @throws BAD_REQUEST for a blank name, or for two mappings of a group to one team.
 */
export function checkMappings(given: UpdateOidcTeamMappings['mappings']): TeamMapping[] {
  const seen = new Set<string>();
  return given.map((mapping, index) => {
    const group = mapping.group.trim();
    if (group === '') throw badRequest(`mappings.${index}.group is blank; enter the name of a group`);
    const pair = JSON.stringify([group, mapping.teamId]);
    if (seen.has(pair))
      throw badRequest(
        `mappings.${index}: the group "${group}" leads to this team already; keep one of the two roles`,
      );
    seen.add(pair);
    return { group, teamId: mapping.teamId, role: mapping.role };
  });
}

/** @throws BAD_REQUEST for a pattern that is invalid, is repeated, or leads several groups to one team. */
export function checkPatterns(given: readonly TeamPattern[], groups: readonly string[]): TeamPattern[] {
  const seen = new Set<string>();
  const checked = given.map(({ pattern: text, role }, index) => {
    const pattern = text.trim();
    const match = parsePattern(pattern);
    if (typeof match === 'string') throw badRequest(`patterns.${index}.pattern: ${match}`);
    if (seen.has(pattern))
      throw badRequest(`patterns.${index}: "${pattern}" is repeated; remove one of them`);
    seen.add(pattern);
    return { pattern, role };
  });
  const [first] = ambiguitiesOf(checked, groups);
  if (first)
    throw badRequest(`patterns: ${describeAmbiguity(first)}; write a pattern that matches only one of them`);
  return checked;
}

const MAX_LISTED = 5;
const joinGroups = (groups: readonly string[]): string =>
  `${groups.slice(0, MAX_LISTED).join(' and ')}${groups.length > MAX_LISTED ? ' and others' : ''}`;

export const describeAmbiguity = ({ pattern, team, groups }: Ambiguity): string =>
  `"${pattern}" leads ${joinGroups(groups)} to the team "${team}"`;

/** The ambiguities of the stored patterns, in sentences. */
export async function readAmbiguities(db: Knex): Promise<string[]> {
  const patterns = await readTeamPatterns(db);
  if (patterns.length === 0) return [];
  return ambiguitiesOf(patterns, await listGroupNames(db))
    .slice(0, 20)
    .map(describeAmbiguity);
}

/** @throws BAD_REQUEST for a mapping by a name that is the end of several group paths. */
export function assertUnambiguousNames(mappings: readonly TeamMapping[], groups: readonly string[]): void {
  mappings.forEach(({ group }, index) => {
    const paths = pathsEndingIn(group, groups);
    if (paths.length > 1)
      throw badRequest(
        `mappings.${index}.group: "${group}" may be ${joinGroups(paths)}; write the whole path of the intended group`,
      );
  });
}

/** Warns of mappings by a name where the provider gives paths: such a mapping matches nobody. */
export const nameWarnings = (mappings: readonly TeamMapping[], groups: readonly string[]): string[] =>
  mappings.flatMap(({ group }) =>
    pathsEndingIn(group, groups).map(
      (path) => `No group is called "${group}", but ${path} exists. Did you mean that one?`,
    ),
  );

/**
 * Team names by id. The teams are locked against deletion until the transaction ends.
 * @throws NOT_FOUND for a team that does not exist.
 */
export async function lockExistingTeams(
  ctx: MutationContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const names = await lockTeamNames(ctx.db, [...new Set(ids)]);
  const unknown = ids.find((id) => !names.has(id));
  if (unknown !== undefined) throw notFound(`The team ${unknown}`);
  return names;
}

/** The removed and the added mappings for the audit log. A changed role is both. */
export function mappingsDiff(
  before: readonly TeamMapping[],
  after: readonly TeamMapping[],
  names: ReadonlyMap<string, string>,
): Record<string, [unknown, unknown]> {
  const describe = ({ group, teamId, role }: TeamMapping) =>
    `${group} → ${names.get(teamId) ?? teamId} (${role})`;
  const [previous, current] = [before.map(describe), after.map(describe)];
  const [removed, added] = [
    previous.filter((one) => !current.includes(one)),
    current.filter((one) => !previous.includes(one)),
  ];
  return removed.length + added.length > 0 ? { mappings: [removed, added] } : {};
}

export function patternsDiff(
  before: readonly TeamPattern[],
  after: readonly TeamPattern[],
): Record<string, [unknown, unknown]> {
  const describe = ({ pattern, role }: TeamPattern) => `${pattern} (${role})`;
  const [previous, current] = [before.map(describe), after.map(describe)];
  return previous.join('\n') === current.join('\n') ? {} : { patterns: [previous, current] };
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
