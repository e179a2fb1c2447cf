import type { RequestListener } from 'node:http';
import type { Address } from './config/address.ts';
import { systemErrorText } from './system-error.ts';

export interface Listening {
  /** The bound address; the port is the real one where 0 was asked for. */
  address: Address;
  /** Takes no more connections; requests that are under way go on. */
  refuse(): void;
  /** Ends everything that is still open. */
  close(): Promise<void>;
}

export interface ListenOptions {
  /** Other methods get 405; undefined takes all. */
  methods?: readonly string[] | undefined;
  /** Time for a request to arrive as a whole, in ms. */
  requestTimeoutMs?: number;
  maxConnections?: number;
}

const READING = ['GET', 'HEAD'];

/** Serves requests at an address. Throws an Error that ends with `Address already in use (os error 98)` and the like. */
export async function listen(
  address: Address,
  handler: RequestListener,
  { methods, requestTimeoutMs = 10_000, maxConnections = 100 }: ListenOptions = { methods: READING },
): Promise<Listening> {
  const { createServer } = await import('node:http');
  const server = createServer(
    { requestTimeout: requestTimeoutMs, headersTimeout: 5_000 },
    (request, response) => {
      if (!methods || methods.includes(request.method ?? '')) return handler(request, response);
      response.writeHead(405, { allow: methods.join(', ') }).end();
    },
  );
  server.maxConnections = maxConnections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new Error(systemErrorText(error), { cause: error })));
    server.listen(address.port, address.host, resolve);
  });
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : address.port;

  let closed: Promise<void> | undefined;
  const refuse = () => {
    closed ??= new Promise((resolve) => server.close(() => resolve()));
    return closed;
  };
  return {
    address: { host: address.host, port },
    refuse,
    close: () => {
      const end = refuse();
      server.closeAllConnections();
      return end;
    },
  };
}
