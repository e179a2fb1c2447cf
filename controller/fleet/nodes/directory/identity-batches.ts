/**
 * Reads nodes in batches: one statement at a time, for all nodes that were requested while the previous statement ran. A fleet
 * that changes at once, or requests with unknown tokens, therefore do not cost a statement each.
 */
export interface Batch {
  nodeIds: ReadonlySet<string>;
  tokenIds: ReadonlySet<string>;
}

export interface Batches<T> {
  /** Adds these to the next statement. Resolves to everything that the statement read. */
  read(wanted: { nodeId?: string; tokenId?: string }): Promise<T>;
  /** Whether a statement is running: its result may be older than what is known now. */
  running(): boolean;
  /** Whether the waiting or the running batch reads this node. */
  includes(nodeId: string): boolean;
  /** Whether the waiting or the running batch reads the node of this token. */
  includesToken(tokenId: string): boolean;
  /** Whether the waiting batch reads this node, which makes an earlier result outdated. */
  isWaiting(nodeId: string): boolean;
}

interface PendingBatch<T> {
  nodeIds: Set<string>;
  tokenIds: Set<string>;
  outcome: PromiseWithResolvers<T>;
}

export function createBatches<T>(readBatch: (batch: Batch) => Promise<T>): Batches<T> {
  let current: PendingBatch<T> | null = null;
  let next: PendingBatch<T> | null = null;

  async function run(): Promise<void> {
    while (next) {
      current = next;
      next = null;
      await readBatch(current).then(current.outcome.resolve, current.outcome.reject);
    }
    current = null;
  }

  function gather(): PendingBatch<T> {
    if (next) return next;
    next = { nodeIds: new Set(), tokenIds: new Set(), outcome: Promise.withResolvers() };
    // Callers of `read` handle the failure. A node that was only signalled has no caller; it is read when it is requested.
    next.outcome.promise.catch(() => {});
    // Signals that arrive together share a statement.
    if (!current) setImmediate(() => void run());
    return next;
  }

  return {
    read({ nodeId, tokenId }) {
      const batch = gather();
      if (nodeId !== undefined) batch.nodeIds.add(nodeId);
      if (tokenId !== undefined) batch.tokenIds.add(tokenId);
      return batch.outcome.promise;
    },
    running: () => current !== null,
    includes: (nodeId) => Boolean(current?.nodeIds.has(nodeId) || next?.nodeIds.has(nodeId)),
    includesToken: (tokenId) => Boolean(current?.tokenIds.has(tokenId) || next?.tokenIds.has(tokenId)),
    isWaiting: (nodeId) => next?.nodeIds.has(nodeId) ?? false,
  };
}
