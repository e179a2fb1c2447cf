/**
 * Groups whose path names the team: `/(?<team>.+)/editors`. A few pieces of regular expressions and no more, so that no pattern
 * takes long: the group `team`, one other stretch, and text that is meant as it stands. No I/O.
 */
import type { Role } from '../../../schemas/api/common.ts';

export interface TeamPattern {
  pattern: string;
  role: Role;
}

/** The name of the team in a group's path; null where the pattern is of other groups. */
export type PatternMatch = (group: string) => string | null;

const PIECES = /\(\?<team>(?:\.\+|\[\^\/\]\+)\)|\[\^\/\]\+|\.\+/g;
const SPECIAL = /[\\^$*+?()[\]{}|]/;

/** Or what is wrong with it. */
export function readPattern(pattern: string): PatternMatch | string {
  const text = pattern.replace(/^\^/, '').replace(/\$$/, '');
  const pieces = text.match(PIECES) ?? [];
  const teams = pieces.filter((piece) => piece.startsWith('(?<team>')).length;
  if (teams !== 1) return 'name the team once, by (?<team>.+) or (?<team>[^/]+)';
  if (pieces.length > 2) return 'beside the team there may be one more .+ or [^/]+';
  if (text.split(PIECES).some((literal) => SPECIAL.test(literal)))
    return 'beside (?<team>.+), (?<team>[^/]+), .+ and [^/]+ a pattern is plain text';
  const source = text
    .split(PIECES)
    .map((literal, index) => `${literal.replaceAll('.', '\\.')}${pieces[index] ?? ''}`)
    .join('');
  const compiled = new RegExp(`^${source}$`, 'u');
  return (group) => compiled.exec(group)?.groups?.team ?? null;
}

export interface Ambiguity {
  pattern: string;
  /** In lower case, as names of teams are compared. */
  team: string;
  groups: string[];
}

/** Teams that a pattern leads several groups to: which of them is meant nobody can say. */
export function ambiguitiesOf(patterns: readonly TeamPattern[], groups: readonly string[]): Ambiguity[] {
  return patterns.flatMap(({ pattern }) => {
    const match = readPattern(pattern);
    if (typeof match === 'string') return [];
    const byTeam = new Map<string, string[]>();
    for (const group of groups) {
      const team = match(group)?.toLowerCase();
      if (team !== undefined) byTeam.set(team, [...(byTeam.get(team) ?? []), group]);
    }
    return [...byTeam]
      .filter(([, of]) => of.length > 1)
      .map(([team, of]) => ({ pattern, team, groups: of.sort() }));
  });
}

/** A mapping's plain name that is the last part of several paths, and is none itself: perhaps none of them is meant. */
export const pathsNamed = (name: string, groups: readonly string[]): string[] =>
  name.includes('/') || groups.includes(name)
    ? []
    : groups.filter((group) => group.endsWith(`/${name}`)).sort();
