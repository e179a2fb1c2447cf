/** Stands between an agent and its controller, and counts. */
import { createServer, request } from 'node:http';

export interface CountingProxy {
  url: string;
  /** What came since, oldest first: `GET /api/agent/config`. */
  requests(): readonly { at: number; what: string }[];
  close(): Promise<void>;
}

/** `at` is `performance.now()`. Streams go through as they come. `target` is asked for with every request. */
export async function startCountingProxy(target: () => string): Promise<CountingProxy> {
  const seen: { at: number; what: string }[] = [];
  const server = createServer((incoming, answer) => {
    seen.push({ at: performance.now(), what: `${incoming.method} ${incoming.url}` });
    const onward = request(
      new URL(incoming.url ?? '/', target()),
      { method: incoming.method ?? 'GET', headers: incoming.headers, agent: false },
      (reply) => {
        answer.writeHead(reply.statusCode ?? 502, reply.headers);
        answer.flushHeaders();
        reply.on('error', () => answer.destroy());
        reply.pipe(answer);
      },
    );
    onward.on('error', () => answer.destroy());
    answer.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
