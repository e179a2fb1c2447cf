/** Calls by which a forge says that something has happened. They are never believed what: they only say "look again". */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Knex } from 'knex';
import type { Clock } from '../../../../reconcilers/engine/clock.ts';
import { type Keyring, KeyringError } from '../../../platform/crypto/keyring.ts';
import { unauthorized, unavailable } from '../../../platform/operation/errors.ts';
import { openWebhookSecret } from '../forge/forge-secrets.ts';
import { matters } from './webhook-events.ts';
import { deliveryIdOf, type Verifier, verifierOf } from './webhook-signature.ts';
import { findWebhookTarget, isDelivered, keepDelivery, listTargetsBeside } from './webhook-store.ts';

export interface Admitted {
  /** That it wakes: the binding's own, and those of the repository that the same signature is good for. */
  environmentIds: readonly string[];
  /** Nothing is to be done: it came before, or tells of something that is not looked at. */
  isIdle: boolean;
  /** False where the binding has no secret. */
  isSigned: boolean;
  /** To be called once it was done: from then on it is known. */
  done(): Promise<void>;
}

/** A call whose body is on its way. */
export interface OpenCall {
  update(piece: Buffer): void;
  /** At its end. @throws UNAUTHORIZED where the binding has a secret, and the call is not signed with it. */
  admit(): Promise<Admitted>;
}

/** Null where there is no such binding. */
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
        isIdle: forge !== 'none' && !matters(forge, headers),
      }),
    };
  const call = { headers, now: clock.now() };
  const own = verifierOf(forge, openSecret(keyring, bindingId, sealedWebhookSecret), call);
  const beside = (await listTargetsBeside(db, bindingId)).flatMap((other) => {
    const verifier = verifierBeside(keyring, other, call);
    return verifier ? [{ environmentId: other.environmentId, verifier }] : [];
  });
  const content = createHash('sha256');
  return {
    update(piece) {
      own.update(piece);
      content.update(piece);
      for (const { verifier } of beside) verifier.update(piece);
    },
    async admit() {
      if (!own.isSigned())
        throw unauthorized(
          'The call is not signed with the webhook secret of this binding; set the same secret there and here',
        );
      const deliveryId = deliveryIdOf(forge, headers, content.digest('hex'));
      const others = beside.filter(({ verifier }) => verifier.isSigned());
      return {
        environmentIds: [environmentId, ...others.map((other) => other.environmentId)],
        isIdle: !matters(forge, headers) || (await isDelivered(db, bindingId, deliveryId)),
        isSigned: true,
        done: () => keepDelivery(db, bindingId, deliveryId),
      };
    },
  };
}

/** A secret that cannot be opened is reported to whoever calls that binding itself. */
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
      'The webhook secret of this binding cannot be opened with the keys of this controller; set it anew',
    );
  }
}
