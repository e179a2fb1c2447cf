/** Records on the binding that a pass threw: else the Git page would show an old commit and no fault. */
import type { Knex } from 'knex';
import { unlessAway } from '../../../controller/database/errors.ts';
import { findBinding, updateBindingStatus } from '../../../controller/delivery/bindings/index.ts';
import { DomainError, messageOf } from '../../../controller/platform/operation/errors.ts';
import type { Bus } from '../../../controller/platform/runtime/bus.ts';
import { BROKEN_PASS } from '../../../schemas/api/delivery/git-sync.ts';

const MESSAGE_LENGTH = 300;

export interface BrokenPass {
  db: Knex;
  bus: Bus;
  /** Throws where this controller no longer leads; then the new leader records its own passes. */
  fence(tx: Knex): Promise<void>;
  environmentId: string;
  error: unknown;
}

/** Throws where nothing can be recorded, for example while the database is away. */
export async function recordBrokenPass({ db, bus, fence, environmentId, error }: BrokenPass): Promise<void> {
  const binding = await findBinding(db, environmentId);
  if (!binding || binding.mode === 'off' || binding.suspendedAt !== null) return;
  const lastError = `${BROKEN_PASS}: ${reasonOf(error)}. It is tried again by itself, and everything runs on as it was`;
  if (binding.lastError === lastError) return;
  await db.transaction(async (tx) => {
    await fence(tx);
    await updateBindingStatus(tx, binding.id, { lastError });
    await bus.publish(tx, { type: 'ui', environmentId, topics: ['git'] });
  });
}

function reasonOf(thrown: unknown): string {
  const error = unlessAway(thrown);
  // knex puts the statement before the error's text.
  const text = error instanceof DomainError ? error.message : (messageOf(error).split(' - ').at(-1) ?? '');
  return text
    .replaceAll(/[\0-\x1f\x7f]+/g, ' ')
    .slice(0, MESSAGE_LENGTH)
    .replace(/\.$/, '');
}
