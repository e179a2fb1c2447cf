export { canSignInByProvider } from './links/identities-store.ts';
export { mayBeRelinked } from './links/relink-rule.ts';
export { allowRelink } from './links/relink-store.ts';
export { dropLinks, unlinkAccount, unlinkAllAccounts } from './links/unlink.ts';
export * as oidcOperations from './provider/operations.ts';
export { createIdentityProvider, type IdentityProvider } from './provider/provider.ts';
export {
  listOidcProviders,
  type OidcProvider,
  readReports,
  releaseFromFile,
} from './provider/provider-store.ts';
export { checkIssuer, type ProviderInput, removeProvider, saveProvider } from './provider/save-provider.ts';
export { refreshUsers } from './refresh/refresh-users.ts';
export { LOGOUT_TOKEN_LENGTH, logOutByProvider } from './sign-in/back-channel-logout.ts';
export { prefixed } from './sign-in/group-rules.ts';
export { beginSignIn, finishSignIn, type SignInEnd } from './sign-in/sign-in.ts';
export {
  endSessionUrl,
  listProviders,
  type ProviderSession,
  readProviderSession,
} from './sign-in/sign-out.ts';
