/** Locks between a pass over a binding and changes of the binding. */
import type { Knex } from 'knex';
import { newId } from '../../platform/operation/ids.ts';
import type { Binding } from './store.ts';

const passLock = (environmentId: string) => `git pass of ${environmentId}`;

/**
 * Call it first in a transaction that changes the settings of passes: no pass writes until the transaction ends, and a pass
 * that began before it does not continue after it.
 */
export async function lockOutPasses(tx: Knex, environmentId: string): Promise<void> {
  await tx.raw('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [passLock(environmentId)]);
}

/** Somebody changed or suspended the binding after the pass began. */
export class BindingChangedError extends Error {
  override readonly name = 'BindingChangedError';
}

/** Call it first in each transaction of a pass. @throws BindingChangedError */
export async function fenceBinding(
  tx: Knex,
  { id, environmentId, revision }: Pick<Binding, 'id' | 'environmentId' | 'revision'>,
): Promise<void> {
  await tx.raw('SELECT pg_advisory_xact_lock_shared(hashtextextended(?, 0))', [passLock(environmentId)]);
  const row = await tx('git_bindings').where({ id }).first('revision');
  if (row?.revision !== revision) throw new BindingChangedError('the binding was changed meanwhile');
}

/** The id of the environment's binding, new or existing. Nobody else configures it until the transaction ends. */
export async function lockBinding(tx: Knex, environmentId: string): Promise<string> {
  await lockOutPasses(tx, environmentId);
  await tx('environments').where({ id: environmentId }).forNoKeyUpdate().first('id');
  const found = await tx('git_bindings').where({ environment_id: environmentId }).first('id');
  return found?.id ?? newId();
}
