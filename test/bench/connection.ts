/**
 * A kept-alive connection for ready-made requests, one at a time. The load generator shares two cores with the server and
 * must cost less than it: of an answer only the status, the length and the entity tag are read.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Connection {
  send(request: Buffer): void;
  close(): Promise<void>;
  /** At once and without a word; `closed` is called. */
  destroy(): void;
}

export interface ConnectionEvents {
  /** The whole answer is here. `etag` is that of a 200, `''` otherwise. */
  answered(status: number, etag: string): void;
  /** The server or the network ended it, before or after it was open. */
  closed?(): void;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LOOPBACK = '127.0.0.1';

/** Rejects when nobody listens. */
export async function open(port: number, events: ConnectionEvents): Promise<Connection> {
  const socket = connect({ port, host: LOOPBACK, noDelay: true });
  const connection = attach(socket, events);
  await once(socket, 'connect');
  return connection;
}

/** For many at once: `ready` is called when it is open; where that fails, only `closed` is. */
export function dial(port: number, events: ConnectionEvents & { ready(): void }): Connection {
  const socket = connect({ port, host: LOOPBACK, noDelay: true });
  socket.once('connect', events.ready);
  return attach(socket, events);
}

function attach(socket: Socket, events: ConnectionEvents): Connection {
  let status = 0;
  let etag = '';
  /** Bytes of the body still to come; negative while the head is not whole. */
  let missing = -1;
  let head: Buffer | null = null;
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
      etag = status === 200 ? (/\r\netag: (\S+)/i.exec(text)?.[1] ?? '') : '';
      missing = (status === 304 ? 0 : lengthOf(text)) - (bytes.length - end - 4);
    } else missing -= chunk.length;
    if (missing <= 0) events.answered(status, etag);
  });
  // What goes wrong ends the connection, and that is told by `closed`.
  socket.on('error', () => {});
  if (events.closed) socket.once('close', events.closed);
  return {
    send(request) {
      missing = -1;
      socket.write(request);
    },
    async close() {
      if (events.closed) socket.off('close', events.closed);
      socket.destroy();
      if (!socket.closed) await once(socket, 'close');
    },
    destroy: () => void socket.destroy(),
  };
}

function lengthOf(head: string): number {
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`an answer without Content-Length: ${head.slice(0, 200)}`);
  return Number(length);
}
