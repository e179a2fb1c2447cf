/**
 * Who is behind a node token, from memory: every poll and heartbeat asks. Filled at the start in one go, corrected by
 * signals, read again as a whole when signals may have been lost. Until that has come to its end what was known is
 * believed: a fleet that asked node by node would keep a database down that has just come back.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Knex } from 'knex';
import type { LabelMap } from '../../schemas/api/common.ts';
import type { Bus } from '../platform/bus.ts';
import { parseToken, sameHash } from '../platform/tokens.ts';
import { findIdentity, listIdentities, type NodeIdentity } from './store.ts';

export type KnownNode = NodeIdentity;

const RETRY_MS = 1_000;

export interface NodeDirectory {
  /** Null for a token that is not known; a revoked one is answered with `revoked`. */
  authenticate(token: string): Promise<KnownNode | null>;
  /** Whether the node of a token is there and was not revoked. Asks the database where nothing is remembered of it. */
  stands(tokenId: string): Promise<boolean>;
  /** Labels as the node just reported them; they hold, whatever is read of the node, until they are stored or given up. */
  setAgentLabels(node: KnownNode, labels: LabelMap): void;
  /** The labels that were set are stored now, or cannot be. */
  agentLabelsSettled(nodeId: string, labels: LabelMap): void;
  warm(): Promise<void>;
}

export function createNodeDirectory(options: { db: Knex; bus: Bus }): NodeDirectory {
  const byToken = new Map<string, KnownNode>();
  const tokenOf = new Map<string, string>();
  const loading = new Map<string, Promise<KnownNode | null>>();
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
  }

  options.bus.on('node', ({ nodeId }) => {
    generation += 1;
    told?.add(nodeId);
    const tokenId = tokenOf.get(nodeId);
    if (tokenId !== undefined) byToken.delete(tokenId);
    tokenOf.delete(nodeId);
  });
  options.bus.on('environment', ({ environmentId }) => {
    generation += 1;
    told?.add(environmentId);
    for (const node of [...byToken.values()]) {
      if (node.environmentId !== environmentId) continue;
      byToken.delete(node.tokenId);
      tokenOf.delete(node.nodeId);
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
      byToken.clear();
      tokenOf.clear();
      for (const node of nodes)
        if (!meanwhile.has(node.nodeId) && !meanwhile.has(node.environmentId)) remember(withUnstored(node));
    } finally {
      told = null;
    }
  }

  async function load(tokenId: string): Promise<KnownNode | null> {
    const asked = generation;
    const found = await findIdentity(options.db, tokenId);
    const node = found && withUnstored(found);
    // A signal that came in the meantime may be about this very node: answer, but do not remember.
    if (node && asked === generation) remember(node);
    return node;
  }

  async function find(tokenId: string): Promise<KnownNode | null> {
    const known = byToken.get(tokenId);
    if (known) return known;
    const ongoing = loading.get(tokenId) ?? load(tokenId).finally(() => loading.delete(tokenId));
    loading.set(tokenId, ongoing);
    return ongoing;
  }

  return {
    async authenticate(token) {
      const parsed = parseToken('hgn', token);
      if (!parsed) return null;
      const node = await find(parsed.id);
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
      if (isDeepStrictEqual(unstored.get(nodeId)?.agentLabels, labels)) unstored.delete(nodeId);
    },
    warm: readAll,
  };
}
