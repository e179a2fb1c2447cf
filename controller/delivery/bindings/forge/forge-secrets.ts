/** The sealed secrets of a binding for its forge: the token, and the webhook secret. Each has its own sealing context. */
import type { Keyring } from '../../../platform/crypto/keyring.ts';
import { sealingContext } from '../../../platform/crypto/sealed-columns.ts';
import type { Binding } from '../store.ts';

const contextOf = (bindingId: string, column: 'sealed_forge_token' | 'sealed_webhook_secret') =>
  sealingContext('git_bindings', bindingId, column);

export const sealForgeToken = (keyring: Keyring, bindingId: string, token: string): string =>
  keyring.seal(token, contextOf(bindingId, 'sealed_forge_token'));

/** Returns null when there is no token. @throws KeyringError when no key opens it */
export const openForgeToken = (
  keyring: Keyring,
  { id, sealedForgeToken }: Pick<Binding, 'id' | 'sealedForgeToken'>,
): string | null =>
  sealedForgeToken === null ? null : keyring.open(sealedForgeToken, contextOf(id, 'sealed_forge_token'));

export const sealWebhookSecret = (keyring: Keyring, bindingId: string, secret: string): string =>
  keyring.seal(secret, contextOf(bindingId, 'sealed_webhook_secret'));

/** @throws KeyringError when no key opens it */
export const openWebhookSecret = (keyring: Keyring, bindingId: string, sealed: string): string =>
  keyring.open(sealed, contextOf(bindingId, 'sealed_webhook_secret'));
