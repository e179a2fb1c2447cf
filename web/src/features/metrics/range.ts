/** The time that charts show, in the address: a range that ends now, or a part of the past that somebody dragged over. */
import { useMemo } from 'react';
import { IN_PLACE, putParam, useAddress } from '../../app/search-params.ts';
import {
  DEFAULT_RANGE,
  MIN_ZOOM_MINUTES,
  MINUTE_MS,
  type RangeName,
  readRange,
  type ShownRange,
} from './chart-range.ts';

export interface RangeControl extends ShownRange {
  setRange(range: RangeName): void;
  /** Milliseconds since the epoch. */
  zoom(from: number, to: number): void;
  reset(): void;
  setCompares(compares: boolean): void;
}

export function useRange(): RangeControl {
  const [params, change] = useAddress();
  const text = params.toString();
  const shown = useMemo(() => readRange(new URLSearchParams(text)), [text]);
  const clear = (next: URLSearchParams) => {
    putParam(next, 'from', '');
    putParam(next, 'to', '');
  };
  return {
    ...shown,
    setRange: (range) =>
      change((next) => {
        clear(next);
        putParam(next, 'range', range === DEFAULT_RANGE ? '' : range);
      }, IN_PLACE),
    zoom: (from, to) =>
      change(
        (next) => {
          const middle = (from + to) / 2;
          const half = Math.max((MIN_ZOOM_MINUTES * MINUTE_MS) / 2, (to - from) / 2);
          putParam(next, 'from', new Date(Math.floor((middle - half) / MINUTE_MS) * MINUTE_MS).toISOString());
          putParam(next, 'to', new Date(Math.ceil((middle + half) / MINUTE_MS) * MINUTE_MS).toISOString());
        },
        { preventScrollReset: true },
      ),
    reset: () => change(clear, { preventScrollReset: true }),
    setCompares: (compares) =>
      change((next) => putParam(next, 'compare', compares ? 'before' : ''), {
        replace: true,
        preventScrollReset: true,
      }),
  };
}
