/** Real Prometheus and VictoriaMetrics, and a gate before one that has faults on purpose. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import {
  createServer,
  request as forward,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MetricsStoreConfig } from '../../../controller/config.ts';
import { freePort } from '../harness/headgate.ts';
import { until } from '../harness/until.ts';

const found = (name: string): string | null =>
  ['/usr/bin', '/usr/local/bin'].map((folder) => `${folder}/${name}`).find(existsSync) ?? null;

/** Null where it is not installed. Its package brings promtool. */
export const findPrometheus = (): string | null => (found('promtool') ? found('prometheus') : null);
export const findVictoriaMetrics = (): string | null => found('victoria-metrics');

/** What promtool says of its input, line by line; throws where it cannot read it. */
export function promtool(args: readonly string[], input = ''): string[] {
  const program = found('promtool');
  if (!program) throw new Error('promtool is not installed');
  const { stdout, stderr, status } = spawnSync(program, args, { input, encoding: 'utf8' });
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.trim() !== '');
  // 3 is for remarks on what can be read.
  if (status !== 0 && status !== 3) throw new Error(lines.join('\n'));
  return lines;
}

const USER = 'headgate';
const PASSWORD = 'of-the-metrics-store';
/** Of `PASSWORD`, by bcrypt, as Prometheus wants it. */
const PASSWORD_HASH = '$2b$04$D58iU2d0mOThTKlQvTdfFeUYF4wuhZX77GojlLp3naUqtUBjE.T7q';
export const STORE_AUTHORIZATION = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`;

export interface MetricsStore {
  url: string;
  config: MetricsStoreConfig;
  stop(): Promise<void>;
}

export const METRICS_STORES: readonly {
  name: string;
  find: () => string | null;
  start: () => Promise<MetricsStore>;
}[] = [
  { name: 'Prometheus', find: findPrometheus, start: startPrometheus },
  { name: 'VictoriaMetrics', find: findVictoriaMetrics, start: startVictoriaMetrics },
];

export async function startPrometheus(): Promise<MetricsStore> {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-prometheus-'));
  // Tests record hours that are over.
  writeFileSync(join(folder, 'config.yml'), 'storage:\n  tsdb:\n    out_of_order_time_window: 24h\n');
  writeFileSync(join(folder, 'web.yml'), `basic_auth_users:\n  ${USER}: ${PASSWORD_HASH}\n`);
  return startStore(findPrometheus(), folder, '/api/v1/write', (port) => [
    `--config.file=${join(folder, 'config.yml')}`,
    `--web.config.file=${join(folder, 'web.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--web.enable-remote-write-receiver',
  ]);
}

export async function startVictoriaMetrics(): Promise<MetricsStore> {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-victoria-'));
  return startStore(findVictoriaMetrics(), folder, '/api/v1/write', (port) => [
    `-storageDataPath=${join(folder, 'data')}`,
    `-httpListenAddr=127.0.0.1:${port}`,
    `-httpAuth.username=${USER}`,
    `-httpAuth.password=${PASSWORD}`,
    '-search.latencyOffset=0s',
  ]);
}

async function startStore(
  program: string | null,
  folder: string,
  writePath: string,
  argsOf: (port: number) => string[],
): Promise<MetricsStore> {
  if (program === null) throw new Error('the metrics store is not installed');
  const port = await freePort();
  const child = spawn(program, argsOf(port), { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-4_000);
  });
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  const headers = { authorization: STORE_AUTHORIZATION };
  const answers = () =>
    fetch(`${url}/api/v1/query?query=1`, { headers }).then(
      (answer) => answer.ok,
      () => false,
    );
  await until(answers, { what: () => `the metrics store to answer: ${said}`, timeoutMs: 30_000 });
  return {
    url,
    config: {
      ...{ writeUrl: `${url}${writePath}`, readUrl: url, authorization: STORE_AUTHORIZATION },
      tenant: null,
    },
    async stop() {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What a gate does with each request. */
export type GateMode = 'pass' | 'away' | 'slow' | { status: number; text?: string; retryAfter?: number };

/** Stands before a store. It asks for a bearer token, and tells the store the user and password of its own. */
export class StoreGate {
  mode: GateMode = 'pass';
  /** Requests that came, by path. */
  readonly requests: string[] = [];
  /** Their headers, in the same places. */
  readonly headers: IncomingHttpHeaders[] = [];
  readonly #store: MetricsStore;
  readonly #token: string;
  readonly #held: (() => void)[] = [];
  readonly #server = createServer((request, response) => this.#answer(request, response));

  private constructor(store: MetricsStore, token: string) {
    this.#store = store;
    this.#token = token;
  }

  static async start(store: MetricsStore, token: string): Promise<StoreGate> {
    const gate = new StoreGate(store, token);
    gate.#server.listen(0, '127.0.0.1');
    await once(gate.#server, 'listening');
    return gate;
  }

  config(token = this.#token): MetricsStoreConfig {
    const url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return { writeUrl: `${url}/api/v1/write`, readUrl: url, authorization: `Bearer ${token}`, tenant: null };
  }

  /** Requests that are held. */
  get held(): number {
    return this.#held.length;
  }

  release(): void {
    for (const go of this.#held.splice(0)) go();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.requests.push(request.url ?? '');
    this.headers.push(request.headers);
    const { mode } = this;
    if (mode === 'away') request.socket.destroy();
    else if (request.headers.authorization !== `Bearer ${this.#token}`)
      response.writeHead(401).end('who are you?');
    else if (mode === 'slow') this.#held.push(() => this.#pass(request, response));
    else if (mode === 'pass') this.#pass(request, response);
    else {
      const { status, text = '', retryAfter } = mode;
      request.resume();
      response
        .writeHead(status, retryAfter === undefined ? {} : { 'retry-after': `${retryAfter}` })
        .end(text);
    }
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const headers = { ...request.headers, authorization: STORE_AUTHORIZATION };
    const onward = forward(`${this.#store.url}${request.url}`, { method: request.method, headers });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  }

  async close(): Promise<void> {
    this.release();
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
