/** The secrets that webhooks are checked against, and the deliveries that were taken. */
import type { Knex } from 'knex';
import type { ForgeChoice } from '../store.ts';

export interface WebhookTarget {
  environmentId: string;
  forge: ForgeChoice;
  /** Sealed by the keyring; null when calls need no signature. Must never be logged or returned. */
  sealedWebhookSecret: string | null;
}

/** The other bindings of the repository that have a secret; each may name another forge. */
export const listTargetsBeside = async (
  db: Knex,
  bindingId: string,
): Promise<(WebhookTarget & { id: string; sealedWebhookSecret: string })[]> =>
  db('git_bindings as o')
    .join('git_bindings as b', 'b.repository_url', 'o.repository_url')
    .where({ 'b.id': bindingId })
    .whereNot({ 'o.id': bindingId })
    .whereNotNull('o.sealed_webhook_secret')
    .select({
      ...{ id: 'o.id', environmentId: 'o.environment_id', forge: 'o.forge' },
      sealedWebhookSecret: 'o.sealed_webhook_secret',
    });

/** Returns null when there is no such binding. */
export const findWebhookTarget = async (db: Knex, bindingId: string): Promise<WebhookTarget | null> =>
  (await db('git_bindings').where({ id: bindingId }).first({
    environmentId: 'environment_id',
    forge: 'forge',
    sealedWebhookSecret: 'sealed_webhook_secret',
  })) ?? null;

export const isDelivered = async (db: Knex, bindingId: string, deliveryId: string): Promise<boolean> =>
  (await db('webhook_deliveries')
    .where({ binding_id: bindingId, delivery_id: deliveryId })
    .first('received_at')) !== undefined;

/** Does nothing for a known delivery, or a binding that is gone meanwhile. */
export async function recordDelivery(db: Knex, bindingId: string, deliveryId: string): Promise<void> {
  await db.raw(
    `INSERT INTO webhook_deliveries (binding_id, delivery_id)
     SELECT id, ? FROM git_bindings WHERE id = ? ON CONFLICT DO NOTHING`,
    [deliveryId, bindingId],
  );
}

/** Forges repeat a delivery within minutes, and users with a button within days. */
export async function deleteOldDeliveries(db: Knex): Promise<void> {
  await db('webhook_deliveries').whereRaw("received_at < now() - interval '3 days'").delete();
}
