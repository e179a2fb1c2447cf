/**
 * One use case, written once, whichever door it comes through.
 *
 * `execute` checks in this order: who (401), input (400), scope (404/403), role or permission (403), then the work. A
 * mutation runs in one transaction with its audit row. No operation makes a network call inside a transaction.
 */
import type { Static, TSchema } from 'typebox';
import type { Role } from '../../schemas/api/common.ts';
import type { Permission } from '../../schemas/api/service-accounts.ts';
import { sentences, validator } from '../../schemas/validate.ts';
import type { AuditEntry } from './audit-entry.ts';
import type { Actor, Context, MutationContext, Obligation, Redirect, Redirected } from './context.ts';
import { badRequest, DomainError, forbidden, preconditionFailed, unauthorized } from './errors.ts';

/** Where the thing that is asked for lives. */
export interface Scope {
  teamId: string | null;
  environmentId?: string | null;
}
/** For what belongs to the caller or to nobody: any signed-in user may. */
export const ownScope: Scope = { teamId: null };

export type Access = Role | 'SUPER_ADMIN';

/** What an operation asks of whoever runs it. */
export interface Needs {
  /** Of a user, in the team. */
  role: Access;
  /** Of a service account, in its own environment. Without one no service account may run it. */
  permission?: Permission;
  /** Whether an identity provider may run it, by SCIM. */
  provisioning?: true;
}

interface Definition<I extends TSchema, O extends TSchema> extends Needs {
  /** The procedure's name, `<router>.<procedure>`. */
  name: string;
  input: I;
  output: O;
  summary: string;
  /** Obligations that do not stand in its way: it is how they are met, or how one learns of them. */
  evenIfOwing?: readonly Obligation[];
  /** Finds the scope, and refuses what the caller may not know of. */
  scope(ctx: Context, input: Static<I>): Promise<Scope> | Scope;
}
export interface Query<I extends TSchema, O extends TSchema> extends Definition<I, O> {
  kind: 'query';
  run(ctx: Context, input: Static<I>): Promise<Static<O>>;
}
export interface Mutation<I extends TSchema, O extends TSchema, P = unknown> extends Definition<I, O> {
  kind: 'mutation';
  /** The audit action, for example `secret.created`. */
  audit: string;
  /** What takes long or asks others, before the transaction begins. `run` gets its answer, which may be out of date. */
  prepare?(ctx: Context, input: Static<I>): Promise<P>;
  run(ctx: MutationContext, input: Static<I>, prepared: P): Promise<Static<O>>;
}
export type Operation<I extends TSchema = TSchema, O extends TSchema = TSchema> =
  | Query<I, O>
  | Mutation<I, O>;

export const query = <I extends TSchema, O extends TSchema>(
  definition: Omit<Query<I, O>, 'kind'>,
): Query<I, O> => ({
  kind: 'query',
  ...definition,
});
export const mutation = <I extends TSchema, O extends TSchema, P = undefined>(
  definition: Omit<Mutation<I, O, P>, 'kind'>,
): Mutation<I, O, P> => ({ kind: 'mutation', ...definition });

/** Writes the audit rows of a mutation; supplied by the audit domain. */
export type AuditWriter = (
  ctx: Context,
  scope: Scope,
  entries: readonly AuditEntry[],
  action: string,
) => Promise<void>;

export type Execute = <I extends TSchema, O extends TSchema>(
  op: Operation<I, O>,
  ctx: Context,
  input: unknown,
) => Promise<Static<O>>;

/** `changed` is called after each mutation that was committed. */
export function createExecute(writeAudit: AuditWriter, changed: () => void = () => {}): Execute {
  return async (op, ctx, raw) => {
    if (ctx.actor.type === 'anonymous') throw unauthorized();
    refuseOwing(ctx.actor, op.evenIfOwing);
    const input = checkInput(op, raw);
    const scope = await op.scope(ctx, input);
    if (!allows(ctx.actor, scope, op)) throw refusal(ctx.actor, op);
    if (op.kind === 'query') return op.run(ctx, input);
    const prepared = await op.prepare?.(ctx, input);
    const done = await againAfterDeadlock(() =>
      ctx.db
        .transaction(async (tx) => {
          await ctx.fence?.(tx);
          const entries: AuditEntry[] = [];
          const redirect = oneRedirect();
          const inside: MutationContext = {
            ...ctx,
            db: tx,
            operation: op.name,
            audit: (entry) => entries.push(entry),
            redirect: redirect.set,
          };
          const output = await op.run(inside, input, prepared);
          const to = redirect.get();
          if (to) throw new Undone(await to(inside));
          await writeAudit(inside, scope, entries, op.audit);
          await ctx.settle?.(tx, output);
          return { output };
        })
        .catch((error: unknown) => {
          if (error instanceof Undone) return error;
          throw error;
        }),
    );
    if (!(done instanceof Undone)) {
      changed();
      return done.output;
    }
    const { action, entry, result } = await done.otherwise(ctx);
    await ctx.db.transaction(async (tx) => {
      await writeAudit({ ...ctx, db: tx }, scope, [entry], action);
      if ('output' in result) await ctx.settle?.(tx, result.output);
    });
    if ('refusal' in result) throw result.refusal;
    return result.output as Static<typeof op.output>;
  };
}

/** Carries what is to be done instead out of a transaction that is rolled back. */
class Undone extends Error {
  readonly otherwise: (outside: Context) => Promise<Redirected>;
  constructor(otherwise: (outside: Context) => Promise<Redirected>) {
    super('undone');
    this.otherwise = otherwise;
  }
}

function oneRedirect() {
  let first: { of: string; to: Redirect } | null = null;
  return {
    get: (): Redirect | null => first?.to ?? null,
    set(of: string, to: Redirect): void {
      if (first && first.of !== of)
        throw preconditionFailed('This changes several things that git describes; change them one at a time');
      first ??= { of, to };
    },
  };
}

const ATTEMPTS = 4;
/** Postgres ends one of two transactions that wait for one another; nothing of it has happened. */
const DEADLOCK = '40P01';

async function againAfterDeadlock<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if ((error as { code?: unknown }).code !== DEADLOCK || attempt === ATTEMPTS) throw error;
    }
  }
}

/** `undefined`, `null` and `{}` are all "no input"; `Date` becomes ISO text, so that either form may come in. */
function checkInput<I extends TSchema>(op: { name: string; input: I }, raw: unknown): Static<I> {
  const input = storable(raw ?? {}, []);
  const issues = validator(op.input).issues(input);
  if (issues.length > 0) throw badRequest(sentences(issues), { issues });
  return input as Static<I>;
}

/** Postgres keeps neither NUL nor half a surrogate pair, in a text as little as in JSON. */
const UNSTORABLE = /[\0\p{Cs}]/u;

/** Dates as text; refuses what JSON does not have, and what the database could not keep. */
function storable(value: unknown, path: readonly string[]): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (path.length > 64) throw badRequest('input is nested more than 64 levels deep');
  const refuse = (what: string) => {
    const where = path.join('.').slice(0, 200).toWellFormed() || 'input';
    return badRequest(`${where} ${what}`);
  };
  if (typeof value === 'string' && UNSTORABLE.test(value))
    throw refuse('holds a NUL or half a surrogate pair; leave such characters out');
  if ((typeof value === 'number' && !Number.isFinite(value)) || !isJson(value))
    throw refuse(
      'is nothing that JSON has; write texts, finite numbers, true, false, null, lists and objects',
    );
  if (Array.isArray(value)) return value.map((item, index) => storable(item, [...path, String(index)]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      // Some of what reads objects would take it for their prototype.
      if (key === '__proto__') throw refuse('holds the key __proto__; use another name');
      return [storable(key, path), storable(item, [...path, key])];
    }),
  );
}

/** Apart from what is in it. An absent field may be there as `undefined`. */
function isJson(value: unknown): boolean {
  if (typeof value !== 'object' || value === null)
    return !['bigint', 'symbol', 'function'].includes(typeof value);
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const OWED: Record<Obligation, string> = {
  CHANGE_PASSWORD: 'Change your password first: the one that you have was given to you',
  SET_UP_TWO_FACTOR: 'Set up two-factor sign-in first: a team of yours requires it',
};

/** FORBIDDEN with `owes`, for whoever has something to do before. Doors that are no operations ask here themselves. */
export function refuseOwing(actor: Actor, even: readonly Obligation[] = []): void {
  if (actor.type !== 'user' || actor.owes === null || even.includes(actor.owes)) return;
  throw new DomainError('FORBIDDEN', OWED[actor.owes], { owes: actor.owes });
}

const LEVEL: Record<Role, number> = { VIEWER: 0, EDITOR: 1, ADMIN: 2 };

/** Git and the system act with every right inside the environment that their scope names. */
export function allows(
  actor: Actor,
  scope: Scope,
  { role: needed, permission, provisioning }: Needs,
): boolean {
  switch (actor.type) {
    case 'anonymous':
      return false;
    case 'system':
      return true;
    case 'scim':
      return provisioning === true;
    case 'git':
      return needed !== 'SUPER_ADMIN' && scope.environmentId === actor.environmentId;
    case 'service_account':
      return (
        needed !== 'SUPER_ADMIN' &&
        permission !== undefined &&
        actor.permissions.has(permission) &&
        scope.environmentId === actor.environmentId
      );
    case 'user': {
      if (actor.isSuperAdmin) return true;
      if (needed === 'SUPER_ADMIN') return false;
      if (scope.teamId === null) return needed === 'VIEWER';
      const role = actor.roles.get(scope.teamId);
      return role !== undefined && LEVEL[role] >= LEVEL[needed];
    }
  }
}

function refusal(actor: Actor, op: Needs & { name: string }): DomainError {
  if (actor.type === 'scim') return forbidden(`${op.name} is not for SCIM`);
  if (actor.type !== 'service_account') return forbidden(`This needs the role ${op.role} in the team`);
  if (op.permission === undefined)
    return forbidden(`${op.name} is not for service accounts; sign in as a user`);
  return forbidden(
    actor.permissions.has(op.permission)
      ? "This is outside of the service account's environment"
      : `This needs the permission ${op.permission}, which the service account "${actor.name}" was not given`,
  );
}
