import type { Address } from './config/address.ts';
import { type Listening, listen } from './http-listen.ts';
import { TapStreams } from './tap/streams.ts';
import type { TapPoint } from './topology/tap-point.ts';

/** The engine's API: `GET /health`, 200 while running and 503 while draining, and `GET /tap` for the command `tap`. */
export class Api {
  readonly #server: Listening;
  readonly #state: { draining: boolean };
  readonly #taps: TapStreams;

  private constructor(server: Listening, state: { draining: boolean }, taps: TapStreams) {
    this.#server = server;
    this.#state = state;
    this.#taps = taps;
  }

  /** Binds the address; throws with the system's reason if it is taken. */
  static async start(address: Address): Promise<Api> {
    const state = { draining: false };
    const taps = new TapStreams();
    const server = await listen(address, (request, response) => {
      const path = request.url?.split('?')[0];
      if (path === '/tap') return taps.serve(request, response);
      if (path !== '/health') {
        response.writeHead(404).end();
        return;
      }
      response
        .writeHead(state.draining ? 503 : 200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ ok: !state.draining }));
    });
    return new Api(server, state, taps);
  }

  /** The pipeline runs: this is where it can be tapped. */
  show(points: readonly TapPoint[]): void {
    this.#taps.show(points);
  }

  drain(): void {
    this.#state.draining = true;
  }

  close(): Promise<void> {
    this.#taps.close();
    return this.#server.close();
  }
}
