import type { Address } from './config/address.ts';
import { type Listening, listen } from './http-listen.ts';

/** The engine's API: `GET /health`, 200 while running and 503 while draining. */
export class Api {
  readonly #server: Listening;
  readonly #state: { draining: boolean };

  private constructor(server: Listening, state: { draining: boolean }) {
    this.#server = server;
    this.#state = state;
  }

  /** Binds the address; throws with the system's reason if it is taken. */
  static async start(address: Address): Promise<Api> {
    const state = { draining: false };
    const server = await listen(address, (request, response) => {
      if (request.url?.split('?')[0] !== '/health') {
        response.writeHead(404).end();
        return;
      }
      response
        .writeHead(state.draining ? 503 : 200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ ok: !state.draining }));
    });
    return new Api(server, state);
  }

  drain(): void {
    this.#state.draining = true;
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}
