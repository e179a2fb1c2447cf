import type { RequestListener, Server } from 'node:http';
import type { Address } from './config/globals.ts';

export interface Listening {
  /** The bound address; the port is the real one where 0 was asked for. */
  address: Address;
  close(): Promise<void>;
}

/** Serves GET and HEAD requests at an address. Throws an Error that ends with `Address already in use (os error 98)` and the like. */
export async function listen(address: Address, handler: RequestListener): Promise<Listening> {
  const { createServer } = await import('node:http');
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (request, response) => {
    if (request.method === 'GET' || request.method === 'HEAD') return handler(request, response);
    response.writeHead(405, { allow: 'GET, HEAD' }).end();
  });
  server.maxConnections = 100;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new Error(listenErrorText(error))));
    server.listen(address.port, address.host, resolve);
  });
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : address.port;
  return { address: { host: address.host, port }, close: () => closeServer(server) };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** The system's words for the codes that matter, as Rust prints them. */
const SYSTEM_ERRORS: Record<string, string> = {
  EADDRINUSE: 'Address already in use (os error 98)',
  EADDRNOTAVAIL: 'Cannot assign requested address (os error 99)',
  EACCES: 'Permission denied (os error 13)',
};

function listenErrorText(error: NodeJS.ErrnoException): string {
  return SYSTEM_ERRORS[error.code ?? ''] ?? error.message;
}
