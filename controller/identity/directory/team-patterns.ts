/**
 * Patterns for groups whose path contains the team's name: `/(?<team>.+)/editors`. Only a few elements of regular expressions are
 * allowed, so that matching is fast: the group `team`, one other wildcard, and literal text. No I/O.
 */
import type { Role } from '../../../schemas/api/common.ts';

export interface TeamPattern {
  pattern: string;
  role: Role;
}

/** The team's name in the path of a group; null where the pattern does not match. */
export type PatternMatch = (group: string) => string | null;

const PIECES = /\(\?<team>(?:\.\+|\[\^\/\]\+)\)|\[\^\/\]\+|\.\+/g;
const SPECIAL = /[\\^$*+?()[\]{}|]/;

/** Returns a message where the pattern is invalid. */
export function parsePattern(pattern: string): PatternMatch | string {
  const text = pattern.replace(/^\^/, '').replace(/\$$/, '');
  const pieces = text.match(PIECES) ?? [];
  const teams = pieces.filter((piece) => piece.startsWith('(?<team>')).length;
  if (teams !== 1) return 'write the team exactly once, as (?<team>.+) or (?<team>[^/]+)';
  if (pieces.length > 2) return 'beside the team only one more .+ or [^/]+ is allowed';
  if (text.split(PIECES).some((literal) => SPECIAL.test(literal)))
    return 'apart from (?<team>.+), (?<team>[^/]+), .+ and [^/]+ a pattern must be plain text';
  const source = text
    .split(PIECES)
    .map((literal, index) => `${literal.replaceAll('.', '\\.')}${pieces[index] ?? ''}`)
    .join('');
  const compiled = new RegExp(`^${source}$`, 'u');
  return (group) => compiled.exec(group)?.groups?.team ?? null;
}

export interface Ambiguity {
  pattern: string;
  /** The team's name in lower case, as team names are compared. */
  team: string;
  groups: string[];
}

/** Teams that several groups match by one pattern, so that the intended group is unknown. */
export function ambiguitiesOf(patterns: readonly TeamPattern[], groups: readonly string[]): Ambiguity[] {
  return patterns.flatMap(({ pattern }) => {
    const match = parsePattern(pattern);
    if (typeof match === 'string') return [];
    const byTeam = new Map<string, string[]>();
    for (const group of groups) {
      const team = match(group)?.toLowerCase();
      if (team !== undefined) byTeam.set(team, [...(byTeam.get(team) ?? []), group]);
    }
    return [...byTeam]
      .filter(([, matching]) => matching.length > 1)
      .map(([team, matching]) => ({ pattern, team, groups: matching.sort() }));
  });
}

/** The group paths that end in a plain name, unless a group has exactly that name. */
export const pathsEndingIn = (name: string, groups: readonly string[]): string[] =>
  name.includes('/') || groups.includes(name)
    ? []
    : groups.filter((group) => group.endsWith(`/${name}`)).sort();
