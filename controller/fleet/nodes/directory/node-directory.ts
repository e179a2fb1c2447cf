/**
 * Authenticates node tokens from memory, since every poll and heartbeat needs it. The memory is filled at the start in one read,
 * updated by signals, compared with the database every minute, and reloaded when signals may have been lost. During a reload
 * the old entries stay valid: a fleet that asked node by node would bring down a database that has just recovered. Nodes that
 * are not in memory are read in batches, and an unknown token is remembered for some seconds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Knex } from 'knex';
import { type Clock, systemClock } from '../../../../reconcilers/loops/clock.ts';
import type { LabelMap } from '../../../../schemas/api/common.ts';
import { parseToken, sameHash } from '../../../platform/crypto/tokens.ts';
import type { Bus } from '../../../platform/runtime/bus.ts';
import { findIdentities, listIdentities, listStates, type NodeIdentity } from '../store.ts';
import { type Batch, createBatches } from './identity-batches.ts';
import { createUnknownTokens } from './unknown-tokens.ts';

export type KnownNode = NodeIdentity;

const RETRY_MS = 1_000;
/** A signal may be lost, so the memory is compared with the database this often. */
const COMPARE_MS = 60_000;

export interface NodeDirectory {
  /**
   * Null for an unknown token; a revoked node is returned with `revoked`. `beforeRead` is called before a token is read from
   * the database and may throw.
   */
  authenticate(token: string, beforeRead?: () => void): Promise<KnownNode | null>;
  /** Whether the node exists, as far as this controller knows. Caches must not hold entries of other nodes. */
  has(nodeId: string): boolean;
  /** Calls the listener with each deleted node, so that caches drop its entries. */
  onDeleted(listener: (nodeId: string) => void): void;
  /** Whether the node of a token exists and is not revoked. Reads the database if the token is not in memory. */
  isActive(tokenId: string): Promise<boolean>;
  /** Sets the labels that the node just reported. They override what is read from the database until `agentLabelsSettled`. */
  setAgentLabels(node: KnownNode, labels: LabelMap): void;
  /** The labels were stored, or cannot be stored. */
  releaseAgentLabels(nodeId: string, labels: LabelMap): void;
  /** Reads all nodes and starts the periodic comparison. */
  warm(): Promise<void>;
  stop(): void;
  /** Number of entries in memory, for diagnostics. */
  sizes(): { nodes: number; unstoredLabels: number; unknownTokens: number };
}

export function createNodeDirectory(options: { db: Knex; bus: Bus; clock?: Clock }): NodeDirectory {
  const { clock = systemClock } = options;
  const byToken = new Map<string, KnownNode>();
  const tokenOf = new Map<string, string>();
  const unknown = createUnknownTokens(clock.monotonic);
  const batches = createBatches(readBatch);
  const deletedListeners: ((nodeId: string) => void)[] = [];
  /** Counts the signals that concern more than single nodes. */
  let generation = 0;
  /** Ids of nodes and environments that were signalled during a full reload; null when none is running. */
  let signalled: Set<string> | null = null;
  let reloadRequested = false;
  let reloading = false;

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

  function notifyDeleted(nodeId: string): void {
    for (const listener of deletedListeners) listener(nodeId);
  }

  /** Reads the node at once, since its agent polls soon. One statement reads all changed nodes. */
  function refresh(nodeId: string): void {
    signalled?.add(nodeId);
    const tokenId = tokenOf.get(nodeId);
    if (tokenId !== undefined) byToken.delete(tokenId);
    tokenOf.delete(nodeId);
    batches.read({ nodeId, ...(tokenId === undefined ? {} : { tokenId }) }).catch(() => {
      // The node may be deleted, and no other signal would report it.
      if (!tokenOf.has(nodeId) && !batches.isWaiting(nodeId)) notifyDeleted(nodeId);
    });
  }

  options.bus.on('node', ({ nodeId }) => refresh(nodeId));
  options.bus.on('environment', ({ environmentId }) => {
    generation += 1;
    signalled?.add(environmentId);
    for (const node of [...byToken.values()]) {
      if (node.environmentId !== environmentId) continue;
      byToken.delete(node.tokenId);
      tokenOf.delete(node.nodeId);
      notifyDeleted(node.nodeId);
    }
  });
  options.bus.on('resync', () => {
    generation += 1;
    reloadRequested = true;
    if (!reloading) void reloadUntilDone();
  });

  async function reloadUntilDone(): Promise<void> {
    reloading = true;
    while (reloadRequested) {
      reloadRequested = false;
      await reload().catch(() => {
        reloadRequested = true;
      });
      if (reloadRequested) await sleep(RETRY_MS, undefined, { ref: false });
    }
    reloading = false;
  }

  async function reload(): Promise<void> {
    const meanwhile = new Set<string>();
    signalled = meanwhile;
    try {
      const nodes = await listIdentities(options.db);
      const isNewer = (node: KnownNode) => meanwhile.has(node.nodeId) || meanwhile.has(node.environmentId);
      const before = [...byToken.values()].filter((node) => !isNewer(node));
      for (const node of before) {
        byToken.delete(node.tokenId);
        tokenOf.delete(node.nodeId);
      }
      for (const node of nodes) if (!isNewer(node)) remember(withUnstored(node));
      for (const { nodeId } of before) if (!tokenOf.has(nodeId)) notifyDeleted(nodeId);
    } finally {
      signalled = null;
    }
  }

  /** Rereads the nodes whose state in the database differs from memory. */
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
      if (!isSame) refresh(node.nodeId);
    }
  }

  let cancelCompare: (() => void) | undefined;
  let stopped = false;
  function scheduleCompare(): void {
    if (stopped) return;
    cancelCompare = clock.after(COMPARE_MS, () => {
      // When the database does not answer, the memory stays valid.
      void compare()
        .catch(() => {})
        .finally(scheduleCompare);
    });
  }

  async function readBatch({ nodeIds, tokenIds }: Batch): Promise<ReadonlyMap<string, KnownNode>> {
    const startGeneration = generation;
    const rows = await findIdentities(options.db, { nodeIds: [...nodeIds], tokenIds: [...tokenIds] });
    const found = new Map(rows.map((row) => [row.tokenId, withUnstored(row)]));
    for (const node of found.values()) {
      // A signal during the read may concern this very node: return it, but do not remember it.
      if (startGeneration === generation && !batches.isWaiting(node.nodeId)) remember(node);
    }
    for (const tokenId of tokenIds) if (!found.has(tokenId)) unknown.add(tokenId);
    const existing = new Set(rows.map(({ nodeId }) => nodeId));
    for (const nodeId of nodeIds)
      if (!existing.has(nodeId) && !batches.isWaiting(nodeId)) notifyDeleted(nodeId);
    return found;
  }

  async function find(tokenId: string, beforeRead?: () => void): Promise<KnownNode | null> {
    const known = byToken.get(tokenId);
    if (known) return known;
    if (unknown.has(tokenId)) return null;
    // A token that is already being read costs nothing more.
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
    async isActive(tokenId) {
      const node = await find(tokenId);
      return node !== null && !node.revoked;
    },
    setAgentLabels(node, labels) {
      // The node may have been read again since it was authenticated: then another object is in memory.
      const remembered = byToken.get(node.tokenId) ?? node;
      const revision = Math.max(node.revision, remembered.revision) + 1;
      Object.assign(node, { agentLabels: labels, revision });
      Object.assign(remembered, { agentLabels: labels, revision });
      unstored.set(node.nodeId, { agentLabels: labels, revision });
    },
    releaseAgentLabels(nodeId, labels) {
      if (!isDeepStrictEqual(unstored.get(nodeId)?.agentLabels, labels)) return;
      unstored.delete(nodeId);
      // A running read may have started before the labels were stored.
      if (batches.running() || signalled) refresh(nodeId);
    },
    has: (nodeId) => tokenOf.has(nodeId) || batches.includes(nodeId),
    onDeleted: (listener) => void deletedListeners.push(listener),
    async warm() {
      await reload();
      scheduleCompare();
    },
    stop() {
      stopped = true;
      cancelCompare?.();
    },
    sizes: () => ({ nodes: byToken.size, unstoredLabels: unstored.size, unknownTokens: unknown.size() }),
  };
}
