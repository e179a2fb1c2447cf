/** What a pass over pull requests or commits is handed, and what it answers. */
import type { Knex } from 'knex';
import { type Binding, findBinding } from '../../controller/delivery/bindings/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import type { Pass } from '../engine/run-loop.ts';

export interface Leading {
  ctx: Context;
  pass: Pass;
  /** False from the moment that another controller leads. */
  leads(): boolean;
}

/** Milliseconds until the next look; null is when somebody asks. */
export type NextPass = number | null;

/** A trigger that says nothing of the forge: it need not be asked for it. */
export const CHANGED_HERE = 'something changed here';

/** The binding, where there is something to do with it. */
export async function boundTo(db: Knex, environmentId: string): Promise<Binding | null> {
  const binding = await findBinding(db, environmentId);
  return binding && binding.mode !== 'off' ? binding : null;
}
