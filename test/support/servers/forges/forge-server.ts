/**
 * A forge over HTTP(S): the pull requests, comments and statuses of one project, in memory. What its answers look like is
 * its vendor's, in the files beside; here is what all of them do, and how they can be as bad as servers get.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { REMOTE_FORGES } from '../../../../schemas/api/delivery/pull-requests.ts';
import { LEAF, LEAF_KEY } from '../../fixtures/certificates.ts';

export interface StoredPull {
  number: number;
  title: string;
  body: string;
  state: 'open' | 'merged' | 'closed';
  isDraft: boolean;
  branch: string;
  base: string;
  headSha: string;
  isFork: boolean;
  author: string;
  how: MergeMethod | null;
  mergeSha: string | null;
  mergedBy: string | null;
  labels: string[];
  reviewers: string[];
  assignees: string[];
  /** The method by which it comes in by itself; null: nobody has asked for it. */
  autoMerge: string | null;
  updatedAt: Date;
  closedAt: Date | null;
}
export type MergeMethod = 'merge' | 'squash' | 'rebase';

export interface StoredComment {
  id: number;
  number: number;
  author: string;
  body: string;
  deleted: boolean;
}

export interface StoredStatus {
  sha: string;
  /** As the vendor calls them. */
  context: string;
  state: string;
  description: string;
  url: string;
}

export interface RecordedRequest {
  method: string;
  /** Without the query. */
  path: string;
  query: URLSearchParams;
  headers: http.IncomingHttpHeaders;
  body: Record<string, unknown>;
}

export interface Reply {
  status: number;
  /** Undefined for none. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** What it does with a request instead of answering it. */
export type Fault =
  | { status: number; headers?: Record<string, string>; text?: string }
  /** Never answers. */
  | 'hang'
  /** Headers, and nothing more. */
  | 'stall'
  /** Ends the connection. */
  | 'break'
  /** More than is read, and whether that is said before. */
  | 'flood'
  | 'flood said';

export interface ForgeServerOptions {
  tls?: boolean;
}

export const shaOf = (text: string): string => createHash('sha1').update(text).digest('hex');

const START = Date.parse('2026-11-01T12:00:00Z');

export abstract class ForgeServer {
  abstract readonly name: (typeof REMOTE_FORGES)[number];
  /** Below which the API is: `/api/v3`. */
  protected abstract readonly root: string;
  readonly project: string = 'acme/pipes';
  token = 'canary-T0ken/of+a%forge';
  readonly us = 'headgate-bot';
  readonly pulls: StoredPull[] = [];
  readonly comments: StoredComment[] = [];
  readonly statuses: StoredStatus[] = [];
  readonly asked: RecordedRequest[] = [];
  /** Answers that said no more than that it is as it was. */
  unchanged = 0;
  /** A page holds no more, whatever is asked for. */
  mostPerPage = 100;
  /** Whom it knows beside us. */
  readonly people = ['ann', 'bob', 'Carla'];
  /** Something is still to come before one may be merged. */
  waits = true;
  /** Whether the token may write. */
  mayWrite = true;
  /** Paths at which the token may not write. */
  mayNotWrite: RegExp | null = null;
  /** What it answers to a status of a commit that is not there; null: its own file says. */
  protected readonly noCommit: number | null = 404;
  fault: (asked: RecordedRequest) => Fault | null = () => null;
  readonly #tls: boolean;
  readonly #server: http.Server;
  #ids = 1_000;
  #moments = 0;

  constructor({ tls = false }: ForgeServerOptions = {}) {
    this.#tls = tls;
    const answer: http.RequestListener = (request, response) => void this.#take(request, response);
    this.#server = tls
      ? https.createServer({ cert: LEAF, key: LEAF_KEY }, answer)
      : http.createServer(answer);
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  get origin(): string {
    return `${this.#tls ? 'https' : 'http'}://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Of the API. */
  get url(): string {
    return `${this.origin}${this.root}`;
  }

  /** A pull request of somebody; answers its number. */
  add(wanted: Partial<StoredPull> = {}): StoredPull {
    const number = this.pulls.length + 1;
    const pull: StoredPull = {
      number,
      title: `Change ${number}`,
      body: '',
      state: 'open',
      isDraft: false,
      branch: `feature-${number}`,
      base: 'main',
      headSha: shaOf(`head ${number}`),
      isFork: false,
      author: 'ann',
      how: null,
      mergeSha: null,
      mergedBy: null,
      ...{ labels: [], reviewers: [], assignees: [], autoMerge: null },
      updatedAt: this.moment(),
      closedAt: null,
      ...wanted,
    };
    this.pulls.push(pull);
    return pull;
  }

  find(number: number): StoredPull {
    const pull = this.pulls.find((one) => one.number === number);
    if (!pull) throw new Error(`no pull request ${number}`);
    return pull;
  }

  /** As people do by its page. */
  merge(number: number, how: MergeMethod): StoredPull {
    const pull = this.find(number);
    const at = this.moment();
    const mergeSha = shaOf(`${how} of ${number}`);
    // Rebased and put in front: its own head has moved.
    if (how === 'rebase') pull.headSha = mergeSha;
    return Object.assign(pull, {
      state: 'merged',
      how,
      mergeSha,
      mergedBy: 'bob',
      updatedAt: at,
      closedAt: at,
    });
  }

  say(number: number, author: string, body: string): StoredComment {
    this.#ids += 1;
    const comment = { id: this.#ids, number, author, body, deleted: false };
    this.comments.push(comment);
    return comment;
  }

  commentsOf(number: number): StoredComment[] {
    return this.comments.filter((one) => one.number === number && !one.deleted);
  }

  calls(method: string, path: RegExp): number {
    return this.asked.filter((one) => one.method === method && path.test(one.path)).length;
  }

  protected moment(): Date {
    this.#moments += 1;
    return new Date(START + this.#moments * 1_000);
  }

  protected touch(pull: StoredPull, change: Partial<StoredPull>): void {
    Object.assign(pull, change, { updatedAt: this.moment() });
    if (change.state === 'closed') pull.closedAt = pull.updatedAt;
  }

  /** Of a list, and the number of the next page. */
  protected page<T>(all: readonly T[], query: URLSearchParams, sizeName: string, usual: number) {
    const size = Math.min(Number(query.get(sizeName) ?? usual), this.mostPerPage);
    const number = Number(query.get('page') ?? 1);
    const from = (number - 1) * size;
    return { values: all.slice(from, from + size), next: from + size < all.length ? number + 1 : null };
  }

  /** The address of another page of what was asked for. */
  protected pageUrl({ path, query }: RecordedRequest, next: number): string {
    const more = new URLSearchParams(query);
    more.set('page', String(next));
    return `${this.origin}${path}?${more}`;
  }

  protected abstract isLetIn(headers: http.IncomingHttpHeaders): boolean;
  protected abstract refusal(status: number, why: string): Reply;
  /** `path` without the root. */
  protected abstract answer(asked: RecordedRequest, path: string): Reply;

  async #take(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const url = new URL(request.url ?? '/', this.origin);
    const text = Buffer.concat(chunks).toString('utf8');
    const asked: RecordedRequest = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
    };
    this.asked.push(asked);
    const fault = this.fault(asked);
    if (fault !== null) this.#fail(response, fault);
    else {
      const { status, body, headers = {} } = this.#reply(asked);
      const said = body === undefined ? undefined : JSON.stringify(body);
      const etag = asked.method === 'GET' && status === 200 && said ? `W/"${shaOf(said)}"` : null;
      if (etag !== null && asked.headers['if-none-match'] === etag) {
        this.unchanged += 1;
        response.writeHead(304, { etag, ...headers }).end();
        return;
      }
      response.writeHead(status, {
        'content-type': 'application/json; charset=utf-8',
        ...(etag === null ? {} : { etag }),
        ...headers,
      });
      response.end(said);
    }
  }

  #reply(asked: RecordedRequest): Reply {
    if (!this.isLetIn(asked.headers)) return this.refusal(401, `Bad credentials ${this.#secretOf(asked)}`);
    if (!asked.path.startsWith(this.root)) return this.refusal(404, 'Not Found');
    if (asked.method !== 'GET' && !this.mayWrite)
      return this.refusal(403, 'Resource not accessible by the token');
    if (asked.method === 'POST' && this.mayNotWrite?.test(asked.path))
      return this.refusal(403, 'The request requires higher privileges than provided by the access token');
    if (this.noCommit !== null && asked.method === 'POST' && asked.path.includes('0'.repeat(40)))
      return this.refusal(this.noCommit, 'No such commit');
    if (asked.method === 'POST' && asked.path.includes('2147483647'))
      return this.refusal(404, 'No such pull request');
    return this.answer(asked, asked.path.slice(this.root.length));
  }

  /** What it was sent, so that a test sees whether anybody repeats it. */
  #secretOf({ headers }: RecordedRequest): string {
    return String(headers.authorization ?? headers['private-token'] ?? '');
  }

  #fail(response: http.ServerResponse, fault: Fault): void {
    if (fault === 'hang') return;
    if (fault === 'break') {
      response.destroy();
      return;
    }
    if (fault === 'stall') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
      return;
    }
    if (fault === 'flood' || fault === 'flood said') {
      const text = `"${'x'.repeat(9 * 1024 * 1024)}"`;
      const length = fault === 'flood' ? {} : { 'content-length': String(text.length) };
      response.writeHead(200, { 'content-type': 'application/json', ...length });
      response.write(text.slice(0, 1_000));
      response.end(text.slice(1_000));
      return;
    }
    response
      .writeHead(fault.status, { 'content-type': 'text/plain', ...fault.headers })
      .end(fault.text ?? '');
  }
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
