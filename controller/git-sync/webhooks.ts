/** Calls by which a forge says that something has happened. They are never believed what: they only say "look again". */
import type { Knex } from 'knex';
import { unauthorized, unavailable } from '../platform/errors.ts';
import { type Keyring, KeyringError } from '../platform/keyring.ts';
import { openWebhookSecret } from './forge-secrets.ts';
import { deliveryIdOf, isSigned, type WebhookCall } from './webhook-signature.ts';
import { findWebhookTarget, isDelivered, keepDelivery, listTargetsBeside } from './webhook-store.ts';

export interface Admitted {
  /** That it wakes: the binding's own, and those of the repository that the same signature is good for. */
  environmentIds: readonly string[];
  /** It came before: there is nothing to do. */
  again: boolean;
  /** To be called once it was done: from then on it is known. */
  done(): Promise<void>;
}

/**
 * Null where there is no such binding.
 * @throws UNAUTHORIZED where the binding has a secret, and the call is not signed with it.
 */
export async function admitWebhook(
  { db, keyring }: { db: Knex; keyring: Keyring },
  bindingId: string,
  call: WebhookCall,
): Promise<Admitted | null> {
  const target = await findWebhookTarget(db, bindingId);
  if (!target) return null;
  const { environmentId, forge, sealedWebhookSecret } = target;
  if (sealedWebhookSecret === null || forge === 'none')
    return { environmentIds: [environmentId], again: false, done: async () => {} };
  if (!isSigned(forge, openSecret(keyring, bindingId, sealedWebhookSecret), call))
    throw unauthorized(
      'The call is not signed with the webhook secret of this binding; set the same secret there and here',
    );
  const beside = (await listTargetsBeside(db, bindingId)).filter((other) =>
    isSignedFor(keyring, other, call),
  );
  const deliveryId = deliveryIdOf(forge, call);
  return {
    environmentIds: [environmentId, ...beside.map((other) => other.environmentId)],
    again: await isDelivered(db, bindingId, deliveryId),
    done: () => keepDelivery(db, bindingId, deliveryId),
  };
}

/** A secret that cannot be opened is reported to whoever calls that binding itself. */
function isSignedFor(
  keyring: Keyring,
  { id, forge, sealedWebhookSecret }: Awaited<ReturnType<typeof listTargetsBeside>>[number],
  call: WebhookCall,
): boolean {
  try {
    return forge !== 'none' && isSigned(forge, openWebhookSecret(keyring, id, sealedWebhookSecret), call);
  } catch (error) {
    if (error instanceof KeyringError) return false;
    throw error;
  }
}

function openSecret(keyring: Keyring, bindingId: string, sealed: string): string {
  try {
    return openWebhookSecret(keyring, bindingId, sealed);
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error;
    throw unavailable(
      'The webhook secret of this binding cannot be opened with the keys of this controller; set it anew',
    );
  }
}
