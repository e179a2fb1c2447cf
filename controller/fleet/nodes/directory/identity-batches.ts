/**
 * Reads nodes in batches: one statement at a time, for all nodes that were asked for while the statement before it ran. So
 * neither a fleet that changes at once nor requests with unknown tokens cost a statement each.
 */
export interface Batch {
  nodeIds: ReadonlySet<string>;
  tokenIds: ReadonlySet<string>;
}

export interface Batches<T> {
  /** Reads these with the next statement, which begins after this call; answers all that it has read. */
  read(wanted: { nodeId?: string; tokenId?: string }): Promise<T>;
  /** Whether a statement is under way: what it reads may be older than what is known now. */
  running(): boolean;
  /** Whether a batch that waits or is under way reads this node. */
  includes(nodeId: string): boolean;
  /** Whether a batch that waits or is under way reads the node of this token. */
  includesToken(tokenId: string): boolean;
  /** Whether a batch that waits reads this node: then what is read of it now is out of date. */
  readsAgain(nodeId: string): boolean;
}

interface Gathering<T> {
  nodeIds: Set<string>;
  tokenIds: Set<string>;
  outcome: PromiseWithResolvers<T>;
}

export function createBatches<T>(readBatch: (batch: Batch) => Promise<T>): Batches<T> {
  let current: Gathering<T> | null = null;
  let next: Gathering<T> | null = null;

  async function run(): Promise<void> {
    while (next) {
      current = next;
      next = null;
      await readBatch(current).then(current.outcome.resolve, current.outcome.reject);
    }
    current = null;
  }

  function gather(): Gathering<T> {
    if (next) return next;
    next = { nodeIds: new Set(), tokenIds: new Set(), outcome: Promise.withResolvers() };
    // Whoever waits hears of a failure; a node that was only signalled is read when it asks.
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
    readsAgain: (nodeId) => next?.nodeIds.has(nodeId) ?? false,
  };
}
