export * as secretOperations from './operations.ts';
export { readSecrets, secretVariables } from './store.ts';
export { type SecretReference, secretReferences, secretVariable, withoutSecrets } from './variable.ts';
