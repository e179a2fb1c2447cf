export { secretVariable } from '../../schemas/pipelines/secret-variable.ts';
export type { ExecRequest } from './backends/exec.ts';
export {
  expandSecrets,
  replaceSecrets,
  type SecretReference,
  secretReferences,
  vrlReferences,
  vrlVariable,
  withPlainVariables,
} from './references/secret-references.ts';
export { escapeForVrl } from './references/vrl-escape.ts';
export { SECRETS_LOOP } from './stored/backend-change.ts';
export { listExternalEnvironments } from './stored/backend-store.ts';
export * as secretOperations from './stored/operations.ts';
export { type Refreshed, refreshSecrets } from './stored/refresh.ts';
export { createSecretStores, type SecretStores } from './stored/secret-stores.ts';
export { findSecretId, readSecrets, secretVariables } from './stored/store.ts';
