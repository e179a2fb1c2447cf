import { createServer, type Socket } from 'node:net';
import type { Logger } from '../log.ts';

const HEAD_BYTES = 8_192;
const READ_MS = 5_000;

/**
 * `GET /metrics`, one request a connection. Written on bare sockets: the HTTP server of the runtime would cost 4 MB.
 * A port that is taken is logged and the agent goes on without.
 */
export function serveMetrics(host: string, port: number, render: () => string, log: Logger): () => void {
  const server = createServer((socket) => answer(socket, render));
  server.maxConnections = 16;
  server.on('error', (error: NodeJS.ErrnoException) => {
    const reason = error.code === 'EADDRINUSE' ? 'address already in use' : error.message;
    log.warn('no metrics endpoint: set SVC_METRICS_PORT to a free port, or to 0', { port, reason });
  });
  server.listen(port, host);
  server.unref();
  return () => server.close();
}

function answer(socket: Socket, render: () => string): void {
  let head = '';
  socket.setTimeout(READ_MS, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    head += chunk.toString('latin1');
    if (head.includes('\r\n\r\n')) {
      socket.removeAllListeners('data');
      socket.end(reply(head, render));
    } else if (head.length > HEAD_BYTES) socket.destroy();
  });
}

function reply(head: string, render: () => string): string {
  const [method, target] = head.split(' ', 2);
  if (method !== 'GET' && method !== 'HEAD') return page('405 Method Not Allowed', 'only GET\n', false);
  if (target?.split('?')[0] !== '/metrics') return page('404 Not Found', 'see /metrics\n', method === 'HEAD');
  return page('200 OK', render(), method === 'HEAD');
}

function page(status: string, body: string, headOnly: boolean): string {
  const type = status === '200 OK' ? 'text/plain; version=0.0.4; charset=utf-8' : 'text/plain; charset=utf-8';
  const head = `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`;
  return headOnly ? head : head + body;
}
