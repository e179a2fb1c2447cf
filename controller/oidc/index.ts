export { hasWayIn } from './identities-store.ts';
export * as oidcOperations from './operations.ts';
export { createIdentityProvider, type IdentityProvider } from './provider.ts';
export { mayBeRelinked } from './relinking.ts';
export { allowRelinkOf } from './relinking-store.ts';
export { beginSignIn, finishSignIn, type SignInEnd } from './sign-in.ts';
export { endSessionUrl, listProviders, type ProviderSession, readProviderSession } from './sign-out.ts';
export { type OidcSettings, readOidcSettings } from './store.ts';
export { dropLinks, unlinkAccount, unlinkAllOf } from './unlink.ts';
