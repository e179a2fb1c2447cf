/**
 * Remembers for some seconds which tokens the database does not know, to avoid repeated queries. Stores token ids only.
 */
export interface UnknownTokens {
  add(tokenId: string): void;
  has(tokenId: string): boolean;
  delete(tokenId: string): void;
  size(): number;
}

const TTL_MS = 5_000;
const MAX_TOKENS = 10_000;

export function createUnknownTokens(now: () => number): UnknownTokens {
  /** Expiry time by token id, oldest first. */
  const expiresAt = new Map<string, number>();

  function deleteExpired(): void {
    const at = now();
    for (const [tokenId, time] of expiresAt) {
      if (time > at && expiresAt.size <= MAX_TOKENS) return;
      expiresAt.delete(tokenId);
    }
  }

  return {
    add(tokenId) {
      expiresAt.delete(tokenId);
      expiresAt.set(tokenId, now() + TTL_MS);
      deleteExpired();
    },
    has: (tokenId) => (expiresAt.get(tokenId) ?? Number.NEGATIVE_INFINITY) > now(),
    delete: (tokenId) => expiresAt.delete(tokenId),
    size() {
      deleteExpired();
      return expiresAt.size;
    },
  };
}
