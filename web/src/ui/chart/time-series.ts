/** What a chart draws. */

export interface TimeSeries {
  name: string;
  /** A token, for example `--accent`. */
  color: string;
  values: readonly (number | null)[];
  /** The lowest and highest values around each value: drawn as a band. */
  low?: readonly (number | null)[] | undefined;
  high?: readonly (number | null)[] | undefined;
  /** For what is compared with. */
  dashed?: boolean;
}

export interface Mark {
  /** Milliseconds since the epoch. */
  at: number;
  /** Milliseconds since the epoch: the time up to it is shaded. */
  to?: number;
  /** A token. */
  color: string;
  dashed: boolean;
  /** What a click on it does. */
  open?: () => void;
}
