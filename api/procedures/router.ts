/** The router, derived from the operations: `<router>.<procedure>` is a name, a query or a mutation is a kind. */
import type { TSchema } from 'typebox';
import type { Mutation, Operation, Query } from '../../controller/platform/operation/operation.ts';
import { isRecord } from '../../controller/platform/text/is-record.ts';
import { OPERATION_MODULES, REST_ONLY } from './operations.ts';
import { mutationProcedure, queryProcedure, router } from './trpc.ts';

type ValueOf<T> = T extends unknown ? T[keyof T] : never;
type Operations = Extract<
  ValueOf<(typeof OPERATION_MODULES)[number]>,
  { kind: 'query' | 'mutation'; name: string }
>;
type Procedures = Exclude<Operations, { name: (typeof REST_ONLY)[number] }>;
type RouterName<Name> = Name extends `${infer R}.${string}` ? R : never;
type ProcedureName<Name, R extends string> = Name extends `${R}.${infer P}` ? P : never;

type ProcedureOf<Op> =
  Op extends Query<infer I, infer O, string, infer M>
    ? M extends 'POST'
      ? ReturnType<typeof mutationProcedure<I, O>>
      : ReturnType<typeof queryProcedure<I, O>>
    : Op extends { kind: 'mutation'; input: infer I extends TSchema; output: infer O extends TSchema }
      ? ReturnType<typeof mutationProcedure<I, O>>
      : never;

type Routers = {
  [R in RouterName<Procedures['name']>]: {
    [P in ProcedureName<Procedures['name'], R>]: ProcedureOf<Extract<Procedures, { name: `${R}.${P}` }>>;
  };
};

const isOperation = (value: unknown): value is Operation =>
  isRecord(value) && (value.kind === 'query' || value.kind === 'mutation') && typeof value.name === 'string';

/** @throws for two operations of one name */
function deriveRouters(): Routers {
  const routers: Record<string, Record<string, unknown>> = {};
  for (const operation of OPERATION_MODULES.flatMap((module) => Object.values(module).filter(isOperation))) {
    if (REST_ONLY.some((name) => name === operation.name)) continue;
    const [name = '', procedure = ''] = operation.name.split('.');
    const procedures = routers[name] ?? {};
    routers[name] = procedures;
    if (procedure in procedures) throw new Error(`two operations are called ${operation.name}`);
    const isQuery = operation.kind === 'query' && operation.method !== 'POST';
    procedures[procedure] = isQuery
      ? queryProcedure(operation as Query<TSchema, TSchema>)
      : mutationProcedure(operation as Query<TSchema, TSchema> | Mutation<TSchema, TSchema>);
  }
  return routers as Routers;
}

export const appRouter = router(deriveRouters());

export type AppRouter = typeof appRouter;
