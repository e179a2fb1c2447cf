/**
 * One use case, written once, whichever door it comes through.
 *
 * `execute` checks in this order: who (401), input (400), scope (404/403), role or permission (403), then the work. Of heavy
 * queries a few run at a time, and what does not fit is refused (429). A mutation runs in one transaction with its audit
 * row. No operation makes a network call inside a transaction.
 */
import type { Static, TSchema } from 'typebox';
import type { Role } from '../../../schemas/api/common.ts';
import type { Permission } from '../../../schemas/api/service-accounts.ts';
import type { AuditEntry } from './audit-entry.ts';
import { checkInput } from './check-input.ts';
import type { Actor, Context, MutationContext, Obligation, Redirect, Redirected } from './context.ts';
import { DomainError, forbidden, preconditionFailed, unauthorized } from './errors.ts';
import { createHeavySlots, type HeavySlots } from './heavy-slots.ts';

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
/** What a query costs the database or the processor. Of heavy ones a few run at a time. */
export type Weight = 'heavy' | 'light';

export interface Query<I extends TSchema, O extends TSchema> extends Definition<I, O> {
  kind: 'query';
  /** Light unless it says so; a function where it depends on the input. */
  weight?: Weight | ((input: Static<I>) => Weight);
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
export function createExecute(
  writeAudit: AuditWriter,
  changed: () => void = () => {},
  heavySlots: HeavySlots = createHeavySlots(),
): Execute {
  return async (op, ctx, raw) => {
    const { input, scope } = await admitted(op, ctx, raw).catch((error: unknown) => {
      tellRefusal(op.name, ctx, error);
      throw error;
    });
    if (op.kind === 'query') {
      const key = isHeavy(op, input) ? callerKey(ctx.actor) : null;
      return key === null ? op.run(ctx, input) : heavySlots.run(key, ctx, () => op.run(ctx, input));
    }
    const prepared = await op.prepare?.(ctx, input);
    const done = await againAfterDeadlock(() =>
      ctx.db
        .transaction(async (tx) => {
          await ctx.fence?.(tx);
          const entries: AuditEntry[] = [];
          let unchanged = false;
          const redirect = oneRedirect();
          const inside: MutationContext = {
            ...ctx,
            db: tx,
            operation: op.name,
            audit: (entry) => entries.push(entry),
            unchanged: () => {
              unchanged = true;
            },
            redirect: redirect.set,
          };
          const output = await op.run(inside, input, prepared);
          const to = redirect.get();
          if (to) throw new Undone(await to(inside));
          if (entries.length > 0 || !unchanged) await writeAudit(inside, scope, entries, op.audit);
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

/** All that is checked before the work. */
async function admitted<I extends TSchema, O extends TSchema>(
  op: Operation<I, O>,
  ctx: Context,
  raw: unknown,
): Promise<{ input: Static<I>; scope: Scope }> {
  if (ctx.actor.type === 'anonymous') throw unauthorized();
  assertNoRequiredAction(ctx.actor, op.evenIfOwing);
  const input = checkInput(op, raw);
  const scope = await op.scope(ctx, input);
  if (!allows(ctx.actor, scope, op)) throw refusal(ctx.actor, op);
  return { input, scope };
}

function isHeavy<I extends TSchema, O extends TSchema>({ weight }: Query<I, O>, input: Static<I>): boolean {
  return (typeof weight === 'function' ? weight(input) : weight) === 'heavy';
}

/** By whom heavy work is counted; null for reconcilers and the system, which have bounds of their own. */
export function callerKey(actor: Actor): string | null {
  if (actor.type === 'user') return `user ${actor.userId}`;
  if (actor.type === 'service_account') return `service account ${actor.id}`;
  return actor.type === 'scim' ? 'scim' : null;
}

/** In the log: who asked for what they may not do, or for what is not there for them (ASVS 5.0, 16.3.2). */
function tellRefusal(operation: string, { actor, log, requestId, ipAddress }: Context, error: unknown): void {
  if (!(error instanceof DomainError) || (error.code !== 'FORBIDDEN' && error.code !== 'NOT_FOUND')) return;
  const actorId = actor.type === 'user' ? actor.userId : actor.type === 'service_account' ? actor.id : null;
  const who = { actorType: actor.type, actorId, ipAddress };
  log.info({ requestId, operation, ...who, code: error.code, reason: error.message }, 'refused');
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

const OWED: Record<Obligation, string> = {
  CHANGE_PASSWORD: 'Change your password first: the one that you have was given to you',
  SET_UP_TWO_FACTOR: 'Set up two-factor sign-in first: a team of yours requires it',
  PROVE_TWO_FACTOR:
    'Give the code of your authenticator first, by user.proveTwoFactor: a team of yours requires a second factor',
};

/** FORBIDDEN with `owes`, for whoever has something to do before. Doors that are no operations ask here themselves. */
export function assertNoRequiredAction(actor: Actor, even: readonly Obligation[] = []): void {
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
