/** What an operation is: one use case, written once, whichever transport it comes through. `execute.ts` runs it. */
import type { Static, TSchema } from 'typebox';
import type { Role } from '../../../schemas/api/common.ts';
import type { Permission } from '../../../schemas/api/identity/service-accounts.ts';
import type { Context, MutationContext, RequiredAction } from './context.ts';

/** The team and environment of the object that an operation is about. */
export interface Scope {
  teamId: string | null;
  environmentId?: string | null;
}
/** For what belongs to the caller or to nobody: any signed-in user may run it. */
export const ownScope: Scope = { teamId: null };

export type Access = Role | 'SUPER_ADMIN';

/** Who may run an operation. */
export interface Needs {
  /** Of a user, in the team. */
  role: Access;
  /** Of a service account, in its own environment. Without one no service account may run it. */
  permission?: Permission;
  /** Whether an identity provider may run it, by SCIM. */
  provisioning?: true;
}

interface Definition<I extends TSchema, O extends TSchema, N extends string> extends Needs {
  /** The procedure's name, `<router>.<procedure>`. */
  name: N;
  input: I;
  output: O;
  summary: string;
  /** Required actions that do not block it: it completes them, or reports them. */
  allowedBefore?: readonly RequiredAction[];
  /** Finds the scope. Throws NOT_FOUND for what the caller may not see. */
  scope(ctx: Context, input: Static<I>): Promise<Scope> | Scope;
}
/** What a query costs the database or the processor. Of heavy ones a few run at a time. */
export type Weight = 'heavy' | 'light';

/** POST for a query whose input may be larger than an address holds. */
export type QueryMethod = 'GET' | 'POST';

export interface Query<
  I extends TSchema,
  O extends TSchema,
  N extends string = string,
  M extends QueryMethod = QueryMethod,
> extends Definition<I, O, N> {
  kind: 'query';
  /** GET unless it says so. */
  method?: M;
  /** Light unless it says so; a function where it depends on the input. */
  weight?: Weight | ((input: Static<I>) => Weight);
  run(ctx: Context, input: Static<I>): Promise<Static<O>>;
}
export interface Mutation<I extends TSchema, O extends TSchema, P = unknown, N extends string = string>
  extends Definition<I, O, N> {
  kind: 'mutation';
  /** The audit action, for example `secret.created`. */
  audit: string;
  /** Work that takes long or calls others, before the transaction begins. `run` gets its result, which may be stale. */
  prepare?(ctx: Context, input: Static<I>): Promise<P>;
  run(ctx: MutationContext, input: Static<I>, prepared: P): Promise<Static<O>>;
  /** Whether nothing changes before somebody else agrees: a pull request, a request for an approval. Answers `{proposed}` always do. */
  isProposal?(output: Static<O>): boolean;
  /**
   * Calls others after the commit, for a caller who waits for the outcome: a push, a request to a forge. It may never run: a
   * loop or a job must complete what `run` has recorded.
   */
  finish?(ctx: Context, input: Static<I>, done: Committed<Static<O>, P>): Promise<Static<O>>;
}

/** What `finish` gets of the transaction before it. */
export interface Committed<O, P> {
  output: O;
  prepared: P;
  write: WriteWithAudit;
}

/** Another transaction of the same operation, with audit rows of the action. */
export type WriteWithAudit = <T>(action: string, work: (inside: MutationContext) => Promise<T>) => Promise<T>;

export type Operation<I extends TSchema = TSchema, O extends TSchema = TSchema> =
  | Query<I, O>
  | Mutation<I, O>;

export const query = <
  I extends TSchema,
  O extends TSchema,
  const N extends string,
  M extends QueryMethod = 'GET',
>(
  definition: Omit<Query<I, O, N, M>, 'kind'>,
): Query<I, O, N, M> => ({ kind: 'query', ...definition });
export const mutation = <I extends TSchema, O extends TSchema, const N extends string, P = undefined>(
  definition: Omit<Mutation<I, O, P, N>, 'kind'>,
): Mutation<I, O, P, N> => ({ kind: 'mutation', ...definition });

export type Execute = <I extends TSchema, O extends TSchema>(
  op: Operation<I, O>,
  ctx: Context,
  input: unknown,
) => Promise<Static<O>>;
