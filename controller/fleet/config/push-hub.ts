/**
 * The push streams of the nodes that are connected to this replica. A message only triggers a poll, so a lost message loses no
 * data.
 */
import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import type { PushMessage } from '../../../schemas/agent/protocol.ts';
import type { Bus } from '../../platform/runtime/bus.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import type { NodeDirectory } from '../nodes/directory/node-directory.ts';

export interface PushStream {
  /** Sends `event` and `data` as one server-sent event. */
  send(event: string, data: string): void;
  comment(text: string): void;
  close(): void;
}

export interface PushHub {
  /** Registers the stream of a node and closes its previous one. Returns a function that unregisters it. */
  attach(node: { nodeId: string; environmentId: string; tokenId: string }, stream: PushStream): () => void;
  connected(nodeId: string): boolean;
  count(): number;
  stop(): void;
}

/** Interval of keep-alive comments: proxies do not close the stream, and the agent sees that the connection lives. */
export const KEEP_ALIVE_MS = 30_000;

interface Connection {
  environmentId: string;
  tokenId: string;
  stream: PushStream;
}

export function createPushHub(options: {
  bus: Bus;
  log: Logger;
  /** Must subscribe to the bus before this hub does. */
  directory: Pick<NodeDirectory, 'isActive'>;
}): PushHub {
  const streams = new Map<string, Connection>();
  let checking = false;
  const keepAlive = setInterval(() => {
    for (const { stream } of streams.values()) stream.comment('keep-alive');
    void checkAll();
  }, KEEP_ALIVE_MS);
  keepAlive.unref();

  /** Closes the stream of a deleted or revoked node. A stream stays open when the state of its node cannot be read. */
  async function check({ tokenId, stream }: Connection): Promise<void> {
    if (!(await options.directory.isActive(tokenId).catch(() => true))) stream.close();
  }

  /** Signals of revocations can be lost. Checks one node after the other; memory answers for nearly all of them. */
  async function checkAll(): Promise<void> {
    if (checking) return;
    checking = true;
    for (const connection of [...streams.values()]) await check(connection);
    checking = false;
  }

  function send(stream: PushStream, message: PushMessage): void {
    const data = JSON.stringify(message);
    if (Buffer.byteLength(data) >= AGENT_LIMITS.pushMessageBytes) {
      options.log.error({ type: message.type }, 'a push message is over the limit and was not sent');
      return;
    }
    stream.send(message.type, data);
  }

  options.bus.on('config', ({ environmentId, pipelineId, reason }) => {
    const message: PushMessage = {
      type: 'config_changed',
      reason,
      ...(pipelineId === undefined ? {} : { pipelineId }),
    };
    for (const connection of streams.values())
      if (connection.environmentId === environmentId) send(connection.stream, message);
  });
  options.bus.on('node', ({ nodeId }) => {
    const connection = streams.get(nodeId);
    if (!connection) return;
    send(connection.stream, { type: 'config_changed', reason: 'node changed' });
    void check(connection);
  });
  options.bus.on('push', ({ nodeId, message }) => {
    const connection = streams.get(nodeId);
    if (connection) send(connection.stream, message);
  });
  options.bus.on('environment', ({ environmentId }) => {
    for (const connection of [...streams.values()])
      if (connection.environmentId === environmentId) connection.stream.close();
  });
  const notifyAll = (reason: string) => {
    for (const { stream } of streams.values()) send(stream, { type: 'config_changed', reason });
  };
  options.bus.on('fleet', () => notifyAll('fleet settings changed'));
  options.bus.on('resync', () => notifyAll('resync'));

  return {
    attach(node, stream) {
      streams.get(node.nodeId)?.stream.close();
      const connection = { environmentId: node.environmentId, tokenId: node.tokenId, stream };
      streams.set(node.nodeId, connection);
      return () => {
        if (streams.get(node.nodeId) === connection) streams.delete(node.nodeId);
      };
    },
    connected: (nodeId) => streams.has(nodeId),
    count: () => streams.size,
    stop() {
      clearInterval(keepAlive);
      for (const { stream } of streams.values()) stream.close();
      streams.clear();
    },
  };
}
