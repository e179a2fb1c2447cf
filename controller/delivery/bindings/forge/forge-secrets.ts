/** What a binding keeps sealed for its forge: the token, and what webhooks are signed with. Neither opens as the other. */
import type { Keyring } from '../../../platform/crypto/keyring.ts';
import { sealingContext } from '../../../platform/crypto/sealed-columns.ts';
import type { Binding } from '../store.ts';

const placeOf = (bindingId: string, column: 'sealed_forge_token' | 'sealed_webhook_secret') =>
  sealingContext('git_bindings', bindingId, column);

export const sealForgeToken = (keyring: Keyring, bindingId: string, token: string): string =>
  keyring.seal(token, placeOf(bindingId, 'sealed_forge_token'));

/** Null for none. @throws KeyringError where no key opens it. */
export const openForgeToken = (
  keyring: Keyring,
  { id, sealedForgeToken }: Pick<Binding, 'id' | 'sealedForgeToken'>,
): string | null =>
  sealedForgeToken === null ? null : keyring.open(sealedForgeToken, placeOf(id, 'sealed_forge_token'));

export const sealWebhookSecret = (keyring: Keyring, bindingId: string, secret: string): string =>
  keyring.seal(secret, placeOf(bindingId, 'sealed_webhook_secret'));

/** @throws KeyringError where no key opens it. */
export const openWebhookSecret = (keyring: Keyring, bindingId: string, sealed: string): string =>
  keyring.open(sealed, placeOf(bindingId, 'sealed_webhook_secret'));
