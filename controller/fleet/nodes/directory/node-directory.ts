/**
 * Who is behind a node token, from memory: every poll and heartbeat asks. Filled at the start in one go, corrected by
 * signals, compared with the database every minute, read again as a whole when signals may have been lost. Until that has
 * come to its end what was known is believed: a fleet that asked node by node would keep a database down that has just come
 * back. What is not in memory is read in batches, and a token that is not known is remembered for some seconds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Knex } from 'knex';
import { type Clock, systemClock } from '../../../../reconcilers/engine/clock.ts';
import type { LabelMap } from '../../../../schemas/api/common.ts';
import { parseToken, sameHash } from '../../../platform/crypto/tokens.ts';
import type { Bus } from '../../../platform/runtime/bus.ts';
import { findIdentities, listIdentities, listStates, type NodeIdentity } from '../store.ts';
import { type Batch, createBatches } from './identity-batches.ts';
import { createUnknownTokens } from './unknown-tokens.ts';

export type KnownNode = NodeIdentity;

const RETRY_MS = 1_000;
/** A signal may be lost: what is remembered is compared with the database this often. */
const COMPARE_MS = 60_000;

export interface NodeDirectory {
  /**
   * Null for a token that is not known; a revoked one is answered with `revoked`. `beforeRead` is called before the database
   * is asked for what nobody has asked for yet, and may throw.
   */
  authenticate(token: string, beforeRead?: () => void): Promise<KnownNode | null>;
  /** Whether there is such a node, as far as is known here. Nothing is to be held in memory of others. */
  has(nodeId: string): boolean;
  /** Calls the listener with each node that is gone: what is held in memory of it goes too. */
  onGone(listener: (nodeId: string) => void): void;
  /** Whether the node of a token is there and was not revoked. Asks the database where nothing is remembered of it. */
  stands(tokenId: string): Promise<boolean>;
  /** Labels as the node just reported them; they hold, whatever is read of the node, until they are stored or given up. */
  setAgentLabels(node: KnownNode, labels: LabelMap): void;
  /** The labels that were set are stored now, or cannot be. */
  agentLabelsSettled(nodeId: string, labels: LabelMap): void;
  /** Reads all nodes, and goes on to compare them until it is stopped. */
  warm(): Promise<void>;
  stop(): void;
  /** Entries in memory, for diagnostics. */
  sizes(): { nodes: number; unstoredLabels: number; unknownTokens: number };
}

export function createNodeDirectory(options: { db: Knex; bus: Bus; clock?: Clock }): NodeDirectory {
  const { clock = systemClock } = options;
  const byToken = new Map<string, KnownNode>();
  const tokenOf = new Map<string, string>();
  const unknown = createUnknownTokens(clock.monotonic);
  const batches = createBatches(readBatch);
  const goneListeners: ((nodeId: string) => void)[] = [];
  /** Grows with each signal that is about more than single nodes. */
  let generation = 0;
  /** Nodes and environments that a signal told of while all are being read; null while they are not. */
  let told: Set<string> | null = null;
  let again = false;
  let reading = false;

  const unstored = new Map<string, Pick<KnownNode, 'agentLabels' | 'revision'>>();

  function withUnstored(node: KnownNode): KnownNode {
    const newer = unstored.get(node.nodeId);
    if (!newer) return node;
    return { ...node, agentLabels: newer.agentLabels, revision: Math.max(node.revision, newer.revision) };
  }

  function remember(node: KnownNode): void {
    byToken.set(node.tokenId, node);
    tokenOf.set(node.nodeId, node.tokenId);
    unknown.delete(node.tokenId);
  }

  function gone(nodeId: string): void {
    for (const listener of goneListeners) listener(nodeId);
  }

  /** Read at once, since it is asked for soon: with the others that changed, and not each by a request of its own. */
  function reread(nodeId: string): void {
    told?.add(nodeId);
    const tokenId = tokenOf.get(nodeId);
    if (tokenId !== undefined) byToken.delete(tokenId);
    tokenOf.delete(nodeId);
    batches.read({ nodeId, ...(tokenId === undefined ? {} : { tokenId }) }).catch(() => {
      // It may be deleted, and nothing would tell of that any more.
      if (!tokenOf.has(nodeId) && !batches.readsAgain(nodeId)) gone(nodeId);
    });
  }

  options.bus.on('node', ({ nodeId }) => reread(nodeId));
  options.bus.on('environment', ({ environmentId }) => {
    generation += 1;
    told?.add(environmentId);
    for (const node of [...byToken.values()]) {
      if (node.environmentId !== environmentId) continue;
      byToken.delete(node.tokenId);
      tokenOf.delete(node.nodeId);
      gone(node.nodeId);
    }
  });
  options.bus.on('resync', () => {
    generation += 1;
    again = true;
    if (!reading) void readAgain();
  });

  async function readAgain(): Promise<void> {
    reading = true;
    while (again) {
      again = false;
      await readAll().catch(() => {
        again = true;
      });
      if (again) await sleep(RETRY_MS, undefined, { ref: false });
    }
    reading = false;
  }

  async function readAll(): Promise<void> {
    const meanwhile = new Set<string>();
    told = meanwhile;
    try {
      const nodes = await listIdentities(options.db);
      const isNewer = (node: KnownNode) => meanwhile.has(node.nodeId) || meanwhile.has(node.environmentId);
      const before = [...byToken.values()].filter((node) => !isNewer(node));
      for (const node of before) {
        byToken.delete(node.tokenId);
        tokenOf.delete(node.nodeId);
      }
      for (const node of nodes) if (!isNewer(node)) remember(withUnstored(node));
      for (const { nodeId } of before) if (!tokenOf.has(nodeId)) gone(nodeId);
    } finally {
      told = null;
    }
  }

  /** Reads again what is no longer as it is remembered. */
  async function compare(): Promise<void> {
    const known = [...byToken.values()];
    const states = new Map((await listStates(options.db)).map((state) => [state.tokenId, state]));
    for (const node of known) {
      if (unstored.has(node.nodeId) || byToken.get(node.tokenId) !== node) continue;
      const now = states.get(node.tokenId);
      const isSame =
        now !== undefined &&
        now.nodeId === node.nodeId &&
        now.revoked === node.revoked &&
        now.archived === node.archived &&
        now.maintenance === node.maintenance &&
        now.revision === node.revision;
      if (!isSame) reread(node.nodeId);
    }
  }

  let cancelCompare: (() => void) | undefined;
  let stopped = false;
  function compareLater(): void {
    if (stopped) return;
    cancelCompare = clock.after(COMPARE_MS, () => {
      // Where the database does not answer, what was known is believed.
      void compare()
        .catch(() => {})
        .finally(compareLater);
    });
  }

  async function readBatch({ nodeIds, tokenIds }: Batch): Promise<ReadonlyMap<string, KnownNode>> {
    const asked = generation;
    const rows = await findIdentities(options.db, { nodeIds: [...nodeIds], tokenIds: [...tokenIds] });
    const found = new Map(rows.map((row) => [row.tokenId, withUnstored(row)]));
    for (const node of found.values()) {
      // A signal that came in the meantime may be about this very node: answer, but do not remember.
      if (asked === generation && !batches.readsAgain(node.nodeId)) remember(node);
    }
    for (const tokenId of tokenIds) if (!found.has(tokenId)) unknown.add(tokenId);
    const there = new Set(rows.map(({ nodeId }) => nodeId));
    for (const nodeId of nodeIds) if (!there.has(nodeId) && !batches.readsAgain(nodeId)) gone(nodeId);
    return found;
  }

  async function find(tokenId: string, beforeRead?: () => void): Promise<KnownNode | null> {
    const known = byToken.get(tokenId);
    if (known) return known;
    if (unknown.has(tokenId)) return null;
    // What is being read already costs nothing.
    if (!batches.includesToken(tokenId)) beforeRead?.();
    return (await batches.read({ tokenId })).get(tokenId) ?? null;
  }

  return {
    async authenticate(token, beforeRead) {
      const parsed = parseToken('hgn', token);
      if (!parsed) return null;
      const node = await find(parsed.id, beforeRead);
      return node && sameHash(node.tokenHash, parsed.hash) ? node : null;
    },
    async stands(tokenId) {
      const node = await find(tokenId);
      return node !== null && !node.revoked;
    },
    setAgentLabels(node, labels) {
      node.agentLabels = labels;
      node.revision += 1;
      unstored.set(node.nodeId, { agentLabels: labels, revision: node.revision });
    },
    agentLabelsSettled(nodeId, labels) {
      if (!isDeepStrictEqual(unstored.get(nodeId)?.agentLabels, labels)) return;
      unstored.delete(nodeId);
      // What is being read of it may be from before they were stored.
      if (batches.running() || told) reread(nodeId);
    },
    has: (nodeId) => tokenOf.has(nodeId) || batches.includes(nodeId),
    onGone: (listener) => void goneListeners.push(listener),
    async warm() {
      await readAll();
      compareLater();
    },
    stop() {
      stopped = true;
      cancelCompare?.();
    },
    sizes: () => ({ nodes: byToken.size, unstoredLabels: unstored.size, unknownTokens: unknown.size() }),
  };
}
