/** Webhooks of a forge. Their content is not trusted: a call only triggers a look at git and the forge. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Knex } from 'knex';
import type { Clock } from '../../../../reconcilers/loops/clock.ts';
import { type Keyring, KeyringError } from '../../../platform/crypto/keyring.ts';
import { unauthorized, unavailable } from '../../../platform/operation/errors.ts';
import { openWebhookSecret } from '../forge/forge-secrets.ts';
import { isRelevantEvent } from './webhook-events.ts';
import { deliveryIdOf, type Verifier, verifierOf } from './webhook-signature.ts';
import { findWebhookTarget, isDelivered, listTargetsBeside, recordDelivery } from './webhook-store.ts';

export interface Admitted {
  /** The environments to wake: the binding's own, and those of the repository's other bindings whose secret fits the signature. */
  environmentIds: readonly string[];
  /** Nothing to do: the delivery is known, or its event does not matter. */
  isIdle: boolean;
  /** False for a binding without a secret. */
  isSigned: boolean;
  /** Call it after the wake-up: it records the delivery as known. */
  done(): Promise<void>;
}

/** A call whose body is still arriving. */
export interface OpenCall {
  update(piece: Buffer): void;
  /** Call it at the end of the body. @throws UNAUTHORIZED when the binding has a secret and the signature is not by it */
  admit(): Promise<Admitted>;
}

/** Returns null when there is no such binding. */
export async function openWebhook(
  { db, keyring, clock }: { db: Knex; keyring: Keyring; clock: Clock },
  bindingId: string,
  headers: IncomingHttpHeaders,
): Promise<OpenCall | null> {
  const target = await findWebhookTarget(db, bindingId);
  if (!target) return null;
  const { environmentId, forge, sealedWebhookSecret } = target;
  if (sealedWebhookSecret === null || forge === 'none')
    return {
      update: () => {},
      admit: async () => ({
        ...{ environmentIds: [environmentId], isSigned: false, done: async () => {} },
        isIdle: forge !== 'none' && !isRelevantEvent(forge, headers),
      }),
    };
  const call = { headers, now: clock.now() };
  const own = verifierOf(forge, openSecret(keyring, bindingId, sealedWebhookSecret), call);
  const otherTargets = (await listTargetsBeside(db, bindingId)).flatMap((other) => {
    const verifier = verifierBeside(keyring, other, call);
    return verifier ? [{ environmentId: other.environmentId, verifier }] : [];
  });
  const content = createHash('sha256');
  return {
    update(piece) {
      own.update(piece);
      content.update(piece);
      for (const { verifier } of otherTargets) verifier.update(piece);
    },
    async admit() {
      if (!own.isSigned())
        throw unauthorized(
          'The call is not signed with the webhook secret of this binding; set the same secret there and here',
        );
      const deliveryId = deliveryIdOf(forge, headers, content.digest('hex'));
      const others = otherTargets.filter(({ verifier }) => verifier.isSigned());
      return {
        environmentIds: [environmentId, ...others.map((other) => other.environmentId)],
        isIdle: !isRelevantEvent(forge, headers) || (await isDelivered(db, bindingId, deliveryId)),
        isSigned: true,
        done: () => recordDelivery(db, bindingId, deliveryId),
      };
    },
  };
}

/** A secret that cannot be opened is only reported to callers of its own binding. */
function verifierBeside(
  keyring: Keyring,
  { id, forge, sealedWebhookSecret }: Awaited<ReturnType<typeof listTargetsBeside>>[number],
  call: { headers: IncomingHttpHeaders; now: number },
): Verifier | null {
  try {
    if (forge === 'none') return null;
    return verifierOf(forge, openWebhookSecret(keyring, id, sealedWebhookSecret), call);
  } catch (error) {
    if (error instanceof KeyringError) return null;
    throw error;
  }
}

function openSecret(keyring: Keyring, bindingId: string, sealed: string): string {
  try {
    return openWebhookSecret(keyring, bindingId, sealed);
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error;
    throw unavailable(
      'The webhook secret of this binding cannot be opened with the keys of this controller; set the secret again',
    );
  }
}
