/** The push streams of the nodes that are connected to this replica. Messages only trigger work: nothing is lost with one. */
import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import type { PushMessage } from '../../../schemas/agent/protocol.ts';
import type { Bus } from '../../platform/runtime/bus.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import type { NodeDirectory } from '../nodes/directory/node-directory.ts';

export interface PushStream {
  /** `event` and `data` of one server-sent event. False when the stream cannot take more. */
  send(event: string, data: string): void;
  comment(text: string): void;
  close(): void;
}

export interface PushHub {
  /** One stream a node: a newer one ends the older. The answer takes it off again. */
  attach(node: { nodeId: string; environmentId: string; tokenId: string }, stream: PushStream): () => void;
  connected(nodeId: string): boolean;
  count(): number;
  stop(): void;
}

/** A comment this often keeps proxies from closing the stream, and lets the agent see that it lives. */
export const KEEP_ALIVE_MS = 30_000;

interface Attached {
  environmentId: string;
  tokenId: string;
  stream: PushStream;
}

export function createPushHub(options: {
  bus: Bus;
  log: Logger;
  /** Hears of a node before this does. */
  directory: Pick<NodeDirectory, 'stands'>;
}): PushHub {
  const streams = new Map<string, Attached>();
  let checking = false;
  const keepAlive = setInterval(() => {
    for (const { stream } of streams.values()) stream.comment('keep-alive');
    void checkAll();
  }, KEEP_ALIVE_MS);
  keepAlive.unref();

  /** Ends the stream of a node that is gone or revoked. One whose state cannot be read keeps it. */
  async function check({ tokenId, stream }: Attached): Promise<void> {
    if (!(await options.directory.stands(tokenId).catch(() => true))) stream.close();
  }

  /** The signal of a revocation may have been lost. One after the other: hardly any has to be asked for. */
  async function checkAll(): Promise<void> {
    if (checking) return;
    checking = true;
    for (const attached of [...streams.values()]) await check(attached);
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
    for (const attached of streams.values())
      if (attached.environmentId === environmentId) send(attached.stream, message);
  });
  options.bus.on('node', ({ nodeId }) => {
    const attached = streams.get(nodeId);
    if (!attached) return;
    send(attached.stream, { type: 'config_changed', reason: 'node changed' });
    void check(attached);
  });
  options.bus.on('push', ({ nodeId, message }) => {
    const attached = streams.get(nodeId);
    if (attached) send(attached.stream, message);
  });
  options.bus.on('environment', ({ environmentId }) => {
    for (const attached of [...streams.values()])
      if (attached.environmentId === environmentId) attached.stream.close();
  });
  const tellAll = (reason: string) => {
    for (const { stream } of streams.values()) send(stream, { type: 'config_changed', reason });
  };
  options.bus.on('fleet', () => tellAll('fleet settings changed'));
  options.bus.on('resync', () => tellAll('resync'));

  return {
    attach(node, stream) {
      streams.get(node.nodeId)?.stream.close();
      const attached = { environmentId: node.environmentId, tokenId: node.tokenId, stream };
      streams.set(node.nodeId, attached);
      return () => {
        if (streams.get(node.nodeId) === attached) streams.delete(node.nodeId);
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
