import { createServer } from 'node:net';

export interface EnginePorts {
  metrics: number;
  api: number;
}

/** Two ports a started pipeline, counted up from the base and never given out again. */
export class PortCounter {
  #next: number;

  constructor(base: number) {
    this.#next = base;
  }

  allocate(): EnginePorts {
    const metrics = this.#next;
    this.#next += 2;
    return { metrics, api: metrics + 1 };
  }
}

/**
 * The first of these ports that cannot be had on loopback, with the reason; undefined when both are free. An engine
 * whose port is taken exits with 0 and a long text, so the agent asks first.
 */
export async function portConflict({ metrics, api }: EnginePorts): Promise<string | undefined> {
  if (api > 65_535) return `no ports left above ${metrics - 1}: restart the agent`;
  const answers = await Promise.all([tryPort(metrics), tryPort(api)]);
  return answers.find((answer) => answer !== undefined);
}

function tryPort(port: number): Promise<string | undefined> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'address already in use' : `cannot listen (${error.code})`;
      done(`${reason}: 127.0.0.1:${port}: free the port and restart the agent`);
    });
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => done(undefined)));
  });
}
