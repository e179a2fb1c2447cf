/** What is known about the tags of a stream, and whether a pattern matches them: always, never, or only some of them. */
import { Automaton, type Node } from './automaton.ts';
import type { TagPattern } from './pattern.ts';

/** Texts in order, with null for any text: `['app.', null]` are all tags that begin with `app.`. */
export type TagShape = readonly (string | null)[];

export interface TagAlternative {
  shape: TagShape;
  /** Patterns that were looked at on the way here, and whether they matched. */
  facts: readonly { pattern: TagPattern; matches: boolean }[];
}
export type TagSet = readonly TagAlternative[];
export type Verdict = 'always' | 'never' | 'maybe';

/** Facts beyond these are dropped, which makes an answer less certain and never wrong. */
const MAX_FACTS = 5;
const MAX_STATES = 600;
const MAX_ALTERNATIVES = 64;
/** Stands for every character that no pattern names. */
const OTHER = '\uFFFF';

export const anyTag: TagSet = [{ shape: [null], facts: [] }];
export const tagSet = (shapes: readonly TagShape[]): TagSet => shapes.map((shape) => ({ shape, facts: [] }));

/** The only tag that a shape stands for; null if there are several. */
export const exactTag = (shape: TagShape): string | null =>
  shape.every((part) => part !== null) ? shape.join('') : null;

/** Steps of automata that all decisions about one configuration may take; beyond them the engine decides. */
export class TagBudget {
  left = 2_000_000;
}

export function decide(alternative: TagAlternative, pattern: TagPattern, budget = new TagBudget()): Verdict {
  if (pattern.matchesAll) return 'always';
  const known = alternative.facts.find((fact) => fact.pattern.text === pattern.text);
  if (known) return known.matches ? 'always' : 'never';
  if (!pattern.automaton) return 'maybe';
  if (budget.left < 0) return 'maybe';
  const exact = exactTag(alternative.shape);
  if (exact !== null) {
    budget.left -= exact.length * pattern.automaton.size;
    return pattern.automaton.matches(exact) ? 'always' : 'never';
  }
  return explore(alternative, pattern.automaton, budget);
}

/** Walks through all tags of the alternative at once, with the states of every automaton side by side. */
function explore({ shape, facts }: TagAlternative, wanted: Automaton, budget: TagBudget): Verdict {
  const relevant = facts.flatMap(({ pattern, matches }) =>
    pattern.automaton ? [{ automaton: pattern.automaton, matches }] : [],
  );
  const used = relevant.slice(-MAX_FACTS);
  const automata = [wanted, shapeAutomaton(shape), ...used.map(({ automaton }) => automaton)];
  const chars = [...new Set(automata.flatMap(({ chars: named }) => [...named])), OTHER];
  const first = automata.map(({ start }) => start);
  const seen = new Set([JSON.stringify(first)]);
  const queue = [first];
  let some = false;
  let other = false;
  for (const states of queue) {
    const accepted = automata.map((automaton, at) => automaton.accepts(states[at] ?? []));
    if (accepted[1] && used.every(({ matches }, at) => accepted[at + 2] === matches)) {
      if (accepted[0]) some = true;
      else other = true;
      if (some && other) return 'maybe';
    }
    for (const char of chars) {
      budget.left -= states.reduce((sum, active) => sum + active.length ** 2, automata.length);
      if (budget.left < 0) return 'maybe';
      const next = automata.map((automaton, at) => automaton.next(states[at] ?? [], char));
      // No tag of the shape goes on this way.
      if (next[1]?.length === 0) continue;
      const key = JSON.stringify(next);
      if (seen.has(key)) continue;
      if (seen.size >= MAX_STATES) return 'maybe';
      seen.add(key);
      queue.push(next);
    }
  }
  return some ? 'always' : 'never';
}

const shapeAutomaton = (shape: TagShape): Automaton =>
  new Automaton({
    sequence: shape.flatMap((part): Node[] =>
      part === null ? [{ repeat: 'any' }] : [...part].map((char) => ({ char })),
    ),
  });

/** The tags of a set that match a pattern, and those that do not. */
export function splitTags(
  tags: TagSet,
  pattern: TagPattern,
  budget: TagBudget,
): { matching: TagSet; other: TagSet } {
  const matching: TagAlternative[] = [];
  const other: TagAlternative[] = [];
  for (const alternative of tags) {
    const verdict = decide(alternative, pattern, budget);
    const withFact = (matches: boolean): TagAlternative =>
      verdict === 'maybe'
        ? { ...alternative, facts: [...alternative.facts.slice(-MAX_FACTS), { pattern, matches }] }
        : alternative;
    if (verdict !== 'never') matching.push(withFact(true));
    if (verdict !== 'always') other.push(withFact(false));
  }
  return { matching, other };
}

/** The same alternative is listed once; too many become any tag. */
export function joinTags(tags: TagSet): TagSet {
  const byText = new Map<string, TagAlternative>();
  for (const alternative of tags) {
    const facts = alternative.facts.map(({ pattern, matches }) => `${matches}${pattern.text}`);
    byText.set(JSON.stringify([alternative.shape, facts]), alternative);
  }
  return byText.size > MAX_ALTERNATIVES ? anyTag : [...byText.values()];
}
