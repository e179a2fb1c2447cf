/** The port of the controller, and its HTTP server. */
import { createServer, type Server } from 'node:net';
import type { Api } from '../../api/server.ts';
import { type Config, ConfigError } from '../config.ts';

/**
 * Port 0 lets the system choose. It is bound at once, since addresses with its number are handed out long before the server
 * takes it over.
 */
export async function holdPort(config: Config): Promise<{ config: Config; held: Server | null }> {
  if (config.port !== 0) return { config, held: null };
  const held = createServer();
  await new Promise<void>((resolve, reject) => {
    held.once('error', reject);
    held.listen({ host: config.host, port: 0 }, resolve);
  });
  const address = held.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const baseUrl = config.baseUrl.replace(/:0$/, `:${port}`);
  return { config: { ...config, port, baseUrl }, held };
}

/** @throws ConfigError where the port is taken or not allowed */
export function listen(api: Api, config: Config, held: Server | null): Promise<void> {
  return new Promise((resolve, reject) => {
    api.server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      const denied = error.code === 'EACCES';
      if (taken)
        reject(
          new ConfigError(
            `port ${config.port} is taken by another program; end it, or set HEADGATE_PORT to a free one`,
          ),
        );
      else if (denied)
        reject(
          new ConfigError(
            `port ${config.port} may not be opened by this user; set HEADGATE_PORT to one above 1023`,
          ),
        );
      else reject(error);
    });
    if (held) api.server.listen(held, resolve);
    else api.server.listen({ host: config.host, port: config.port, backlog: 4_096 }, resolve);
  });
}

/** Ends open streams and idle connections at once, and the rest after 3 s. */
export async function close(api: Api): Promise<void> {
  const closed = new Promise((resolve) => api.server.close(resolve));
  api.closeStreams();
  api.server.closeIdleConnections();
  const force = setTimeout(() => api.server.closeAllConnections(), 3_000);
  await closed;
  clearTimeout(force);
}
