/**
 * Drives one HTTP server over kept-alive connections. The load generator shares two cores with the server and must cost
 * less than it, so that the server is what is measured: requests are ready-made bytes, and of an answer only the status
 * and the length are read.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Load {
  port: number;
  connections: number;
  seconds: number;
  /** The bytes of the next request. */
  next(): Buffer;
  /** Called with each answer's status, in the order of the answers. */
  answered?(status: number): void;
  /**
   * Requests a second, sent when their time has come whether or not earlier ones were answered; latency counts from
   * that time, so a stalled server cannot hide its stall. Without it, every connection sends as fast as it is answered.
   */
  rate?: number;
}

export interface Outcome {
  requests: number;
  seconds: number;
  /** By status. */
  statuses: Map<number, number>;
  /** Milliseconds from when the request was due to its whole answer. */
  latencies: number[];
}

export async function drive(load: Load): Promise<Outcome> {
  const outcome: Outcome = { requests: 0, seconds: 0, statuses: new Map(), latencies: [] };
  const due: number[] = [];
  const idle: Connection[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + load.seconds * 1_000;
  let scheduled = 0;

  function pump(connection: Connection): void {
    const now = performance.now();
    const dueAt = load.rate !== undefined ? due.shift() : now < endsAt ? now : undefined;
    if (dueAt === undefined) idle.push(connection);
    else connection.send(load.next(), dueAt);
  }

  const connections = await Promise.all(
    Array.from({ length: load.connections }, () =>
      open(load.port, (connection, status, dueAt) => {
        outcome.requests += 1;
        outcome.statuses.set(status, (outcome.statuses.get(status) ?? 0) + 1);
        outcome.latencies.push(performance.now() - dueAt);
        load.answered?.(status);
        pump(connection);
      }),
    ),
  );
  for (const connection of connections) pump(connection);
  while (performance.now() < endsAt) {
    await sleep(load.rate === undefined ? 50 : 1);
    if (load.rate === undefined) continue;
    const wanted = Math.floor(((Math.min(performance.now(), endsAt) - startedAt) / 1_000) * load.rate);
    for (; scheduled < wanted; scheduled += 1) due.push(startedAt + (scheduled / load.rate) * 1_000);
    while (due.length > 0 && idle.length > 0) pump(idle.pop()!);
  }
  while (idle.length < connections.length) await sleep(1);
  outcome.seconds = (performance.now() - startedAt) / 1_000;
  await Promise.all(connections.map((connection) => connection.close()));
  return outcome;
}

interface Connection {
  send(request: Buffer, dueAt: number): void;
  close(): Promise<void>;
}

const HEAD_END = Buffer.from('\r\n\r\n');

async function open(
  port: number,
  onAnswer: (connection: Connection, status: number, dueAt: number) => void,
): Promise<Connection> {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let dueAt = 0;
  let status = 0;
  /** Bytes of the body still to come; negative while the head is not whole. */
  let missing = -1;
  let head: Buffer | null = null;
  const connection: Connection = {
    send(request, at) {
      dueAt = at;
      missing = -1;
      socket.write(request);
    },
    async close() {
      socket.destroy();
      if (!socket.closed) await once(socket, 'close');
    },
  };
  socket.on('data', (chunk: Buffer) => {
    if (missing < 0) {
      const bytes: Buffer = head ? Buffer.concat([head, chunk]) : chunk;
      const end = bytes.indexOf(HEAD_END);
      if (end < 0) {
        head = bytes;
        return;
      }
      head = null;
      const text = bytes.toString('latin1', 0, end);
      status = Number(text.slice(9, 12));
      missing = (status === 304 ? 0 : lengthOf(text)) - (bytes.length - end - 4);
    } else missing -= chunk.length;
    if (missing <= 0) onAnswer(connection, status, dueAt);
  });
  await once(socket, 'connect');
  return connection;
}

function lengthOf(head: string): number {
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`an answer without Content-Length: ${head.slice(0, 200)}`);
  return Number(length);
}
