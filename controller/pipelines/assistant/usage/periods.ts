/** Days and months of UTC, by which tokens are counted. Pure. */

export interface Period {
  start: Date;
  end: Date;
}

export function dayOf(now: number): Period {
  const date = new Date(now);
  const at = (days: number) =>
    new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + days));
  return { start: at(0), end: at(1) };
}

export function monthOf(now: number): Period {
  const date = new Date(now);
  const at = (months: number) => new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months));
  return { start: at(0), end: at(1) };
}

/** Bytes of a token, on average; code and JSON have fewer than prose. */
const BYTES_PER_TOKEN = 3;

/** Before a provider has counted, and for those that never do. */
export const estimateTokens = (...texts: readonly string[]): number =>
  Math.ceil(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / BYTES_PER_TOKEN);
