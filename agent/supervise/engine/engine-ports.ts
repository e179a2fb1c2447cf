import { createServer } from 'node:net';

export interface EnginePorts {
  metrics: number;
  api: number;
}

/** No ports for an engine; the message says what to do. */
export class PortError extends Error {
  override name = 'PortError';
}

/** Pairs that one search tries. */
const SEARCH_PAIRS = 100;

/** Two ports a started pipeline, counted up from the base and never given out again (spec 1, Agent runtime rules, 7). */
export class PortCounter {
  #next: number;

  constructor(base: number) {
    this.#next = base;
  }

  allocate(): EnginePorts {
    const ports = this.#pair(this.#next);
    this.#next += 2;
    return ports;
  }

  /**
   * The given ports while both are free on loopback, else the next pair of the counter that is. Asked before each start:
   * an engine whose port is taken exits with 0 and a long text. Throws PortError.
   */
  async ensureFree(ports: EnginePorts): Promise<EnginePorts> {
    const conflict = await portConflict(ports);
    if (conflict === undefined) return ports;
    const first = this.#next;
    let candidate = this.#pair(first);
    for (let tried = 0; tried < SEARCH_PAIRS && candidate.api <= 65_535; tried += 1) {
      const isFree = (await portConflict(candidate)) === undefined;
      // Another pipeline may have been given the pair meanwhile. A search that finds none uses none up.
      if (isFree && candidate.metrics >= this.#next) {
        this.#next = candidate.metrics + 2;
        return candidate;
      }
      candidate = this.#pair(Math.max(candidate.metrics + 2, this.#next));
    }
    const last = Math.min(candidate.metrics - 1, 65_535);
    const searched = first < last ? `from ${first} to ${last}` : 'up to 65535';
    throw new PortError(
      `${conflict}, and no free pair of ports ${searched}: free some, or set another SVC_PORT_BASE`,
    );
  }

  #pair(metrics: number): EnginePorts {
    return { metrics, api: metrics + 1 };
  }
}

/** Why the first of these ports cannot be had on loopback; undefined when both are free. */
async function portConflict({ metrics, api }: EnginePorts): Promise<string | undefined> {
  if (api > 65_535) return `port ${api} is above 65535`;
  const answers = await Promise.all([tryPort(metrics), tryPort(api)]);
  return answers.find((answer) => answer !== undefined);
}

function tryPort(port: number): Promise<string | undefined> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'address already in use' : `cannot listen (${error.code})`;
      done(`${reason}: 127.0.0.1:${port}`);
    });
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => done(undefined)));
  });
}
