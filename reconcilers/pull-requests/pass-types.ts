/** What a pass over pull requests or commits is given, and what it returns. */
import type { Knex } from 'knex';
import { type Binding, findBinding } from '../../controller/delivery/bindings/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import type { LeaderPass } from '../loops/leader-loop.ts';

export interface PassInput {
  ctx: Context;
  pass: LeaderPass<Knex>;
}

/** Milliseconds until the next pass; null where only a trigger asks for it. */
export type NextPass = number | null;

export interface PassWork {
  run(environmentId: string, input: PassInput): Promise<NextPass>;
  /** Drops what is remembered of the environment. */
  forget(environmentId: string): void;
}

/** The trigger of a change in Headgate's own database: the forge need not be asked because of it. */
export const CHANGED_HERE = 'something changed here';

/** Null where the environment has no binding, or one that is off. */
export async function findActiveBinding(db: Knex, environmentId: string): Promise<Binding | null> {
  const binding = await findBinding(db, environmentId);
  return binding && binding.mode !== 'off' ? binding : null;
}
