export { SECRETS_LOOP } from './backend-change.ts';
export { listOutside } from './backend-store.ts';
export type { ExecRequest } from './backends/exec.ts';
export * as secretOperations from './operations.ts';
export { type Refreshed, refreshSecrets } from './refresh.ts';
export { createSecretStores, type SecretStores } from './secret-stores.ts';
export { findSecretId, readSecrets, secretVariables } from './store.ts';
export {
  expandSecrets,
  type SecretReference,
  secretReferences,
  secretVariable,
  vrlReferences,
  vrlVariable,
  withoutSecrets,
  withPlainVariables,
} from './variable.ts';
export { escapeForVrl } from './vrl-escape.ts';
