/** A git server over HTTP(S), by the real `git http-backend`, that can be as bad as servers get. */
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commit, createBareRepository, type ImportedCommit } from '../clients/fast-import.ts';
import { LEAF, LEAF_KEY } from '../fixtures/certificates.ts';
import { useEach } from '../harness/use.ts';
import { runGitBackend } from './git-backend/run-git-backend.ts';

export interface GitServerOptions {
  tls?: boolean;
  /** Whom it lets in; everybody where it is left out. */
  user?: { name: string; password: string };
}

/** What it does with a request instead of answering it well. */
export type Mischief =
  | { status: number; headers?: Record<string, string> }
  /** Headers, and nothing more. */
  | 'hang'
  /** The right answer, a byte a second. */
  | 'drip'
  /** Ends the connection in the middle of the answer. */
  | 'break';

export interface RecordedRequest {
  path: string;
  method: string;
  /** A download of objects, and not a question for refs. */
  fetch: boolean;
}

export class GitServer {
  readonly root = mkdtempSync(join(tmpdir(), 'headgate-git-server-'));
  readonly asked: RecordedRequest[] = [];
  user: GitServerOptions['user'];
  /** Null: answer well. */
  mischief: (request: RecordedRequest) => Mischief | null = () => null;
  readonly #tls: boolean;
  readonly #server: http.Server;
  readonly #drips = new Set<NodeJS.Timeout>();

  private constructor(options: GitServerOptions) {
    this.user = options.user;
    this.#tls = options.tls ?? false;
    const answer: http.RequestListener = (request, response) => void this.#answer(request, response);
    this.#server = this.#tls
      ? https.createServer({ cert: LEAF, key: LEAF_KEY }, answer)
      : http.createServer(answer);
    this.#server.keepAliveTimeout = 200;
  }

  static async start(options: GitServerOptions = {}): Promise<GitServer> {
    const made = new GitServer(options);
    made.#server.listen(0, '127.0.0.1');
    await once(made.#server, 'listening');
    return made;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  url(repository = 'config'): string {
    return `${this.#tls ? 'https' : 'http'}://localhost:${this.port}/${repository}.git`;
  }

  gitdir(repository = 'config'): string {
    return join(this.root, `${repository}.git`);
  }

  /** One that takes pushes, gives partial copies and hands out commits by their id, as those of the well-known servers do. */
  create(repository = 'config'): string {
    const gitdir = this.gitdir(repository);
    createBareRepository(gitdir);
    appendFileSync(
      join(gitdir, 'config'),
      '[http]\n\treceivepack = true\n[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n',
    );
    return gitdir;
  }

  commit(wanted: Partial<ImportedCommit> & Pick<ImportedCommit, 'files'>, repository = 'config'): string {
    return commit(this.gitdir(repository), { branch: 'main', message: 'change', ...wanted });
  }

  get downloads(): number {
    return this.asked.filter(({ fetch }) => fetch).length;
  }

  async stop(): Promise<void> {
    for (const drip of this.#drips) clearInterval(drip);
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
    rmSync(this.root, { recursive: true, force: true });
  }

  async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const url = new URL(request.url ?? '/', 'http://localhost');
    const fetch = url.pathname.endsWith('/git-upload-pack') && !body.includes('command=ls-refs');
    const asked: RecordedRequest = { path: request.url ?? '', method: request.method ?? '', fetch };
    this.asked.push(asked);
    const mischief = this.mischief(asked);
    if (mischief !== null && typeof mischief === 'object') {
      response.writeHead(mischief.status, mischief.headers).end('go away');
      return;
    }
    const { user } = this;
    if (user) {
      const wanted = `Basic ${Buffer.from(`${user.name}:${user.password}`).toString('base64')}`;
      if (request.headers.authorization !== wanted) {
        response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end('sign in');
        return;
      }
    }
    const { head, rest } = await this.#backend(request, url, body);
    response.writeHead(head.status, head.headers);
    if (mischief === 'hang') response.flushHeaders();
    else if (mischief === 'drip') this.#drip(response, rest);
    else if (mischief === 'break') {
      response.write(rest.subarray(0, rest.length / 2));
      setImmediate(() => response.destroy());
    } else response.end(rest);
  }

  #drip(response: http.ServerResponse, bytes: Buffer): void {
    let at = 0;
    const drip = setInterval(() => {
      response.write(bytes.subarray(at, at + 1));
      at += 1;
    }, 1_000);
    this.#drips.add(drip);
    response.once('close', () => clearInterval(drip));
  }

  async #backend(
    request: http.IncomingMessage,
    url: URL,
    body: Buffer,
  ): Promise<{ head: { status: number; headers: Record<string, string> }; rest: Buffer }> {
    const env = {
      PATH: process.env.PATH ?? '',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_PROJECT_ROOT: this.root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: url.pathname,
      REQUEST_METHOD: request.method ?? '',
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      REMOTE_USER: 'somebody',
      REMOTE_ADDR: '127.0.0.1',
    };
    const all = await runGitBackend(env, body);
    const end = all.indexOf('\r\n\r\n');
    const headers: Record<string, string> = {};
    let status = 200;
    for (const line of all.toString('latin1', 0, Math.max(end, 0)).split('\r\n')) {
      const colon = line.indexOf(':');
      const value = line.slice(colon + 1).trim();
      if (/^status$/i.test(line.slice(0, colon))) status = Number.parseInt(value, 10);
      else if (colon > 0) headers[line.slice(0, colon)] = value;
    }
    return { head: { status, headers }, rest: all.subarray(end + 4) };
  }
}

/** A new one for each case, with an empty repository. */
export const useGitServer = (options?: GitServerOptions, repository?: string) =>
  useEach(
    async () => {
      const server = await GitServer.start(options);
      server.create(repository);
      return server;
    },
    (server) => server.stop(),
  );
