/** What a webhook is checked against, and the deliveries that were taken. */
import type { Knex } from 'knex';
import type { ForgeChoice } from '../store.ts';

export interface WebhookTarget {
  environmentId: string;
  forge: ForgeChoice;
  /** Sealed by the keyring; null where calls need no signature. Never to be logged or answered. */
  sealedWebhookSecret: string | null;
}

/** Of other bindings of the repository that have a secret; their forge is whichever they name. */
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

/** Null where there is no such binding. */
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

/** Once is enough; a binding that is gone meanwhile has none. */
export async function keepDelivery(db: Knex, bindingId: string, deliveryId: string): Promise<void> {
  await db.raw(
    `INSERT INTO webhook_deliveries (binding_id, delivery_id)
     SELECT id, ? FROM git_bindings WHERE id = ? ON CONFLICT DO NOTHING`,
    [deliveryId, bindingId],
  );
}

/** Forges send a delivery again within minutes, and people who press a button within days. */
export async function deleteOldDeliveries(db: Knex): Promise<void> {
  await db('webhook_deliveries').whereRaw("received_at < now() - interval '3 days'").delete();
}
