/** What an administrator says of groups: their teams, the default team, what to ask the identity provider for. */
import type { Knex } from 'knex';
import type { TeamMapping, UpdateOidcTeamMappings } from '../../../schemas/api/settings.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import { badRequest, notFound } from '../../platform/operation/errors.ts';
import { type GroupSettings, listGroupNames, readTeamPatterns } from './store.ts';
import { type Ambiguity, ambiguitiesOf, pathsNamed, readPattern, type TeamPattern } from './team-patterns.ts';
import { keepTeams } from './teams-store.ts';

/** Empty clears, absent keeps. */
export const patchedText = (given: string | undefined, before: string | null): string | null =>
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

/** @throws BAD_REQUEST for one that is none, that is given twice, or that leads several groups to a team. */
export function checkPatterns(given: readonly TeamPattern[], groups: readonly string[]): TeamPattern[] {
  const seen = new Set<string>();
  const checked = given.map(({ pattern: text, role }, index) => {
    const pattern = text.trim();
    const match = readPattern(pattern);
    if (typeof match === 'string') throw badRequest(`patterns.${index}.pattern: ${match}`);
    if (seen.has(pattern)) throw badRequest(`patterns.${index}: "${pattern}" is there already`);
    seen.add(pattern);
    return { pattern, role };
  });
  const [first] = ambiguitiesOf(checked, groups);
  if (first)
    throw badRequest(`patterns: ${describeAmbiguity(first)}; write one that matches a single one of them`);
  return checked;
}

const TOLD_GROUPS = 5;
const listed = (groups: readonly string[]): string =>
  `${groups.slice(0, TOLD_GROUPS).join(' and ')}${groups.length > TOLD_GROUPS ? ' and others' : ''}`;

export const describeAmbiguity = ({ pattern, team, groups }: Ambiguity): string =>
  `"${pattern}" leads ${listed(groups)} to the team "${team}"`;

/** Of the patterns that are stored, in sentences. */
export async function readAmbiguities(db: Knex): Promise<string[]> {
  const patterns = await readTeamPatterns(db);
  if (patterns.length === 0) return [];
  return ambiguitiesOf(patterns, await listGroupNames(db))
    .slice(0, 20)
    .map(describeAmbiguity);
}

/** A mapping that can only be meant for one of several paths. @throws BAD_REQUEST */
export function assertUnambiguousNames(mappings: readonly TeamMapping[], groups: readonly string[]): void {
  mappings.forEach(({ group }, index) => {
    const paths = pathsNamed(group, groups);
    if (paths.length > 1)
      throw badRequest(
        `mappings.${index}.group: "${group}" may be ${listed(paths)}; write the whole path of the one that you mean`,
      );
  });
}

/** Mappings by a name of which the provider tells a path: they match nobody. */
export const nameWarnings = (mappings: readonly TeamMapping[], groups: readonly string[]): string[] =>
  mappings.flatMap(({ group }) =>
    pathsNamed(group, groups).map(
      (path) => `No group is called "${group}"; there is ${path}. Is that meant?`,
    ),
  );

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

export function patternsDiff(
  before: readonly TeamPattern[],
  after: readonly TeamPattern[],
): Record<string, [unknown, unknown]> {
  const words = ({ pattern, role }: TeamPattern) => `${pattern} (${role})`;
  const [was, is] = [before.map(words), after.map(words)];
  return was.join('\n') === is.join('\n') ? {} : { patterns: [was, is] };
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
