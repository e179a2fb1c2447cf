/** The push streams of some nodes: opened again after a drop as agents do, and heard for "look again". */
import { connect } from 'node:net';
import { backoff, jitter } from '../../../reconcilers/loops/backoff.ts';
import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import type { BenchNode } from '../fleet.ts';

const delay = backoff({ firstMs: AGENT_LIMITS.pushBackoffMs.first, capMs: AGENT_LIMITS.pushBackoffMs.cap });
/** A connection that lasted less counts as failed. */
const SHORT_LIVED_MS = 10_000;

export interface Streams {
  open(): number;
  stop(): void;
}

/** `look` is called with the node's index when it is told to look again, or is connected again after a drop. */
export function openStreams(
  port: number,
  nodes: readonly BenchNode[],
  look: (node: number) => void,
): Streams {
  let stopped = false;
  const sockets = new Set<{ destroy(): unknown }>();
  const timers = new Set<NodeJS.Timeout>();
  const opened = new Set<number>();

  function start(index: number, node: BenchNode, failures: number): void {
    const startedAt = performance.now();
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    sockets.add(socket);
    socket.setEncoding('latin1');
    socket.once('connect', () =>
      socket.write(
        `GET /api/agent/push HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${node.token}\r\nAccept: text/event-stream\r\n\r\n`,
      ),
    );
    socket.on('data', (text: string) => {
      if (!opened.has(index)) {
        if (!text.startsWith('HTTP/1.1 200')) return socket.destroy();
        opened.add(index);
        if (failures > 0) look(index);
      }
      if (text.includes('event: config_changed')) look(index);
    });
    socket.on('error', () => {});
    socket.once('close', () => {
      sockets.delete(socket);
      opened.delete(index);
      if (stopped) return;
      const failed = performance.now() - startedAt < SHORT_LIVED_MS ? failures + 1 : 1;
      const timer = setTimeout(
        () => {
          timers.delete(timer);
          start(index, node, failed);
        },
        jitter(delay(failed)),
      );
      timers.add(timer);
    });
  }

  for (const [index, node] of nodes.entries()) start(index, node, 0);
  return {
    open: () => opened.size,
    stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}
