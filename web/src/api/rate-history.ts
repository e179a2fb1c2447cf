/**
 * What the pages have seen of each pipeline's rates since they were opened: the server keeps no series for
 * the screen, so sparklines grow from the live refreshes.
 */
import { useSyncExternalStore } from 'react';
import type { Rates } from '../../../schemas/api/pipelines.ts';

export interface RateSample extends Rates {
  /** Milliseconds since the epoch. */
  at: number;
}

/** Fifteen minutes at one sample in five seconds. */
const MAX_SAMPLES = 180;
/** Refreshes that come closer together would only thicken the line. */
const MIN_GAP_MS = 1_000;
const NONE: readonly RateSample[] = [];

const series = new Map<string, readonly RateSample[]>();
const listeners = new Set<() => void>();

export function recordRates(key: string, rates: Rates, at = Date.now()): void {
  // Old rates are no rates of now.
  if (rates.asOf !== null) return;
  const seen = series.get(key) ?? NONE;
  const last = seen.at(-1);
  if (last && at - last.at < MIN_GAP_MS) return;
  series.set(key, [...seen, { ...rates, at }].slice(-MAX_SAMPLES));
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The samples of one key, oldest first. */
export const useRateHistory = (key: string): readonly RateSample[] =>
  useSyncExternalStore(subscribe, () => series.get(key) ?? NONE);
