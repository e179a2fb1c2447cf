/**
 * The procedure API: a table of operations becomes a tRPC router. Input and permission are checked by `execute`, not
 * here, so that they are the same through every API surface.
 */
import { initTRPC, TRPCError } from '@trpc/server';
import superjson, { type SuperJSONResult } from 'superjson';
import type { Static, TSchema } from 'typebox';
import { unlessAway } from '../../controller/database/errors.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import { DomainError } from '../../controller/platform/operation/errors.ts';
import type { Execute, Operation, Query } from '../../controller/platform/operation/operation.ts';
import { isRecord } from '../../controller/platform/text/is-record.ts';
import { datedJson, withSchema } from '../http/dated-json.ts';

export interface TrpcContext {
  ctx: Context;
  execute: Execute;
}

const CODES = {
  BAD_REQUEST: 'BAD_REQUEST',
  UNAUTHORIZED: 'UNAUTHORIZED',
  FORBIDDEN: 'FORBIDDEN',
  NOT_FOUND: 'NOT_FOUND',
  CONFLICT: 'CONFLICT',
  PRECONDITION_FAILED: 'PRECONDITION_FAILED',
  PAYLOAD_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  UNSUPPORTED_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  TOO_MANY_REQUESTS: 'TOO_MANY_REQUESTS',
  UNAVAILABLE: 'SERVICE_UNAVAILABLE',
} as const satisfies Record<DomainError['code'], TRPCError['code']>;

/** The operation of a procedure, for what documents the router. */
export interface ProcedureMeta {
  operation: Pick<Operation, 'name' | 'summary' | 'role' | 'input' | 'output'>;
}

/**
 * Without what superjson says of values that are one and the same: they are written out all the same, and a few of those
 * notes nested into each other would make billions of values of a short input.
 */
function readInput(written: unknown): unknown {
  try {
    assertEnvelope(written);
    const { json = undefined, meta } = written ?? {};
    return superjson.deserialize({
      json,
      ...(meta?.values === undefined ? {} : { meta: { values: meta.values } }),
    });
  } catch {
    throw new Error('The input cannot be read; send {"json": …}, with a "meta" only to annotate dates');
  }
}

/** No input may come as nothing at all, `null` or `{}`. */
function assertEnvelope(written: unknown): asserts written is Partial<SuperJSONResult> | null | undefined {
  if (written === undefined || written === null) return;
  const { json: _json, meta, ...rest } = isRecord(written) ? written : { other: written };
  const isOther = Object.keys(rest).length > 0 || (meta !== undefined && !isRecord(meta));
  if (isOther || (meta !== undefined && !('json' in (written as object)))) throw new Error('no envelope');
}

const t = initTRPC
  .context<TrpcContext>()
  .meta<ProcedureMeta>()
  .create({
    transformer: {
      input: { ...superjson, deserialize: readInput },
      output: { serialize: datedJson, deserialize: superjson.deserialize },
    },
    isDev: false,
    errorFormatter({ shape, error, ctx }) {
      const { cause } = error;
      const internal = shape.data.code === 'INTERNAL_SERVER_ERROR';
      return {
        message: internal
          ? 'Something went wrong on the server; the request id leads to it in its log'
          : shape.message,
        code: shape.code,
        data: {
          code: shape.data.code,
          httpStatus: shape.data.httpStatus,
          requestId: ctx?.ctx.requestId ?? null,
          ...(cause instanceof DomainError ? cause.details : {}),
        },
      };
    },
  });

export const router = t.router;
export const createCaller = t.createCallerFactory;

function asTrpcError(thrown: unknown): unknown {
  const error = unlessAway(thrown);
  if (!(error instanceof DomainError)) return error;
  return new TRPCError({ code: CODES[error.code], message: error.message, cause: error });
}

/** Typed for the client; what comes in is checked by the operation itself. */
const passThrough =
  <I extends TSchema>() =>
  (input: unknown): Static<I> | undefined =>
    input as Static<I> | undefined;

export const queryProcedure = <I extends TSchema, O extends TSchema>(op: Query<I, O>) =>
  t.procedure
    .meta({ operation: op })
    .input(passThrough<I>())
    .query(async ({ ctx, input }): Promise<Static<O>> => {
      try {
        return withSchema(op.output, await ctx.execute(op, ctx.ctx, input));
      } catch (error) {
        throw asTrpcError(error);
      }
    });

/** A query comes by POST where its input is large; it changes nothing all the same. */
export const mutationProcedure = <I extends TSchema, O extends TSchema>(op: Operation<I, O>) =>
  t.procedure
    .meta({ operation: op })
    .input(passThrough<I>())
    .mutation(async ({ ctx, input }): Promise<Static<O>> => {
      try {
        return withSchema(op.output, await ctx.execute(op, ctx.ctx, input));
      } catch (error) {
        throw asTrpcError(error);
      }
    });
