/** The time that an address asks charts for. Pure. */

export const RANGES = [
  { value: '15m', word: '15 min', minutes: 15 },
  { value: '1h', word: '1 h', minutes: 60 },
  { value: '6h', word: '6 h', minutes: 360 },
  { value: '1d', word: '1 d', minutes: 1_440 },
  { value: '7d', word: '7 d', minutes: 10_080 },
  { value: '30d', word: '30 d', minutes: 43_200 },
] as const;
export type RangeName = (typeof RANGES)[number]['value'];

export const DEFAULT_RANGE: RangeName = '1h';
export const MINUTE_MS = 60_000;
/** Of a part that somebody dragged over. */
export const MIN_ZOOM_MINUTES = 5;

export interface ShownRange {
  range: RangeName;
  minutes: number;
  /** Null: now. */
  end: Date | null;
  isZoomed: boolean;
  compares: boolean;
}

/** What an address means; what it has wrong counts as absent. */
export function readRange(params: URLSearchParams): ShownRange {
  const found =
    RANGES.find(({ value }) => value === params.get('range')) ??
    RANGES.find(({ value }) => value === DEFAULT_RANGE);
  const range = found?.value ?? DEFAULT_RANGE;
  const compares = params.get('compare') === 'before';
  const [from, to] = ['from', 'to'].map((name) => Date.parse(params.get(name) ?? ''));
  if (from === undefined || to === undefined || !(from < to))
    return { range, minutes: found?.minutes ?? 60, end: null, isZoomed: false, compares };
  const minutes = Math.max(MIN_ZOOM_MINUTES, Math.ceil((to - from) / MINUTE_MS));
  return { range, minutes, end: new Date(to), isZoomed: true, compares };
}
