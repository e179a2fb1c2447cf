/** One row of the REST interface: a method and a path, the operation behind them, and what stands between the two. */
import type { Static, TObject, TSchema } from 'typebox';
import type { Context } from '../../controller/platform/operation/context.ts';
import { badRequest } from '../../controller/platform/operation/errors.ts';
import type { Execute, Operation } from '../../controller/platform/operation/operation.ts';
import type { Committed, Proposed } from '../../schemas/api/delivery/git-words.ts';
import type { Paged } from './paging.ts';
import type { StateKind } from './state-store.ts';

export type RestMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export const REST_TAGS = {
  Pipelines:
    'Pipelines of the key’s environment: make, change, deploy, undeploy, roll back, and their versions.',
  Nodes: 'Nodes of the key’s environment, and their maintenance mode.',
  Secrets: 'Names and times of secrets. A value goes in and never comes out.',
  Git: 'The tie of the key’s environment to git: its status, and plans of changes before they are pushed.',
  'Pull requests': 'Pull requests against the branch that the key’s environment follows.',
  'Alert rules': 'Alert rules of the key’s environment.',
  'Alert events': 'What alert rules have found, and who looks after it.',
  Silences: 'What is muted, why, and until when.',
  'Audit log': 'What happened in the key’s environment, in an order without gaps.',
} as const;
export type RestTag = keyof typeof REST_TAGS;

export interface RestRequest<Q = unknown, B = unknown> {
  ctx: Context;
  /** The key's. */
  environmentId: string;
  /** The parameters of the path. */
  params: Readonly<Record<string, string>>;
  query: Q;
  body: B;
}

/** The object that the path names by its id. */
export const idOf = (request: RestRequest): string => request.params.id ?? '';

/** The pull request that the path names by its number. */
export function numberOf({ params }: RestRequest): number {
  const { number = '' } = params;
  if (!/^[1-9]\d{0,9}$/.test(number)) throw badRequest('The number in the path must be a positive integer');
  return Number(number);
}

export interface RestRow {
  method: RestMethod;
  /** Below `/api/v1`, with parameters in braces. */
  path: string;
  /** Unique among all rows; the name of the operation in generated clients. */
  operationId: string;
  tag: RestTag;
  summary: string;
  /** What the summary leaves out. */
  description?: string;
  operation: Operation;
  query?: TObject;
  body?: TObject;
  /** Bytes at most. Default: 256 KiB. */
  bodyBytes?: number;
  /** A body, where one with every field would be refused. */
  example?: object;
  status: 200 | 201;
  response: TSchema;
  /** Whether something that the body names may be missing: answered with 404. What the path names may always be. */
  mayBeMissing?: boolean;
  /** Of an answer with 201: where what was made is, below `/api/v1`. */
  location?(body: unknown, request: RestRequest): string;
  /** Of a list: what takes `limit` and `cursor`, and `name` where its query has one. */
  paged?: Paged;
  /** What `If-Match` compares on a change, and the first part of the tag of what is read. */
  state?: StateKind;
  /** Added to the answer after the work is committed, also where that was stored before. */
  followUp?(answer: unknown, request: RestRequest, execute: Execute): Promise<unknown>;
  /** Whether a change of what git describes may become a proposal or a commit: answered with 202. */
  mayGoToGit?: boolean;
  input(request: RestRequest): unknown;
  output(output: unknown, request: RestRequest): unknown;
}

/** What became of a change that went to git is answered as it is. */
type OwnAnswer<T> = Exclude<T, Proposed | Committed>;

type Typed<
  I extends TSchema,
  O extends TSchema,
  Q extends TObject,
  B extends TObject,
  R extends TSchema,
> = Omit<
  RestRow,
  'operation' | 'query' | 'body' | 'status' | 'response' | 'input' | 'output' | 'location' | 'followUp'
> & {
  operation: Operation<I, O>;
  query?: Q;
  body?: B;
  /** 200 where nothing is said. */
  status?: 200 | 201;
  response: R;
  input(request: RestRequest<Static<Q>, Static<B>>): Static<I> | Promise<Static<I>>;
  output(output: OwnAnswer<Static<O>>, request: RestRequest<Static<Q>, Static<B>>): Static<R>;
  location?(body: Static<R>, request: RestRequest<Static<Q>, Static<B>>): string;
  followUp?(
    answer: Static<R>,
    request: RestRequest<Static<Q>, Static<B>>,
    execute: Execute,
  ): Promise<Static<R>>;
};

/** Checks that the parts of a row fit together. */
export const row = <
  I extends TSchema,
  O extends TSchema,
  R extends TSchema,
  Q extends TObject = TObject,
  B extends TObject = TObject,
>(
  typed: Typed<I, O, Q, B, R>,
): RestRow => ({ status: 200, ...typed }) as RestRow;
