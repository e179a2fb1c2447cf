/** "Did you mean": the nearest known word, where one is near enough to be what was meant. */
import { distance } from 'fastest-levenshtein';

const MAX_LENGTH = 100;
const MAX_CANDIDATES = 2000;

export function nearest(word: string, candidates: Iterable<string>): string | null {
  if (word.length > MAX_LENGTH) return null;
  const wanted = word.toLowerCase();
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  let looked = 0;
  for (const candidate of candidates) {
    looked += 1;
    if (looked > MAX_CANDIDATES) break;
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const found = distance(wanted, candidate.toLowerCase());
    if (found >= bestDistance || found >= Math.max(word.length, candidate.length)) continue;
    best = candidate;
    bestDistance = found;
  }
  return best;
}

/** A question for the reader, or what to say where nothing is near. */
export function didYouMean(word: string, candidates: readonly string[], otherwise: string): string {
  const near = nearest(word, candidates);
  return near === null ? otherwise : `Did you mean \`${near}\`?`;
}
