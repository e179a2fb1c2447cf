/**
 * Runs operations. Each wrapper adds one rule to the next; `createExecute` composes them once, for every transport.
 *
 * Order of the checks: who (401), input (400), scope (404/403), role or permission (403), then the work. A few heavy queries
 * run at a time, and the rest is refused (429). A mutation runs in one transaction with its audit rows. No operation makes a
 * network call inside a transaction.
 */
import type { Static } from 'typebox';
import { retryOnDeadlock } from '../../database/retry.ts';
import { isRecord } from '../text/is-record.ts';
import type { AuditEntry } from './audit-entry.ts';
import { checkInput } from './check-input.ts';
import type { Context, MutationContext, RollbackOutcome, RollbackPlan } from './context.ts';
import { DomainError, forbidden, preconditionFailed, unauthorized } from './errors.ts';
import { createHeavySlots, type HeavySlots } from './heavy-slots.ts';
import type { Execute, Mutation, Operation, Query, Scope } from './operation.ts';
import { allows, assertNoRequiredAction, callerKey, permissionError } from './permissions.ts';

/** Writes the audit rows of a mutation, in its transaction. */
export type AuditWriter = (
  ctx: Context,
  scope: Scope,
  entries: readonly AuditEntry[],
  action: string,
) => Promise<void>;

/** One call of an operation, after its input and the caller's rights were checked. */
interface Call<Op = Operation> {
  op: Op;
  ctx: Context;
  // biome-ignore lint/suspicious/noExplicitAny: each operation types its own input; `admit` has checked it.
  input: any;
  scope: Scope;
}
type Step<Op> = (call: Call<Op>) => Promise<unknown>;

/** `onChange` is called after each mutation that was committed. */
export function createExecute(
  writeAudit: AuditWriter,
  onChange: () => void = () => {},
  heavySlots: HeavySlots = createHeavySlots(),
): Execute {
  const runQuery = limitHeavy(heavySlots);
  const runMutation = thenFinish(onChange, writeAudit, prepareThenRun(writeAudit));
  return async (op, ctx, raw) => {
    const call = await logDenials(op.name, ctx, () => admit(op as Operation, ctx, raw));
    const output =
      call.op.kind === 'query'
        ? runQuery(call as Call<Query<never, never>>)
        : runMutation(call as Call<AnyMutation>);
    return (await output) as Static<typeof op.output>;
  };
}

// biome-ignore lint/suspicious/noExplicitAny: what `prepare` hands to `run` is between the two.
type AnyMutation = Mutation<never, never, any>;

/** All checks before the work. */
async function admit(op: Operation, ctx: Context, raw: unknown): Promise<Call> {
  if (ctx.actor.type === 'anonymous') throw unauthorized();
  assertNoRequiredAction(ctx.actor, op.allowedBefore);
  const input = checkInput(op, raw);
  const scope = await op.scope(ctx, input);
  if (!allows(ctx.actor, scope, op)) throw permissionError(ctx.actor, op);
  return { op, ctx, input, scope };
}

/** Logs who was denied what, or asked for what is not there for them (ASVS 5.0, 16.3.2). */
async function logDenials<T>(operation: string, ctx: Context, check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof DomainError && (error.code === 'FORBIDDEN' || error.code === 'NOT_FOUND')) {
      const { actor, log, requestId, ipAddress } = ctx;
      const actorId =
        actor.type === 'user' ? actor.userId : actor.type === 'service_account' ? actor.id : null;
      const caller = { actorType: actor.type, actorId, ipAddress };
      log.info({ requestId, operation, ...caller, code: error.code, reason: error.message }, 'refused');
    }
    throw error;
  }
}

const limitHeavy =
  (slots: HeavySlots): Step<Query<never, never>> =>
  ({ op, ctx, input }) => {
    const weight = typeof op.weight === 'function' ? op.weight(input as never) : op.weight;
    const key = weight === 'heavy' ? callerKey(ctx.actor) : null;
    const run = () => op.run(ctx, input as never);
    return key === null ? run() : slots.run(key, ctx, run);
  };

/** Runs what an operation does after its commit. */
const thenFinish =
  (
    onChange: () => void,
    writeAudit: AuditWriter,
    next: (call: Call<AnyMutation>) => Promise<Done>,
  ): Step<AnyMutation> =>
  async (call) => {
    const { op, ctx, input } = call;
    const { output, prepared, committed } = await next(call);
    if (!committed) return output;
    onChange();
    return op.finish
      ? op.finish(ctx, input as never, {
          output: output as never,
          prepared,
          write: (action, work) => inTransaction(writeAudit, call, action, work),
        })
      : output;
  };

/** `committed` is false where the mutation was rolled back and its follow-up ran instead. */
interface Done {
  output: unknown;
  prepared: unknown;
  committed: boolean;
}

const prepareThenRun =
  (writeAudit: AuditWriter) =>
  async (call: Call<AnyMutation>): Promise<Done> => {
    const { op, ctx, input } = call;
    if (op.prepare) await ctx.precondition?.(ctx.db);
    const prepared = await op.prepare?.(ctx, input as never);
    try {
      const output = await retryOnDeadlock(() =>
        inTransaction(writeAudit, call, op.audit, (inside) => op.run(inside, input as never, prepared)),
      );
      return { output, prepared, committed: true };
    } catch (error) {
      if (!(error instanceof RolledBack)) throw error;
      return {
        output: await followUp(writeAudit, call, await error.followUp(ctx)),
        prepared,
        committed: false,
      };
    }
  };

/** The work and its audit rows: both are written, or neither. */
function inTransaction<T>(
  writeAudit: AuditWriter,
  { op, ctx, scope }: Call<AnyMutation>,
  action: string,
  work: (inside: MutationContext) => Promise<T>,
): Promise<T> {
  return ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    const entries: AuditEntry[] = [];
    let unchanged = false;
    const rollback = oneRollback();
    const inside: MutationContext = {
      ...ctx,
      db: tx,
      operation: op.name,
      audit: (entry) => entries.push(entry),
      unchanged: () => {
        unchanged = true;
      },
      rollBack: rollback.request,
    };
    const output = await work(inside);
    const plan = rollback.plan();
    if (plan) throw new RolledBack(await plan(inside));
    if (ctx.onlyProposals !== undefined && !isProposal(op, output))
      throw forbidden(
        `This would take effect at once: git does not describe what it changes. ${ctx.onlyProposals}`,
      );
    if (entries.length > 0 || !unchanged) await writeAudit(inside, scope, entries, action);
    // What `finish` completes is stored once it is whole.
    if (!op.finish) await ctx.settle?.(tx, output);
    return output;
  });
}

const isProposal = (op: AnyMutation, output: unknown): boolean =>
  op.isProposal?.(output as never) ?? (isRecord(output) && 'proposed' in output);

/** Ends a transaction that is rolled back, and carries the work that takes its place. */
class RolledBack extends Error {
  readonly followUp: (outside: Context) => Promise<RollbackOutcome>;
  constructor(followUp: (outside: Context) => Promise<RollbackOutcome>) {
    super('rolled back');
    this.followUp = followUp;
  }
}

function oneRollback() {
  let first: { of: string; plan: RollbackPlan } | null = null;
  return {
    plan: (): RollbackPlan | null => first?.plan ?? null,
    request(of: string, plan: RollbackPlan): void {
      if (first && first.of !== of)
        throw preconditionFailed('This changes several things that git describes; change them one at a time');
      first ??= { of, plan };
    },
  };
}

/** Records in the audit log what the follow-up of a rollback did. */
async function followUp(
  writeAudit: AuditWriter,
  { ctx, scope }: Call<AnyMutation>,
  { action, entry, result, store }: RollbackOutcome,
): Promise<unknown> {
  await ctx.db.transaction(async (tx) => {
    await writeAudit({ ...ctx, db: tx }, scope, [entry], action);
    await store?.(tx);
    if ('output' in result) await ctx.settle?.(tx, result.output);
  });
  if ('refusal' in result) throw result.refusal;
  return result.output;
}
