/**
 * Config answers as they are sent, the ones that were used last. They can all be made again from what is rendered, so those
 * that have not been asked for the longest are dropped once all together are too large.
 */
export interface BodyCache {
  /** The text of this key; made where it is not held. */
  get(key: string, make: () => string): string;
  /** Bytes of all that is held. */
  bytes(): number;
  size(): number;
}

export function createBodyCache(maxBytes: number): BodyCache {
  /** The one that was used last is the last. */
  const held = new Map<string, { text: string; bytes: number }>();
  let total = 0;

  return {
    get(key, make) {
      const known = held.get(key);
      if (known) {
        held.delete(key);
        held.set(key, known);
        return known.text;
      }
      const text = make();
      const bytes = Buffer.byteLength(text);
      held.set(key, { text, bytes });
      total += bytes;
      for (const [oldest, one] of held) {
        if (total <= maxBytes) break;
        held.delete(oldest);
        total -= one.bytes;
      }
      return text;
    },
    bytes: () => total,
    size: () => held.size,
  };
}
