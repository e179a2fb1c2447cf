import { matchesGlob } from 'node:path';
import type { TapPoint } from '../topology/tap-point.ts';

/** What to look at: globs over outputs, and over components whose inputs are meant. */
export interface TapPatterns {
  outputsOf: string[];
  inputsOf: string[];
}

export interface TapRequest extends TapPatterns {
  /** Milliseconds between two bursts, and the most events of one. */
  intervalMs: number;
  limit: number;
}

export const LEAST_INTERVAL_MS = 100;
export const MOST_EVENTS = 100_000;
const MOST_INTERVAL_MS = 3_600_000;
const MOST_PATTERNS = 100;
const PATTERN_CHARS = 256;
/** More would make a single match long: the API has no password. */
const PATTERN_STARS = 8;

/** The query string in which `tap` asks its engine. */
export function queryOf({ outputsOf, inputsOf, intervalMs, limit }: TapRequest): string {
  const query = new URLSearchParams({ interval: String(intervalMs), limit: String(limit) });
  for (const pattern of outputsOf) query.append('output', pattern);
  for (const pattern of inputsOf) query.append('input', pattern);
  return query.toString();
}

/** Reads what `queryOf` wrote; a text says what is wrong with it. */
export function readQuery(query: URLSearchParams): TapRequest | string {
  const outputsOf = query.getAll('output');
  const inputsOf = query.getAll('input');
  const intervalMs = Number(query.get('interval'));
  const limit = Number(query.get('limit'));
  const patterns = [...outputsOf, ...inputsOf];
  if (!Number.isInteger(intervalMs) || intervalMs < LEAST_INTERVAL_MS || intervalMs > MOST_INTERVAL_MS)
    return `interval must be ${LEAST_INTERVAL_MS} to ${MOST_INTERVAL_MS} milliseconds`;
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_EVENTS)
    return `limit must be 1 to ${MOST_EVENTS} events`;
  if (patterns.length === 0 || patterns.length > MOST_PATTERNS)
    return `there must be 1 to ${MOST_PATTERNS} patterns`;
  if (patterns.some((pattern) => pattern.length > PATTERN_CHARS || pattern.split('*').length > PATTERN_STARS))
    return `a pattern has at most ${PATTERN_CHARS} characters and ${PATTERN_STARS - 1} stars`;
  return { outputsOf, inputsOf, intervalMs, limit };
}

export interface Matched {
  points: TapPoint[];
  /** Every pattern in its order, and whether it met anything. */
  notices: string[];
}

/** A component's inputs are the outputs that it reads. */
export function matchPoints(points: readonly TapPoint[], { outputsOf, inputsOf }: TapPatterns): Matched {
  const matches = (name: string, pattern: string) => name === pattern || matchesGlob(name, pattern);
  const asked = [
    ...outputsOf.map((pattern) => ({
      pattern,
      found: points.filter(({ name }) => matches(name, pattern)),
    })),
    ...inputsOf.map((pattern) => ({
      pattern,
      found: points.filter(({ readers }) => readers.some((id) => matches(id, pattern))),
    })),
  ];
  return {
    points: [...new Set(asked.flatMap(({ found }) => found))],
    notices: asked.map(({ pattern, found }) =>
      found.length > 0
        ? `[tap] Pattern '${pattern}' successfully matched.`
        : `[tap] Pattern '${pattern}' failed to match: will retry on configuration reload.`,
    ),
  };
}
