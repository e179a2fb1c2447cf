/** The push streams of the nodes that are connected to this replica. Messages only trigger work: nothing is lost with one. */
import { AGENT_LIMITS } from '../../schemas/agent/limits.ts';
import type { PushMessage } from '../../schemas/agent/protocol.ts';
import type { Bus } from '../platform/bus.ts';
import type { Logger } from '../platform/logger.ts';

export interface PushStream {
  /** `event` and `data` of one server-sent event. False when the stream cannot take more. */
  send(event: string, data: string): void;
  comment(text: string): void;
  close(): void;
}

export interface PushHub {
  /** One stream a node: a newer one ends the older. The answer takes it off again. */
  attach(node: { nodeId: string; environmentId: string }, stream: PushStream): () => void;
  connected(nodeId: string): boolean;
  count(): number;
  stop(): void;
}

/** A comment this often keeps proxies from closing the stream, and lets the agent see that it lives. */
export const KEEP_ALIVE_MS = 30_000;

export function createPushHub(options: { bus: Bus; log: Logger }): PushHub {
  const streams = new Map<string, { environmentId: string; stream: PushStream }>();
  const keepAlive = setInterval(() => {
    for (const { stream } of streams.values()) stream.comment('keep-alive');
  }, KEEP_ALIVE_MS);
  keepAlive.unref();

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
    if (attached) send(attached.stream, { type: 'config_changed', reason: 'node changed' });
  });
  options.bus.on('environment', ({ environmentId }) => {
    for (const attached of [...streams.values()])
      if (attached.environmentId === environmentId) attached.stream.close();
  });
  options.bus.on('resync', () => {
    for (const { stream } of streams.values()) send(stream, { type: 'config_changed', reason: 'resync' });
  });

  return {
    attach(node, stream) {
      streams.get(node.nodeId)?.stream.close();
      const attached = { environmentId: node.environmentId, stream };
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
