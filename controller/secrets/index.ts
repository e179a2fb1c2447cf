export type { ExecRequest } from './backends/exec.ts';
export { SECRETS_LOOP } from './secrets/backend-change.ts';
export { listExternalEnvironments } from './secrets/backend-store.ts';
export * as secretOperations from './secrets/operations.ts';
export { type Refreshed, refreshSecrets } from './secrets/refresh.ts';
export { createSecretStores, type SecretStores } from './secrets/secret-stores.ts';
export { findSecretId, readSecrets, secretVariables } from './secrets/store.ts';
export {
  expandSecrets,
  replaceSecrets,
  type SecretReference,
  secretReferences,
  secretVariable,
  vrlReferences,
  vrlVariable,
  withPlainVariables,
} from './secrets/variable.ts';
export { escapeForVrl } from './secrets/vrl-escape.ts';
