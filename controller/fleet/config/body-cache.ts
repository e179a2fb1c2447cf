/**
 * Keeps the most recently used config answers in their sent form. Every answer can be rendered again, so the cache drops the
 * least recently used ones when their total size exceeds the limit.
 */
export interface BodyCache {
  /** Returns the text of this key; calls `make` on a miss. */
  get(key: string, make: () => string): string;
  /** Total bytes of the cached texts. */
  bytes(): number;
  size(): number;
}

export function createBodyCache(maxBytes: number): BodyCache {
  /** In order of use: the most recently used entry is the last. */
  const entries = new Map<string, { text: string; bytes: number }>();
  let total = 0;

  return {
    get(key, make) {
      const known = entries.get(key);
      if (known) {
        entries.delete(key);
        entries.set(key, known);
        return known.text;
      }
      const text = make();
      const bytes = Buffer.byteLength(text);
      entries.set(key, { text, bytes });
      total += bytes;
      for (const [oldest, one] of entries) {
        if (total <= maxBytes) break;
        entries.delete(oldest);
        total -= one.bytes;
      }
      return text;
    },
    bytes: () => total,
    size: () => entries.size,
  };
}
